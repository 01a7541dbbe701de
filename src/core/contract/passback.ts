import { InvalidInputError, quoteName } from './errors.js';
import { resultCode } from './result-codes.js';
import { type FlatValue, JsonNumber, reservedKeys, type UserInfoEntries } from './user-info.js';

/** The parameters of a passback as a message names them. */
export const wireNames = { unionId: 'union_id', primaryKey: 'primary_key', userInfo: 'user_info' };

/**
 * The user of a passback (§4.2 rules 1 and 2): `unionId` takes priority. Empty text counts as not
 * sent.
 */
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
 * @throws InvalidInputError 40005 before `user_info` is read, then what `readUserInfo` throws
 * (40004), then 40003 and 40006
 */
export function checkPassback(
  target: PassbackTarget,
  readUserInfo: () => UserInfoEntries,
  names = wireNames,
): { readonly user: PassbackUser; readonly userInfo: UserInfoEntries } {
  const { unionId = '', primaryKey = '' } = target;
  if (unionId === '' && primaryKey === '') {
    throw new InvalidInputError(`neither ${names.unionId} nor ${names.primaryKey} is given`, {
      resultCode: resultCode.userNotNamed,
      hint: `Name the user by ${names.unionId}, or by the key of ${names.userInfo} that identifies the user.`,
    });
  }
  const userInfo = readUserInfo();
  const reserved = reservedKeys.find((key) => userInfo.has(key));
  if (reserved !== undefined) {
    throw new InvalidInputError(
      `${names.userInfo} key ${quoteName(reserved)} is reserved and cannot be passed back`,
      { resultCode: resultCode.reservedKey },
    );
  }
  if (unionId !== '') return { user: { by: 'union_id', unionId }, userInfo };
  const value = identifyingText(userInfo.get(primaryKey));
  if (value === null) throw unusableKey(primaryKey, userInfo, names);
  return { user: { by: 'primary_key', name: primaryKey, value }, userInfo };
}

function unusableKey(
  primaryKey: string,
  entries: UserInfoEntries,
  { primaryKey: parameter, userInfo }: typeof wireNames,
): InvalidInputError {
  const subject = `${parameter} ${quoteName(primaryKey)}`;
  const message = entries.has(primaryKey)
    ? `${subject} has no usable value in ${userInfo}`
    : `${subject} is not a key of ${userInfo}`;
  return new InvalidInputError(message, {
    resultCode: resultCode.primaryKeyNotInUserInfo,
    hint: `${userInfo} must hold the key that identifies the user, with text that is not empty or a number.`,
  });
}

/**
 * The text of a value that can identify a user: non-empty text, or a number as written; `null` for
 * any other.
 */
export function identifyingText(value: FlatValue | undefined): string | null {
  if (value instanceof JsonNumber) return value.text;
  if (typeof value !== 'string' || value === '') return null;
  return value;
}
