import { InvalidInputError } from '../../protocol/errors.js';
import { quoteName } from '../../protocol/text.js';

export const defaultEncoding = 'utf-8';

const boms: readonly (readonly [encoding: string, bytes: Buffer])[] = [
  ['utf-8', Buffer.from([0xef, 0xbb, 0xbf])],
  ['utf-16le', Buffer.from([0xff, 0xfe])],
  ['utf-16be', Buffer.from([0xfe, 0xff])],
];

/** How many bytes it takes to see a byte-order mark. */
export const bomLength = 3;

/** The name of an encoding as TextDecoder has it. Throws an InvalidInputError for one that it does not know. */
export function findEncoding(label: string): string {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    throw new InvalidInputError(`${quoteName(label)} is not an encoding that is known`, {
      hint: 'Such as utf-8, gb18030, gbk, big5, shift_jis, euc-kr, windows-1252, utf-16le.',
    });
  }
}

/** The encoding that a byte-order mark at the start tells, and the mark's length; it beats every other word. */
export function readBom(head: Buffer): { readonly encoding: string; readonly length: number } | null {
  for (const [encoding, bytes] of boms) {
    if (head.subarray(0, bytes.length).equals(bytes)) return { encoding, length: bytes.length };
  }
  return null;
}
