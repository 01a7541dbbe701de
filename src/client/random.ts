import { randomFillSync } from 'node:crypto';
import { randomLength } from '../protocol/limits.js';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** A byte from here on would make the first letters likelier than the others. */
const bound = 256 - (256 % alphabet.length);

/** Bytes that were drawn and not used yet: drawing many at once is ten times faster. */
const drawn = Buffer.alloc(4096);
let used = drawn.length;

/** `random` of §5.4: the longest that §8 allows, letters and digits from a cryptographic source. */
export function randomString(): string {
  let text = '';
  while (text.length < randomLength.max) {
    const byte = nextByte();
    if (byte < bound) text += alphabet[byte % alphabet.length];
  }
  return text;
}

function nextByte(): number {
  if (used === drawn.length) {
    randomFillSync(drawn);
    used = 0;
  }
  used += 1;
  return drawn[used - 1] ?? 0;
}
