import { type ChatPrefix, chatPrefixPattern, neutralChatPrefix } from './chat-prefix.js';
import { InvalidInputError, quoteName } from './errors.js';
import { textFault } from './unsafe-text.js';

/** The facts of a name of `info_name` with a special meaning (§4.1). */
interface InfoNameFacts {
  readonly meaning: string;
  /**
   * The part of a record that has its value: `basic_info`, the record itself, or the login devices,
   * with some of their fields.
   */
  readonly part: 'basic_info' | 'record' | 'login_device_info';
  /**
   * Whether its value is personal data, which no log shows. Of a login device, each field says so
   * for itself.
   */
  readonly isPersonal: boolean;
}

const special = {
  mobile: { meaning: 'Mobile phone number', part: 'basic_info', isPersonal: true },
  mobile_district_code: {
    meaning: 'International dialling code of the mobile number',
    part: 'record',
    isPersonal: false,
  },
  chat_open_id: { meaning: 'Open ID on the chat platform', part: 'basic_info', isPersonal: true },
  chat_union_id: { meaning: 'Union ID on the chat platform', part: 'basic_info', isPersonal: true },
  chat_avatar: { meaning: 'Chat-platform avatar', part: 'basic_info', isPersonal: true },
  chat_nickname: { meaning: 'Chat-platform nickname', part: 'basic_info', isPersonal: true },
  chat_sex: { meaning: 'Chat-platform sex', part: 'basic_info', isPersonal: false },
  id_card: { meaning: 'Identity-card number', part: 'basic_info', isPersonal: true },
  device_info: {
    meaning: 'Login device information',
    part: 'login_device_info',
    isPersonal: false,
  },
  location_info: {
    meaning: 'Login location information',
    part: 'login_device_info',
    isPersonal: false,
  },
} as const satisfies Readonly<Record<string, InfoNameFacts>>;

/** A neutral name of `info_name` with a special meaning (§4.1). */
export type SpecialInfoName = keyof typeof special;

/** The special names whose value is in this part of a record. */
export type InfoNameOf<Part extends InfoNameFacts['part']> = {
  [Name in SpecialInfoName]: (typeof special)[Name]['part'] extends Part ? Name : never;
}[SpecialInfoName];

const specialNames = Object.keys(special) as SpecialInfoName[];

/** The special names whose value is in this part of a record, in the order of §4.1. */
export function infoNamesOf<Part extends InfoNameFacts['part']>(
  part: Part,
): readonly InfoNameOf<Part>[] {
  return specialNames.filter((name): name is InfoNameOf<Part> => special[name].part === part);
}

/** The special names whose values are personal data. */
export const personalInfoNames: readonly SpecialInfoName[] = specialNames.filter(
  (name) => special[name].isPersonal,
);

/** Names after the prefix (§2.2). */
const chatNames = specialNames
  .filter((name) => name.startsWith(neutralChatPrefix))
  .map(withoutChatPrefix);

/** The prefix of a name of the chat platform; `null` for any other name. */
export function chatPrefixOf(name: string): ChatPrefix | null {
  const prefix = name.slice(0, name.indexOf('_') + 1);
  if (!chatPrefixPattern.test(prefix) || !isChatName(name, prefix as ChatPrefix)) return null;
  return prefix as ChatPrefix;
}

/** A neutral name without the prefix of the names of the chat platform. */
export function withoutChatPrefix(name: string): string {
  return name.startsWith(neutralChatPrefix) ? name.slice(neutralChatPrefix.length) : name;
}

/** The neutral name of a name of the chat platform with any prefix; other names as they are. */
export function neutralName(name: string): string {
  const prefix = chatPrefixOf(name);
  if (prefix === null) return name;
  return neutralChatPrefix + name.slice(prefix.length);
}

/**
 * Swaps the neutral prefix and that of a platform in a name of the chat platform; other names
 * stay. It is its own inverse: to a platform with another prefix, a neutral name is an ordinary
 * name.
 */
export function swapChatPrefix(name: string, prefix: ChatPrefix): string {
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
  return Object.fromEntries(
    specialNames.map((name) => [swapChatPrefix(name, prefix), special[name].meaning]),
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
