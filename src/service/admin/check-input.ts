import { InvalidInputError } from '../../protocol/errors.js';
import { quoteName, textFault } from '../../protocol/text.js';

/** What makes up a key of the store, in characters: PostgreSQL indexes no more than some 2700 bytes. */
const maxKeyLength = 255;

/** Checks a text that is kept as a key, or as a part of one. Throws an InvalidInputError that names it. */
export function checkKey(name: string, text: string): string {
  if (typeof text !== 'string' || text === '') throw new InvalidInputError(`${name} is missing`);
  const fault = textFault(text);
  if (fault !== null) throw new InvalidInputError(`${name} ${quoteName(text)} ${fault}`);
  if (text.length > maxKeyLength) {
    throw new InvalidInputError(
      `${name} has ${text.length} characters; the store takes up to ${maxKeyLength}`,
    );
  }
  return text;
}

/** Checks a number that counts something. Throws an InvalidInputError that names it. */
export function checkCount(name: string, count: number): number {
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new InvalidInputError(`${name} is ${count}; it must be a whole number above 0`);
}
