import { parse } from 'lossless-json';
import { isObject } from '../support/json.js';
import { withoutUndefined } from '../support/without-undefined.js';
import { InvalidInputError, quoteName } from './errors.js';
import { type InfoNameOf, infoNamesOf, neutralName } from './info-names.js';
import { maxRecordBytes, maxRecordKeys } from './limits.js';
import { checkFields, mustBeTexts } from './members.js';
import { resultCode } from './result-codes.js';
import { textFault } from './unsafe-text.js';
import { JsonNumber, type UserInfoEntries } from './user-info.js';

/** §2.2: the fields of `basic_info`. */
export const basicInfoFields = infoNamesOf('basic_info');

/** §2.3: the fields of a login device. */
export const loginDeviceFields = [
  'brand',
  'os',
  'os_version',
  'network',
  'device_token',
  'uuid',
  'country',
  'province',
  'city',
] as const;

/** Fields that §4 names, but not §2: kept next to `basic_info`. */
const ownFields = [...infoNamesOf('record'), 'gps'] as const;

type OwnField = (typeof ownFields)[number];

/**
 * Where a value is kept: in `basic_info`, next to it, in the first login device, or in
 * `extension_info`. A passback writes it there, and a read by name, the index of primary keys and
 * the size of a record find it there.
 */
type RecordPart = 'basic' | 'own' | 'device' | 'extension';

/** The part of each name that is not kept in `extension_info`. */
const partOfName: ReadonlyMap<string, Exclude<RecordPart, 'extension'>> = new Map([
  ...basicInfoFields.map((name) => [name, 'basic'] as const),
  ...ownFields.map((name) => [name, 'own'] as const),
  ['device_token', 'device'] as const,
]);

/** §2.2. Unknown fields are absent. */
export type BasicInfo = { readonly [Field in InfoNameOf<'basic_info'>]?: string };

/** §2.3. Unknown fields are absent. */
export type LoginDevice = { readonly [Field in (typeof loginDeviceFields)[number]]?: string };

/** §2.4: keys that the tenant's applications passed back. */
export type ExtensionInfo = Readonly<Record<string, string>>;

/**
 * §2.1: a user of a tenant. All values are text.
 *
 * @example
 * const record: UserRecord = {
 *   tenant_code: 'acme',
 *   union_id: 'u1',
 *   basic_info: { mobile: '13800001111' },
 *   extension_info: {},
 *   login_device_info: [],
 * };
 */
export interface UserRecord {
  /** The code of the tenant. */
  readonly tenant_code: string;
  /** The ID of the user. */
  readonly union_id: string;
  /** The fields of §2.2, under their neutral names. */
  readonly basic_info: BasicInfo;
  /** The keys that the tenant's applications passed back (§2.4). */
  readonly extension_info: ExtensionInfo;
  /** The login devices (§2.3): a passback writes to the first. */
  readonly login_device_info: readonly LoginDevice[];
  /** International dialling code of the mobile number (§4.2). */
  readonly mobile_district_code?: string;
  /** Longitude and latitude (§4.2). */
  readonly gps?: string;
  /**
   * Names of the values that were passed back as a number, `true` or `false`, to a platform that
   * answers so.
   */
  readonly literals?: readonly string[];
}

/**
 * Parses a record from JSON text, as `admin user put` does: numbers and booleans become text as
 * written, `null` leaves a field out; `basic_info`, `extension_info` and `login_device_info` are
 * optional.
 *
 * @throws InvalidInputError that names the field
 */
export function parseUserRecord(json: string): UserRecord {
  let value: unknown;
  try {
    value = parse(json, null, String);
  } catch (error) {
    throw new InvalidInputError(`the record is not JSON: ${(error as Error).message}`);
  }
  const fields = [
    'tenant_code',
    'union_id',
    'basic_info',
    'extension_info',
    'login_device_info',
    'literals',
    ...ownFields,
  ];
  const misplaced = isObject(value) && basicInfoFields.find((name) => Object.hasOwn(value, name));
  const advice = misplaced ? `Put ${misplaced} into basic_info.` : undefined;
  const { tenant_code, union_id, basic_info, extension_info, login_device_info, literals, ...own } =
    checkFields(value, 'the record', fields, advice);
  const devices = login_device_info ?? [];
  if (!Array.isArray(devices)) throw new InvalidInputError('login_device_info is not an array');
  const record: UserRecord = {
    tenant_code: requiredText(tenant_code, 'tenant_code'),
    union_id: requiredText(union_id, 'union_id'),
    basic_info: texts(neutral(basic_info ?? {}), 'basic_info', basicInfoFields),
    extension_info: texts(extension_info ?? {}, 'extension_info'),
    login_device_info: devices.map((device, index) =>
      texts(device, `login_device_info[${index}]`, loginDeviceFields),
    ),
    ...texts(own, 'the record'),
  };
  if (literals == null) return checkRecordSize(record);
  const fault = mustBeTexts(literals);
  if (fault !== null) throw new InvalidInputError(`literals ${fault}`);
  return checkRecordSize({ ...record, literals: literals as readonly string[] });
}

/**
 * Fields of the chat platform may have the prefix of a deployment (§2.2): they are stored under
 * their neutral names.
 */
function neutral(fields: unknown): unknown {
  if (!isObject(fields)) return fields;
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [neutralName(name), value]),
  );
}

/**
 * Returns a record if it can be stored.
 *
 * @throws InvalidInputError (41301) for more than `maxRecordKeys` or `maxRecordBytes`
 */
export function checkRecordSize(record: UserRecord): UserRecord {
  const keys = countKeys(record);
  if (keys > maxRecordKeys) {
    throw new InvalidInputError(
      `the user's record would have ${keys} keys; the maximum is ${maxRecordKeys}`,
      {
        resultCode: resultCode.tooLarge,
        hint: 'Store fewer keys, or remove some: null removes a key.',
      },
    );
  }
  const bytes = Buffer.byteLength(JSON.stringify(record));
  if (bytes > maxRecordBytes) {
    throw new InvalidInputError(
      `the user's record would have ${bytes} bytes; the maximum is ${maxRecordBytes}`,
      { resultCode: resultCode.tooLarge, hint: 'Store less: fewer or shorter values.' },
    );
  }
  return record;
}

/** The number of values of a record; a login device counts as one at least. */
function countKeys(record: UserRecord): number {
  const { basic, own, extension } = fieldsOf(record);
  let keys = Object.keys(basic).length + Object.keys(own).length + Object.keys(extension).length;
  for (const device of record.login_device_info) keys += Math.max(1, Object.keys(device).length);
  return keys;
}

type Fields = Readonly<Record<string, string>>;

/** The values of a record by its parts; of its devices, those of the first. */
export function fieldsOf(record: UserRecord): Readonly<Record<RecordPart, Fields>> {
  const { basic_info, extension_info, login_device_info, mobile_district_code, gps } = record;
  const own: Readonly<Record<OwnField, string | undefined>> = { mobile_district_code, gps };
  return {
    basic: basic_info as Fields,
    own: withoutUndefined(own),
    device: (login_device_info[0] ?? {}) as Fields,
    extension: extension_info,
  };
}

/**
 * The record after a passback, whose values are stored as text, each in its part of the record;
 * `null` removes a key. With `values` as written, the record also keeps which of them were numbers,
 * `true` or `false`.
 */
export function applyPassback(
  record: UserRecord,
  userInfo: UserInfoEntries,
  values: 'text' | 'as-written',
): UserRecord {
  const { tenant_code, union_id, login_device_info } = record;
  const old = fieldsOf(record);
  const literals = new Set(record.literals);
  const changed = {
    basic: new Map(Object.entries(old.basic)),
    own: new Map(Object.entries(old.own)),
    device: new Map(Object.entries(old.device)),
    extension: new Map(Object.entries(old.extension)),
  };
  for (const [key, value] of userInfo) {
    const fields = changed[partOfName.get(key) ?? 'extension'];
    // A value from before the name was special would come back.
    if (fields !== changed.extension) changed.extension.delete(key);
    if (value === null) fields.delete(key);
    else fields.set(key, String(value));
    const isLiteral = value instanceof JsonNumber || typeof value === 'boolean';
    if (isLiteral && values === 'as-written') literals.add(key);
    else literals.delete(key);
  }
  return withoutUndefined({
    tenant_code,
    union_id,
    basic_info: Object.fromEntries(changed.basic),
    extension_info: Object.fromEntries(changed.extension),
    login_device_info: changedDevices(login_device_info, changed.device),
    ...Object.fromEntries(changed.own),
    literals: literals.size === 0 ? undefined : [...literals],
  });
}

/** The login devices of a record whose first one has these fields after a passback. */
function changedDevices(
  devices: readonly LoginDevice[],
  fields: ReadonlyMap<string, string>,
): readonly LoginDevice[] {
  const [first, ...others] = devices;
  if (fields.size > 0) return [Object.fromEntries(fields), ...others];
  if (first === undefined) return [];
  // A device that had nothing but what is removed is removed with it.
  if (Object.keys(first).length > 0 && others.length === 0) return [];
  return [{}, ...others];
}

function requiredText(value: unknown, name: string): string {
  const text = asText(value ?? null, name);
  if (!text) throw new InvalidInputError(`the record has no ${name}`);
  return text;
}

/** @throws InvalidInputError for a name that is not one of `names`, or a value that is not text */
function texts(value: unknown, where: string, names?: readonly string[]): Record<string, string> {
  const entries: [name: string, text: string][] = [];
  for (const [name, field] of Object.entries(checkFields(value, where, names))) {
    const fault = textFault(name);
    if (fault !== null) throw new InvalidInputError(`a key of ${where} ${fault}`);
    const text = asText(field, `${where}.${name}`);
    if (text !== null) entries.push([name, text]);
  }
  return Object.fromEntries(entries);
}

function asText(value: unknown, where: string): string | null {
  if (value === null) return null;
  if (typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') throw new InvalidInputError(`${quoteName(where)} is not text`);
  const fault = textFault(value);
  if (fault !== null) throw new InvalidInputError(`${quoteName(where)} ${fault}`);
  return value;
}

/**
 * All text values of a record by name, each name once: only these can be the primary key of a
 * passback. A field of the record hides an extension key of the same name.
 */
export function readableValues(record: UserRecord): ReadonlyMap<string, string> {
  const fields = fieldsOf(record);
  const values = new Map(Object.entries(fields.extension));
  for (const [name, part] of partOfName) {
    const value = fields[part][name];
    if (value !== undefined) values.set(name, value);
  }
  return values;
}
