import { InvalidInputError } from './errors.js';
import { FlatJsonError, type FlatValue, formatFlatJson, JsonNumber, parseFlatJson } from './flat-json.js';
import { resultCode } from './result-codes.js';
import { quoteName, textFault } from './text.js';

/** A value that `user_info` can hold. A JsonNumber travels as it is written, such as `1.00`. */
export type UserInfoValue = FlatValue | number | bigint;

/** What a caller gives as `user_info`: a plain object. `null` removes a key. */
export type UserInfo = Readonly<Record<string, UserInfoValue>>;

/** A `user_info` that keeps the rules of §4.2: flat, with text that can be stored undamaged. */
export type UserInfoEntries = ReadonlyMap<string, FlatValue>;

/** §4.2 rule 5: keys that must not be passed back. */
export const reservedKeys: readonly string[] = ['union_id', 'channel'];

/** §4.2 rule 4: the keys with a special meaning. */
export const specialUserInfoKeys: Readonly<Record<string, string>> = {
  mobile: 'Mobile phone number',
  mobile_district_code: 'International dialling code of the mobile number',
  id_card: 'Identity-card number',
  device_token: 'Push-notification token',
  gps: 'Longitude and latitude',
};

/** Reads a `user_info` text (§4.2 rule 3). Throws an InvalidInputError that says which rule it breaks. */
export function parseUserInfo(text: string): UserInfoEntries {
  try {
    return checkUserInfo(parseFlatJson(text));
  } catch (error) {
    if (error instanceof FlatJsonError) throw notFlat(`user_info ${error.message}`);
    throw error;
  }
}

/** Takes keys and values for a `user_info`. Throws an InvalidInputError that names the key at fault. */
export function toUserInfo(entries: Iterable<readonly [key: string, value: unknown]>): UserInfoEntries {
  const flat = new Map<string, FlatValue>();
  for (const [key, value] of entries) flat.set(key, toFlatValue(key, value));
  return checkUserInfo(flat);
}

/** The `user_info` parameter: JSON with non-ASCII characters and slashes unescaped (§4.2 rule 7). */
export function formatUserInfo(entries: UserInfoEntries): string {
  return formatFlatJson(entries);
}

/** Whether a received `user_info` writes non-ASCII characters or slashes as escapes, against §4.2 rule 7. */
export function hasNeedlessEscapes(text: string): boolean {
  const escapes = text.match(/\\(?:u[0-9a-fA-F]{4}|.)/gs) ?? [];
  return escapes.some((found) => found === '\\/' || /^\\u(?!00[0-7])/.test(found));
}

function toFlatValue(key: string, value: unknown): FlatValue {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'bigint':
      return new JsonNumber(String(value));
    case 'number':
      if (!Number.isFinite(value)) {
        throw notFlat(`user_info key ${quoteName(key)} is ${value}, which JSON cannot say`);
      }
      if (!Number.isInteger(value) || Number.isSafeInteger(value)) {
        return new JsonNumber(JSON.stringify(value));
      }
      throw notFlat(`user_info key ${quoteName(key)} is beyond 2^53, where a number is not exact`, {
        hint: 'Give it as a BigInt, a JsonNumber or text.',
      });
    case 'undefined':
      throw notFlat(`user_info key ${quoteName(key)} is undefined`, {
        hint: 'Leave the key out to keep what is stored, or give null to remove it.',
      });
    default:
      if (value === null || value instanceof JsonNumber) return value;
      if (value instanceof Date) {
        throw notFlat(`user_info key ${quoteName(key)} holds a Date`, {
          hint: 'Give text: toISOString() of the Date, or what the platform wants.',
        });
      }
      throw notFlat(`user_info key ${quoteName(key)} holds ${kindOf(value)}: one level only`);
  }
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function checkUserInfo(entries: UserInfoEntries): UserInfoEntries {
  if (entries.size === 0) throw notFlat('user_info is empty: nothing to pass back');
  for (const [key, value] of entries) {
    if (key === '') throw notFlat('user_info has an empty key');
    const keyFault = textFault(key);
    if (keyFault !== null) throw notFlat(`user_info key ${quoteName(key)} ${keyFault}`);
    const valueFault = typeof value === 'string' ? textFault(value) : null;
    if (valueFault !== null) throw notFlat(`the value of user_info key ${quoteName(key)} ${valueFault}`);
  }
  return entries;
}

function notFlat(message: string, options: { readonly hint?: string } = {}): InvalidInputError {
  return new InvalidInputError(message, { ...options, resultCode: resultCode.userInfoNotFlat });
}
