import { InvalidInputError } from '../protocol/errors.js';

/** Text from UTF-8 bytes; a byte-order mark is left out. Throws an InvalidInputError that names what was read. */
export function decodeUtf8(bytes: Uint8Array, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new InvalidInputError(`${name} is not UTF-8`, {
      hint: 'Save it as UTF-8: text in another encoding would be stored damaged.',
      cause: error,
    });
  }
}
