import type { KeyDecoding } from './recipe.js';
import { RecipeError } from './recipe-error.js';

const shapes: Readonly<Record<KeyDecoding, RegExp>> = {
  utf8: /^/,
  hex: /^(?:[\da-f]{2})*$/i,
  base64: /^[\w+/-]*={0,2}$/,
  base64url: /^[\w+/-]*={0,2}$/,
};

/**
 * The bytes of an hmac key.
 *
 * @throws RecipeError where the text is not of that encoding; the message does not show the text
 */
export function decodeKey(text: string, decode: KeyDecoding): Buffer {
  if (shapes[decode].test(text)) return Buffer.from(text, decode);
  throw new RecipeError(
    'key.decode',
    `the key is not ${decode}`,
    'Check the secret, or set key.decode to what it is: utf8 for plain text.',
  );
}
