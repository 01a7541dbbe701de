import { InvalidInputError } from './errors.js';
import { quoteName, textFault } from './text.js';

/** §4.1: the values of `info_name` with a special meaning. */
export const specialInfoNames: Readonly<Record<string, string>> = {
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
};

/**
 * The value of `info_name`: the names joined by the ASCII comma (§4.1), or `undefined` for no names.
 * Throws an InvalidInputError for a name that could not be told apart again.
 */
export function joinInfoNames(names: readonly string[]): string | undefined {
  for (const name of names) {
    if (name === '') throw new InvalidInputError('an info name is empty');
    if (name.includes(',')) throw new InvalidInputError(`info name ${quoteName(name)} holds a comma`);
    const fault = textFault(name);
    if (fault !== null) throw new InvalidInputError(`info name ${quoteName(name)} ${fault}`);
  }
  return names.length === 0 ? undefined : names.join(',');
}

/** The names in a received `info_name`, each once; empty ones are passed over. `null` where none is left. */
export function splitInfoNames(value: string | undefined): readonly string[] | null {
  const names = new Set((value ?? '').split(',').filter((name) => name !== ''));
  return names.size === 0 ? null : [...names];
}
