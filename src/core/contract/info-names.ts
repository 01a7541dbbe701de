import { InvalidInputError, quoteName } from './errors.js';
import { textFault } from './unsafe-text.js';

const special = {
  mobile: 'Mobile phone number',
  mobile_district_code: 'International dialling code of the mobile number',
  chat_open_id: 'Open ID on the chat platform',
  chat_union_id: 'Union ID on the chat platform',
  chat_avatar: 'Chat-platform avatar',
  chat_nickname: 'Chat-platform nickname',
  chat_sex: 'Chat-platform sex',
  id_card: 'Identity-card number',
  device_info: 'Login device information',
  location_info: 'Login location information',
} as const;

/** A neutral name of `info_name` with a special meaning (§4.1). */
export type SpecialInfoName = keyof typeof special;

/** A prefix of the names of the chat platform. */
export type ChatPrefix = `${string}_`;

/** §2.2: the prefix of the spec is neutral; a deployment has its own. */
export const neutralChatPrefix = 'chat_';

/** The form of a prefix. */
export const chatPrefixForm = /^[A-Za-z][A-Za-z0-9]{0,30}_$/;

/** Names after the prefix (§2.2). */
const chatNames = Object.keys(special)
  .filter((name) => name.startsWith(neutralChatPrefix))
  .map((name) => name.slice(neutralChatPrefix.length));

/** A name of the chat platform with any prefix. */
const anyChatName = new RegExp(`^[A-Za-z][A-Za-z0-9]{0,30}_(${chatNames.join('|')})$`);

/** The neutral name of a name of the chat platform with any prefix; other names as they are. */
export function neutralName(name: string): string {
  return name.replace(anyChatName, `${neutralChatPrefix}$1`);
}

/**
 * Exchanges the neutral prefix and that of a platform in a name of the chat platform; other names
 * stay. Applied twice, it returns the name: to a platform with another prefix, a neutral name is
 * one like any other.
 */
export function exchangeChatPrefix(name: string, prefix: ChatPrefix): string {
  if (prefix === neutralChatPrefix) return name;
  if (isChatName(name, prefix)) return neutralChatPrefix + name.slice(prefix.length);
  if (isChatName(name, neutralChatPrefix)) return prefix + name.slice(neutralChatPrefix.length);
  return name;
}

function isChatName(name: string, prefix: ChatPrefix): boolean {
  return name.startsWith(prefix) && chatNames.includes(name.slice(prefix.length));
}

/** §4.1: the values of `info_name` with a special meaning, and what they mean. */
export function specialInfoNames(
  prefix: ChatPrefix = neutralChatPrefix,
): Readonly<Record<string, string>> {
  const entries = Object.entries(special);
  return Object.fromEntries(
    entries.map(([name, meaning]) => [exchangeChatPrefix(name, prefix), meaning]),
  );
}

/**
 * Parses names from texts, each one name or several separated by commas: "mobile, chat_nickname".
 * Names are trimmed; empty and duplicate ones are dropped.
 *
 * @throws InvalidInputError if there is no name, or for a name that `checkInfoNames` refuses
 */
export function parseInfoNames(texts: readonly string[]): readonly string[] {
  return checkInfoNames(splitInfoNames(texts.join(',')));
}

/** The value of `info_name`: the names, checked and joined by the ASCII comma (§4.1). */
export function joinInfoNames(names: readonly string[]): string {
  return checkInfoNames(names).join(',');
}

/**
 * The names, as they are.
 *
 * @throws InvalidInputError for an empty list, which would request the whole record, and for a name
 * that is empty, holds a comma or cannot be stored undamaged
 */
export function checkInfoNames(names: readonly string[]): readonly string[] {
  if (names.length === 0) {
    throw new InvalidInputError('the list of info names is empty', {
      hint: 'List the names of the requested information, or omit the list to request all of it.',
    });
  }
  for (const name of names) checkInfoName(name);
  return names;
}

function checkInfoName(name: string): void {
  if (name.trim() === '') throw new InvalidInputError('an info name is empty');
  if (name.includes(',')) throw new InvalidInputError(`info name ${quoteName(name)} holds a comma`);
  const fault = textFault(name);
  if (fault !== null) throw new InvalidInputError(`info name ${quoteName(name)} ${fault}`);
}

/** The names in a value of `info_name`, trimmed, without empty and duplicate ones. */
export function splitInfoNames(value: string): readonly string[] {
  const names = value.split(',').map((name) => name.trim());
  return [...new Set(names)].filter((name) => name !== '');
}

/** The names that an answer's `data` does not have (§4.1). */
export function missingInfoNames(names: readonly string[], data: object): readonly string[] {
  return names.filter((name) => !Object.hasOwn(data, name));
}

/** The sentence about names that an answer does not have. */
export function describeMissing(names: readonly string[]): string {
  return `not in the answer: ${names.join(', ')} (no value, not authorized, or no such name)`;
}
