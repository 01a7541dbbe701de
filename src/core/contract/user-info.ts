import { isObject, jsonValueOf } from '../support/json.js';
import { InvalidInputError, quoteName } from './errors.js';
import { membersIn } from './json-tokens.js';
import { typeName } from './members.js';
import { resultCode } from './result-codes.js';
import { textFault } from './unsafe-text.js';

/**
 * The same symbol in every copy of this package, so that each recognizes the numbers of the others.
 */
const brand: unique symbol = Symbol.for('userinfo-exchange.JsonNumber');

/**
 * A number of a JSON text, exactly as written: `9007199254740993`, `1.00`. `instanceof` also
 * recognizes a JsonNumber of another copy of this package, such as a bundled one.
 *
 * @example
 * await client.passback({ unionId: 'u1', userInfo: { acme_points: new JsonNumber('9007199254740993') } });
 */
export class JsonNumber {
  /** The number as written. */
  readonly text: string;

  /** @throws InvalidInputError for a text that is not a JSON number */
  constructor(text: string) {
    if (typeof text !== 'string' || !jsonNumber.test(text)) {
      throw new InvalidInputError('the text given to JsonNumber is not a JSON number', {
        resultCode: resultCode.userInfoNotFlat,
      });
    }
    this.text = text;
  }

  static [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && brand in value;
  }

  /** @hidden */
  get [brand](): true {
    return true;
  }

  /** The number as written. */
  toString(): string {
    return this.text;
  }
}

/** A value that a flat JSON object can hold. */
export type FlatValue = string | boolean | null | JsonNumber;

const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** Characters that JSON.stringify may escape. */
const escaped = /["\\\u0000-\u001f\ud800-\udfff]/;

/**
 * Parses a JSON object of one level (§4.2 rule 3), keeping order and numbers as written. JSON.parse
 * alone would round long numbers, ignore duplicate keys and reorder keys that look like numbers.
 *
 * @throws InvalidInputError that begins with `what`; 41301 for more than `maxKeys`
 */
export function parseFlatJson(
  text: string,
  what = 'user_info',
  maxKeys = Number.POSITIVE_INFINITY,
): Map<string, FlatValue> {
  const object = jsonValueOf(text);
  if (Array.isArray(object)) throw notFlat(`${what} is an array`);
  if (!isObject(object)) throw notFlat(`${what} is not a JSON object`);
  const entries = new Map<string, FlatValue>();
  for (const { key, value: written } of membersIn(text)) {
    if (written.startsWith('{'))
      throw notFlat(`${what} key ${quoteName(key)} holds an object: one level only`);
    if (written.startsWith('['))
      throw notFlat(`${what} key ${quoteName(key)} holds an array: one level only`);
    if (entries.has(key)) throw notFlat(`${what} has the key ${quoteName(key)} twice`);
    if (entries.size >= maxKeys) {
      throw new InvalidInputError(`${what} has more than ${maxKeys} keys`, {
        resultCode: resultCode.tooLarge,
        hint: 'Pass them back in several requests.',
      });
    }
    entries.set(key, /^[-\d]/.test(written) ? new JsonNumber(written) : (object[key] as FlatValue));
  }
  return entries;
}

/** The JSON text of a flat object: non-ASCII characters and slashes unescaped (§4.2 rule 7). */
export function formatFlatJson(entries: Iterable<readonly [string, FlatValue]>): string {
  let members = '';
  for (const [key, value] of entries) {
    if (members !== '') members += ',';
    members += `${formatText(key)}:${formatValue(value)}`;
  }
  return `{${members}}`;
}

function formatValue(value: FlatValue): string {
  if (typeof value === 'string') return formatText(value);
  return String(value);
}

/** The same as JSON.stringify, which takes twice as long for text without escapes. */
function formatText(text: string): string {
  if (escaped.test(text)) return JSON.stringify(text);
  return `"${text}"`;
}

/** A value that `user_info` can hold. A JsonNumber is sent exactly as written, such as `1.00`. */
export type UserInfoValue = FlatValue | number | bigint;

/** `user_info` of a caller: a plain object. `null` removes a key. */
export type UserInfo = Readonly<Record<string, UserInfoValue>>;

/**
 * A `user_info` of the caller's own type, such as an interface: flat, without the reserved keys
 * (§4.2 rules 3, 5).
 *
 * @example
 * interface Profile {
 *   acme_level: string;
 *   acme_age?: number;
 * }
 * const profile: FlatUserInfo<Profile> = { acme_level: 'gold' };
 */
export type FlatUserInfo<Info extends object> = Info extends readonly unknown[]
  ? UserInfo
  : {
      readonly [Key in keyof Info]: Key extends (typeof reserved)[number]
        ? never
        : Info[Key] extends UserInfoValue
          ? Info[Key]
          : Partial<Pick<Info, Key>> extends Pick<Info, Key>
            ? Extract<Info[Key], UserInfoValue>
            : string | number | bigint | boolean | null;
    };

/** A checked `user_info`: flat, with text that can be stored undamaged (§4.2). */
export type UserInfoEntries = ReadonlyMap<string, FlatValue>;

/** §4.2 rule 5: keys that must not be passed back. */
const reserved = ['union_id', 'channel'] as const;
/** §4.2 rule 5: the keys that must not be passed back, as texts. */
export const reservedKeys: readonly string[] = reserved;

/** §4.2 rule 4: the keys with a special meaning, and what they mean. */
export const specialUserInfoKeys = {
  mobile: 'Mobile phone number',
  mobile_district_code: 'International dialling code of the mobile number',
  id_card: 'Identity-card number',
  device_token: 'Push-notification token',
  gps: 'Longitude and latitude',
} as const;

/** A key with a special meaning (§4.2 rule 4). */
export type SpecialUserInfoKey = keyof typeof specialUserInfoKeys;

/**
 * Parses a `user_info` text (§4.2 rule 3).
 *
 * @throws InvalidInputError that names the broken rule; 41301 for more than `maxKeys`, unlimited by
 * default
 */
export function parseUserInfo(text: string, maxKeys?: number): UserInfoEntries {
  return checkUserInfo(parseFlatJson(text, 'user_info', maxKeys));
}

/**
 * Converts keys and values to a checked `user_info`; errors call it `what`.
 *
 * @throws InvalidInputError that names the invalid key
 */
export function toUserInfo(
  entries: Iterable<readonly [key: string, value: unknown]>,
  what = 'user_info',
): UserInfoEntries {
  const flat = new Map<string, FlatValue>();
  for (const [key, value] of entries) flat.set(key, toFlatValue(key, value, what));
  return checkUserInfo(flat, what);
}

/** Whether a received `user_info` escapes non-ASCII characters or slashes, against §4.2 rule 7. */
export function hasNeedlessEscapes(text: string): boolean {
  const escapes = text.match(/\\(?:u[0-9a-fA-F]{4}|.)/gs) ?? [];
  return escapes.some((written) => written === '\\/' || /^\\u(?!00[0-7])/.test(written));
}

function toFlatValue(key: string, value: unknown, what: string): FlatValue {
  const keyFault = (fault: string, hint?: string) => faultOfKey(what, key, fault, hint);
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'bigint':
      return new JsonNumber(String(value));
    case 'number':
      if (!Number.isFinite(value)) throw keyFault(`is ${value}, which JSON cannot represent`);
      if (!Number.isInteger(value) || Number.isSafeInteger(value)) {
        return new JsonNumber(JSON.stringify(value));
      }
      throw keyFault(
        'is beyond 2^53, where a number is not exact',
        'Pass a BigInt, a JsonNumber or text.',
      );
    case 'undefined':
      throw keyFault(
        'is undefined',
        'Leave the key out to keep what is stored, or give null to remove it.',
      );
    default:
      if (value === null || value instanceof JsonNumber) return value;
      throw keyFault(
        `holds ${typeName(value)}: one level only`,
        value instanceof Date ? 'Pass text, such as toISOString() of the Date.' : undefined,
      );
  }
}

/**
 * Checks the entries of a flat object, which errors call `what`.
 *
 * @throws InvalidInputError that names the invalid key
 */
export function checkUserInfo(entries: UserInfoEntries, what = 'user_info'): UserInfoEntries {
  if (entries.size === 0) throw notFlat(`${what} is empty: nothing to pass back`);
  for (const [key, value] of entries) {
    if (key === '') throw notFlat(`${what} has an empty key`);
    const fault = textFault(key) ?? (typeof value === 'string' ? textFault(value) : null);
    if (fault !== null) throw faultOfKey(what, key, fault);
  }
  return entries;
}

function faultOfKey(what: string, key: string, fault: string, hint?: string): InvalidInputError {
  return notFlat(`${what} key ${quoteName(key)} ${fault}`, hint);
}

function notFlat(message: string, hint?: string): InvalidInputError {
  return new InvalidInputError(message, { hint, resultCode: resultCode.userInfoNotFlat });
}
