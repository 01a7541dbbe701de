import { parse } from 'lossless-json';
import { InvalidInputError } from './errors.js';
import { checkFields } from './fields.js';
import { maxRecordBytes, maxRecordKeys } from './limits.js';
import { resultCode } from './result-codes.js';
import { quoteName, textFault } from './unsafe-text.js';

/** §2.2: the fields of `basic_info`. */
export const basicInfoFields = [
  'id_card',
  'chat_avatar',
  'chat_union_id',
  'chat_open_id',
  'mobile',
  'chat_nickname',
  'chat_sex',
] as const;

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

/** Fields that §4 names without a place in §2: kept next to `basic_info`. */
const ownFields = ['mobile_district_code', 'gps'] as const;

/**
 * §2.2. Unknown fields are absent.
 *
 * @example
 * const basic: BasicInfo = { mobile: '13800001111', chat_nickname: 'Ming' };
 */
export type BasicInfo = { readonly [Field in (typeof basicInfoFields)[number]]?: string };

/**
 * §2.3. Unknown fields are absent.
 *
 * @example
 * const device: LoginDevice = { brand: 'acme', os: 'linux', device_token: 't1' };
 */
export type LoginDevice = { readonly [Field in (typeof loginDeviceFields)[number]]?: string };

/**
 * §2.4: keys that the tenant's applications passed back.
 *
 * @example
 * const extension: ExtensionInfo = { acme_level: 'gold' };
 */
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
  readonly tenant_code: string;
  readonly union_id: string;
  readonly basic_info: BasicInfo;
  readonly extension_info: ExtensionInfo;
  readonly login_device_info: readonly LoginDevice[];
  readonly mobile_district_code?: string;
  readonly gps?: string;
}

/**
 * Parses a record from JSON text, as `admin user put` does: numbers and booleans become text as written, `null`
 * leaves a field out; `basic_info`, `extension_info` and `login_device_info` are optional.
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
  const { tenant_code, union_id, basic_info, extension_info, login_device_info, ...own } = checkFields(
    value,
    'the record',
    ['tenant_code', 'union_id', 'basic_info', 'extension_info', 'login_device_info', ...ownFields],
  );
  const devices = login_device_info ?? [];
  if (!Array.isArray(devices)) throw new InvalidInputError('login_device_info is not an array');
  return checkRecordSize({
    tenant_code: requiredText(tenant_code, 'tenant_code'),
    union_id: requiredText(union_id, 'union_id'),
    basic_info: texts(basic_info ?? {}, 'basic_info', basicInfoFields),
    extension_info: texts(extension_info ?? {}, 'extension_info'),
    login_device_info: devices.map((device, index) =>
      texts(device, `login_device_info[${index}]`, loginDeviceFields),
    ),
    ...texts(own, 'the record'),
  });
}

/**
 * Returns a record if it can be stored. A record of an earlier version may be larger: a change of `old` must make it
 * smaller then.
 *
 * @throws InvalidInputError (41301) for more than `maxRecordKeys` or `maxRecordBytes`
 */
export function checkRecordSize(record: UserRecord, old?: UserRecord): UserRecord {
  const isTooLarge = (sizeOf: (record: UserRecord) => number, max: number) =>
    sizeOf(record) > max && (old === undefined || sizeOf(record) >= sizeOf(old));
  if (isTooLarge(keysOf, maxRecordKeys)) {
    throw new InvalidInputError(
      `the user's record would have ${keysOf(record)} keys; the maximum is ${maxRecordKeys}`,
      { resultCode: resultCode.tooLarge, hint: 'Store fewer keys, or remove some: null removes a key.' },
    );
  }
  if (isTooLarge(bytesOf, maxRecordBytes)) {
    throw new InvalidInputError(
      `the user's record would have ${bytesOf(record)} bytes; the maximum is ${maxRecordBytes}`,
      { resultCode: resultCode.tooLarge, hint: 'Store less: fewer or shorter values.' },
    );
  }
  return record;
}

/** The number of its values; a login device counts as one at least. */
function keysOf({ basic_info, extension_info, login_device_info, ...rest }: UserRecord): number {
  const ownKeys = ownFields.filter((field) => rest[field] !== undefined).length;
  return [basic_info, extension_info].reduce(
    (sum, fields) => sum + Object.keys(fields).length,
    login_device_info.reduce((sum, device) => sum + Math.max(1, Object.keys(device).length), ownKeys),
  );
}

function bytesOf(record: UserRecord): number {
  return Buffer.byteLength(JSON.stringify(record));
}

function requiredText(value: unknown, name: string): string {
  const text = asText(value ?? null, name);
  if (!text) throw new InvalidInputError(`the record has no ${name}`);
  return text;
}

function texts(value: unknown, where: string, known?: readonly string[]): Record<string, string> {
  const entries: [string, string][] = [];
  for (const [name, field] of Object.entries(checkFields(value, where, known))) {
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

/** The data of an answer to a read. */
export interface AnyReadData {
  readonly union_id: string;
  readonly [name: string]: unknown;
}

/** §4.1 shape rule 3: the keys of an object in `device_info`. */
export const deviceInfoKeys = ['device_token', 'brand', 'os', 'os_version', 'network', 'uuid'] as const;
/** §4.1 shape rule 3: the keys of an object in `location_info`. */
export const locationInfoKeys = ['country', 'province', 'city'] as const;

/**
 * Selects `data` of a read (§4.1, "Shape rules"). `infoNames` are the requested names, `null` for none;
 * `authorized` the names that the code authorizes, `null` for all. In a whole read, `device_info` and
 * `location_info` decide about the fields of a device, and `extension_info` also holds `mobile_district_code` and
 * `gps` (§2.4): they are passed back, and no fields of `basic_info`. Requested names without a value or
 * authorization are left out.
 */
export function readData(
  record: UserRecord,
  infoNames: readonly string[] | null,
  authorized: readonly string[] | null,
): AnyReadData {
  const allows = (name: string) => authorized === null || authorized.includes(name);
  return infoNames === null ? wholeData(record, allows) : namedData(record, infoNames.filter(allows));
}

function wholeData(record: UserRecord, allows: (name: string) => boolean): AnyReadData {
  const { union_id, basic_info, extension_info, login_device_info, mobile_district_code, gps } = record;
  const allowedOf = (...fields: readonly object[]) =>
    Object.fromEntries(
      fields.flatMap(Object.entries).filter(([name, value]) => value !== undefined && allows(name)),
    );
  const locationFields: readonly string[] = locationInfoKeys;
  const deviceFields = loginDeviceFields.filter((field) =>
    allows(locationFields.includes(field) ? 'location_info' : 'device_info'),
  );
  return {
    union_id,
    basic_info: allowedOf(basic_info),
    extension_info: allowedOf(extension_info, { mobile_district_code, gps }),
    login_device_info:
      deviceFields.length === 0 ? [] : login_device_info.map((device) => known(device, deviceFields)),
  };
}

function namedData(record: UserRecord, names: readonly string[]): AnyReadData {
  const values = readableValues(record);
  const data: [string, unknown][] = [['union_id', record.union_id]];
  for (const name of names) {
    if (name === 'device_info') data.push([name, describeDevices(record, deviceInfoKeys)]);
    else if (name === 'location_info') data.push([name, describeDevices(record, locationInfoKeys)]);
    else if (name !== 'union_id' && values.has(name)) data.push([name, values.get(name)]);
  }
  return Object.fromEntries(data) as AnyReadData;
}

/**
 * All text values of a record by name, each name once: only these can be the primary key of a passback. A field of the
 * record hides an extension key of the same name.
 */
export function readableValues(record: UserRecord): ReadonlyMap<string, string> {
  const { basic_info, extension_info, login_device_info, mobile_district_code, gps } = record;
  const device_token = login_device_info[0]?.device_token;
  const own = [basic_info, { mobile_district_code, gps, device_token }].flatMap(Object.entries);
  const values = new Map(Object.entries(extension_info));
  for (const [name, value] of own) if (value !== undefined) values.set(name, value);
  return values;
}

function describeDevices(record: UserRecord, keys: readonly (keyof LoginDevice)[]): string[] {
  return record.login_device_info.map((device) => JSON.stringify(known(device, keys)));
}

/** The fields in the order of the spec; unknown ones are the empty string (§4.1, shape rule 3). */
function known(device: LoginDevice, keys: readonly (keyof LoginDevice)[]): LoginDevice {
  return Object.fromEntries(keys.map((key) => [key, device[key] ?? '']));
}
