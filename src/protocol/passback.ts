import { InvalidInputError } from './errors.js';
import { resultCode } from './result-codes.js';
import { quoteName } from './unsafe-text.js';
import { type FlatValue, JsonNumber, reservedKeys, type UserInfoEntries } from './user-info.js';
import type { AnswerShape, BasicInfo, LoginDevice, UserRecord } from './user-record.js';

/** The user of a passback (§4.2 rules 1 and 2): `unionId` takes priority. Empty text counts as not sent. */
export interface PassbackTarget {
  readonly unionId?: string | undefined;
  readonly primaryKey?: string | undefined;
}

/** The user of a checked passback. */
export type PassbackUser =
  | { readonly by: 'union_id'; readonly unionId: string }
  | { readonly by: 'primary_key'; readonly name: string; readonly value: string };

/**
 * Checks the rules of §4.2 in the order in which the service reports them.
 *
 * @throws InvalidInputError 40005 before `user_info` is read, then what `readUserInfo` throws (40004), then 40003
 * and 40006
 */
export function checkPassback(
  target: PassbackTarget,
  readUserInfo: () => UserInfoEntries,
): { readonly user: PassbackUser; readonly userInfo: UserInfoEntries } {
  const { unionId = '', primaryKey = '' } = target;
  if (unionId === '' && primaryKey === '') {
    throw new InvalidInputError('neither union_id nor primary_key is given', {
      resultCode: resultCode.userNotNamed,
      hint: 'Name the user by union_id, or by the key of user_info that identifies the user.',
    });
  }
  const userInfo = readUserInfo();
  const reserved = reservedKeys.find((key) => userInfo.has(key));
  if (reserved !== undefined) {
    throw new InvalidInputError(
      `user_info key ${quoteName(reserved)} is reserved and cannot be passed back`,
      {
        resultCode: resultCode.reservedKey,
      },
    );
  }
  if (unionId !== '') return { user: { by: 'union_id', unionId }, userInfo };
  const value = identifyingText(userInfo.get(primaryKey));
  if (value === null) {
    const name = quoteName(primaryKey);
    const fault =
      userInfo.get(primaryKey) == null ? 'is not a key of user_info' : 'has no usable value in user_info';
    throw new InvalidInputError(`primary_key ${name} ${fault}`, {
      resultCode: resultCode.primaryKeyNotInUserInfo,
      hint: 'user_info must hold the key that identifies the user, with text that is not empty or a number.',
    });
  }
  return { user: { by: 'primary_key', name: primaryKey, value }, userInfo };
}

/** The text of a value that can identify a user: non-empty text, or a number as written; `null` for any other. */
export function identifyingText(value: FlatValue | undefined): string | null {
  const text = value instanceof JsonNumber ? value.text : value;
  return typeof text === 'string' && text !== '' ? text : null;
}

/**
 * The record after a passback, whose values are stored as text; `null` removes a key. `mobile`,
 * `mobile_district_code` and `id_card` go to the record's own fields, `device_token` to the first login device, `gps`
 * to the record, every other key to `extension_info`. With `values` as written, the record also keeps which of them
 * were numbers, `true` or `false`.
 */
export function applyPassback(
  record: UserRecord,
  userInfo: UserInfoEntries,
  values: AnswerShape['values'],
): UserRecord {
  const { tenant_code, union_id, basic_info, extension_info, login_device_info, literals, ...rest } = record;
  const written = new Set(literals);
  const basicInfo = new Map(Object.entries(basic_info));
  const extensionInfo = new Map(Object.entries(extension_info));
  const own = new Map<string, string>(Object.entries(rest));
  let devices = login_device_info;
  for (const [key, value] of userInfo) {
    const text = value === null ? null : String(value);
    if (key === 'device_token') devices = withDeviceToken(devices, text);
    else if (key === 'mobile' || key === 'id_card') put(basicInfo, key, text);
    else if (key === 'mobile_district_code' || key === 'gps') put(own, key, text);
    else put(extensionInfo, key, text);
    if (values === 'as-written' && (value instanceof JsonNumber || typeof value === 'boolean'))
      written.add(key);
    else written.delete(key);
  }
  return {
    tenant_code,
    union_id,
    basic_info: Object.fromEntries(basicInfo) as BasicInfo,
    extension_info: Object.fromEntries(extensionInfo),
    login_device_info: devices,
    ...Object.fromEntries(own),
    ...(written.size === 0 ? {} : { literals: [...written] }),
  };
}

function put(fields: Map<string, string>, key: string, text: string | null): void {
  if (text === null) fields.delete(key);
  else fields.set(key, text);
}

function withDeviceToken(devices: readonly LoginDevice[], token: string | null): readonly LoginDevice[] {
  const [first, ...others] = devices;
  if (token !== null) return [{ ...first, device_token: token }, ...others];
  if (first === undefined) return devices;
  const { device_token: _, ...rest } = first;
  // A device that had nothing but its token is removed with it.
  return others.length === 0 && Object.keys(rest).length === 0 ? [] : [rest, ...others];
}
