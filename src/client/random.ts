import { randomFillSync } from 'node:crypto';
import { randomLength } from '../protocol/limits.js';

const alphabet = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789');

/** A byte from here on would make the first letters likelier than the others. */
const bound = 256 - (256 % alphabet.length);

/** Bytes that were drawn and not used yet: drawing many at once is ten times faster. */
const drawn = Buffer.alloc(4096);
let used = drawn.length;

/** The text that is being written. */
const text = Buffer.alloc(randomLength.max);

/** `random` of §5.4: the longest that §8 allows, letters and digits from a cryptographic source. */
export function randomString(): string {
  for (let at = 0; at < text.length; ) {
    const byte = nextByte();
    if (byte >= bound) continue;
    text[at] = alphabet[byte % alphabet.length] ?? 0;
    at += 1;
  }
  return text.toString('latin1');
}

function nextByte(): number {
  if (used === drawn.length) {
    randomFillSync(drawn);
    used = 0;
  }
  used += 1;
  return drawn[used - 1] ?? 0;
}
