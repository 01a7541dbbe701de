import { view } from './lane-memory.js';

/** How a digest is written into the next message. */
export interface WrittenDigest {
  readonly format: 'hex' | 'HEX' | 'raw';
  readonly wordCount: number;
  /** Whether the highest byte of a word comes first. */
  readonly bigEndian: boolean;
}

/** The two digits of each byte. */
const pairs = {
  hex: digitPairs((text) => text),
  HEX: digitPairs((text) => text.toUpperCase()),
};

function digitPairs(change: (text: string) => string): Uint16Array {
  return Uint16Array.from({ length: 256 }, (_, byte) => {
    return Buffer.from(change(byte.toString(16).padStart(2, '0'))).readUInt16BE();
  });
}

/** Writes the digest whose words begin at `first` to an address, and tells where it ends. */
export function writeDigest(
  words: Int32Array,
  first: number,
  { format, wordCount, bigEndian }: WrittenDigest,
  at: number,
): number {
  for (let index = 0; index < wordCount; index++) {
    const word = words[first + index] as number;
    if (format === 'raw') view.setInt32(at + index * 4, word, !bigEndian);
    else writePairs(word, pairs[format], bigEndian ? 24 : 0, at + index * 8);
  }
  return at + wordCount * (format === 'raw' ? 4 : 8);
}

/** `shift` is that of the byte that comes first: 0, or 24. */
function writePairs(word: number, digits: Uint16Array, shift: number, at: number): void {
  view.setUint16(at, digits[(word >>> shift) & 0xff] as number);
  view.setUint16(at + 2, digits[(word >>> (shift ^ 8)) & 0xff] as number);
  view.setUint16(at + 4, digits[(word >>> (shift ^ 16)) & 0xff] as number);
  view.setUint16(at + 6, digits[(word >>> (shift ^ 24)) & 0xff] as number);
}
