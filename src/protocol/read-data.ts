import {
  type BasicInfo,
  type ExtensionInfo,
  type LoginDevice,
  loginDeviceFields,
  type UserRecord,
} from './user-record.js';

/** §4.1: `data` of a read. Without `info_name` the three objects; with it one key for each name that has a value. */
export interface ReadData {
  readonly union_id: string;
  readonly basic_info?: BasicInfo;
  readonly extension_info?: ExtensionInfo;
  readonly login_device_info?: readonly LoginDevice[];
  /** §4.1 shape rule 3: JSON-encoded objects. */
  readonly device_info?: readonly string[];
  /** §4.1 shape rule 3: JSON-encoded objects. */
  readonly location_info?: readonly string[];
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
): ReadData {
  const allows = (name: string) => authorized === null || authorized.includes(name);
  return infoNames === null ? wholeData(record, allows) : namedData(record, infoNames.filter(allows));
}

function wholeData(record: UserRecord, allows: (name: string) => boolean): ReadData {
  const { union_id, basic_info, extension_info, login_device_info, mobile_district_code, gps } = record;
  const allowedOf = (fields: object) =>
    Object.fromEntries(Object.entries(fields).filter(([name, value]) => value !== undefined && allows(name)));
  const deviceFields = loginDeviceFields.filter((field) =>
    allows(isLocationField(field) ? 'location_info' : 'device_info'),
  );
  return {
    union_id,
    basic_info: allowedOf(basic_info),
    extension_info: allowedOf({ ...extension_info, mobile_district_code, gps }),
    login_device_info:
      deviceFields.length === 0 ? [] : login_device_info.map((device) => known(device, deviceFields)),
  };
}

function isLocationField(field: string): boolean {
  return (locationInfoKeys as readonly string[]).includes(field);
}

function namedData(record: UserRecord, names: readonly string[]): ReadData {
  const values = new Map(readableValues(record));
  const data: [string, unknown][] = [['union_id', record.union_id]];
  for (const name of names) {
    if (name === 'device_info') data.push([name, describeDevices(record, deviceInfoKeys)]);
    else if (name === 'location_info') data.push([name, describeDevices(record, locationInfoKeys)]);
    else if (name !== 'union_id' && values.has(name)) data.push([name, values.get(name)]);
  }
  return Object.fromEntries(data) as ReadData;
}

/**
 * All text values of a record by name, each name once: only these can be the primary key of a passback. A field of the
 * record hides an extension key of the same name.
 */
export function readableValues(record: UserRecord): (readonly [name: string, value: string])[] {
  const { basic_info, extension_info, login_device_info, mobile_district_code, gps } = record;
  const device_token = login_device_info[0]?.device_token;
  const own = Object.entries({ ...basic_info, mobile_district_code, gps, device_token });
  const values = new Map(Object.entries(extension_info));
  for (const [name, value] of own) if (value !== undefined) values.set(name, value);
  return [...values];
}

function describeDevices(record: UserRecord, keys: readonly (keyof LoginDevice)[]): string[] {
  return record.login_device_info.map((device) => JSON.stringify(known(device, keys)));
}

/** The fields in the order of the spec; unknown ones are the empty string (§4.1, shape rule 3). */
function known(device: LoginDevice, keys: readonly (keyof LoginDevice)[]): LoginDevice {
  return Object.fromEntries(keys.map((key) => [key, device[key] ?? '']));
}
