import type { ChatPrefix } from './chat-prefix.js';
import { type InfoNameOf, infoNamesOf, neutralName, swapChatPrefix } from './info-names.js';
import { JsonNumber } from './user-info.js';
import {
  basicInfoFields,
  fieldsOf,
  type LoginDevice,
  loginDeviceFields,
  readableValues,
  type UserRecord,
} from './user-record.js';

/** `data` of an answer to a read, as a platform writes it (§4.1). */
export interface AnyReadData {
  readonly union_id: string;
  readonly [name: string]: unknown;
}

/** §4.1 shape rule 3: the names whose values are lists, and the keys of an object in them. */
export const deviceKeys: Readonly<
  Record<InfoNameOf<'login_device_info'>, readonly (keyof LoginDevice)[]>
> = {
  device_info: ['device_token', 'brand', 'os', 'os_version', 'network', 'uuid'],
  location_info: ['country', 'province', 'city'],
};

/** A platform's form of `data` (§4.1 leaves it open). */
export interface AnswerShape {
  /**
   * A requested name, or a field of `basic_info`, without a value or authorization: left out,
   * `null` or empty text.
   */
  readonly absent: 'omit' | 'null' | 'empty';
  /** An object without keys: `{}`, `[]` as PHP writes it, or `null`. */
  readonly empty_object: 'object' | 'list' | 'null';
  /** A value that was passed back as a number, `true` or `false`: as text, or as it was written. */
  readonly values: 'text' | 'as-written';
  /** The prefix of the names of the chat platform (§2.2). */
  readonly chat_prefix: ChatPrefix;
}

/** An object as a platform writes it: one without keys may be a list, or null. */
function shapeObject(
  fields: object,
  { empty_object }: Pick<AnswerShape, 'empty_object'>,
): object | null {
  if (Object.keys(fields).length > 0) return fields;
  switch (empty_object) {
    case 'object':
      return fields;
    case 'list':
      return [];
    case 'null':
      return null;
  }
}

/**
 * Selects `data` of a read (§4.1, "Shape rules"). `infoNames` are the requested names, `null` for
 * none; `authorized` the names that the code authorizes, `null` for all. In a whole read,
 * `device_info` and `location_info` decide about the fields of a device, and `extension_info` also
 * holds `mobile_district_code` and `gps` (§2.4): they are passed back, and no fields of
 * `basic_info`. A number as written is a JsonNumber.
 */
export function readData(
  record: UserRecord,
  infoNames: readonly string[] | null,
  authorized: readonly string[] | null,
  shape: AnswerShape,
): AnyReadData {
  const allowed = authorized && new Set(authorized.flatMap((name) => [name, neutralName(name)]));
  const view = { record, allows: (name: string) => allowed?.has(name) ?? true, shape };
  if (infoNames === null) return wholeData(view);
  return namedData(view, infoNames);
}

/** A record as a code and a platform show it; `allows` takes neutral names. */
interface View {
  readonly record: UserRecord;
  readonly allows: (name: string) => boolean;
  readonly shape: AnswerShape;
}

function wholeData(view: View): AnyReadData {
  const { record, allows, shape } = view;
  const { union_id, basic_info } = record;
  // A key that was never passed back does not exist: only fields of the table can lack a value.
  const fields = fieldsOf(record);
  const extension = [fields.extension, fields.own]
    .flatMap(Object.entries)
    .filter(([name]) => allows(name));
  const basicNames = shape.absent === 'omit' ? Object.keys(basic_info) : basicInfoFields;
  return {
    union_id,
    basic_info: shownFields(view, basic_info, basicNames),
    extension_info: shownFields(view, Object.fromEntries(extension)),
    login_device_info: shownDevices(view),
  };
}

/** The fields with these neutral names, as an object of the platform. */
function shownFields(
  view: View,
  fields: object,
  names: readonly string[] = Object.keys(fields),
): object | null {
  const values = new Map(Object.entries(fields));
  const shown: [name: string, value: unknown][] = [];
  for (const name of names) {
    const value = shownValue(view, name, values.get(name));
    if (value !== undefined) shown.push([swapChatPrefix(name, view.shape.chat_prefix), value]);
  }
  return shapeObject(Object.fromEntries(shown), view.shape);
}

/** The login devices, with the fields that the code authorizes. */
function shownDevices({ record, allows }: View): readonly LoginDevice[] {
  const names = infoNamesOf('login_device_info').filter(allows);
  const fields = loginDeviceFields.filter((field) =>
    names.some((name) => deviceKeys[name].includes(field)),
  );
  if (fields.length === 0) return [];
  return record.login_device_info.map((device) => deviceWith(fields, device));
}

function namedData(view: View, names: readonly string[]): AnyReadData {
  const { record, allows, shape } = view;
  const values = readableValues(record);
  const data: [name: string, value: unknown][] = [['union_id', record.union_id]];
  for (const requested of names) {
    const name = swapChatPrefix(requested, shape.chat_prefix);
    if (name === 'union_id') continue;
    const keys = keysOfName.get(name);
    if (keys !== undefined && allows(name)) {
      const devices = record.login_device_info.map((device) => deviceWith(keys, device));
      data.push([requested, devices.map((device) => JSON.stringify(device))]);
      continue;
    }
    const value = shownValue(view, name, values.get(name));
    if (value !== undefined) data.push([requested, value]);
  }
  return Object.fromEntries(data) as AnyReadData;
}

const keysOfName: ReadonlyMap<string, readonly (keyof LoginDevice)[]> = new Map(
  Object.entries(deviceKeys),
);

const absentValues = { omit: undefined, null: null, empty: '' } as const;

/**
 * The value of a neutral name as the platform shows it, or what it shows where there is no value
 * (`text` is undefined) or no authorization.
 */
function shownValue(view: View, name: string, text: string | undefined): unknown {
  const { record, allows, shape } = view;
  if (text === undefined || !allows(name)) return absentValues[shape.absent];
  if (shape.values === 'text' || !record.literals?.includes(name)) return text;
  if (text === 'true') return true;
  if (text === 'false') return false;
  return new JsonNumber(text);
}

/**
 * A device with these fields, in the order of the spec; unknown ones are the empty string (§4.1,
 * shape rule 3).
 */
function deviceWith(keys: readonly (keyof LoginDevice)[], device: LoginDevice): LoginDevice {
  return Object.fromEntries(keys.map((key) => [key, device[key] ?? '']));
}
