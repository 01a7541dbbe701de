// The one place that says in which encoding a text file is: programs of Windows write UTF-16.

/** The encodings of Unicode that a byte-order mark names, and the mark of each. */
const marks: Readonly<Record<string, readonly number[]>> = {
  'utf-8': [0xef, 0xbb, 0xbf],
  'utf-16le': [0xff, 0xfe],
  'utf-16be': [0xfe, 0xff],
};

/** Length of the longest byte-order mark, in bytes. */
export const longestMark = 3;

/** A byte-order mark at the start of a text. */
export interface ByteOrderMark {
  /** Its name in TextDecoder. */
  readonly encoding: string;
  /** In bytes. */
  readonly length: number;
}

/** The byte-order mark at the start of a text; `null` if it has none. */
export function byteOrderMark(text: Uint8Array): ByteOrderMark | null {
  for (const [encoding, mark] of Object.entries(marks)) {
    if (mark.every((byte, index) => text[index] === byte)) return { encoding, length: mark.length };
  }
  return null;
}

/** Whether an encoding is one of UTF-16, in which a line feed is two bytes. */
export function isUtf16(encoding: string): boolean {
  return encoding.startsWith('utf-16');
}

/** Bytes are not text in the encoding of their byte-order mark, or in UTF-8 if they have none. */
export class NotTextError extends Error {
  constructor(encoding: string, cause: unknown) {
    super(`is not ${isUtf16(encoding) ? 'UTF-16' : 'UTF-8'}`, { cause });
  }
}

/**
 * Decodes text in the encoding of its byte-order mark, or in UTF-8 if it has none, without the
 * mark.
 *
 * @throws NotTextError
 */
export function decodeText(bytes: Uint8Array): string {
  const encoding = byteOrderMark(bytes)?.encoding ?? 'utf-8';
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new NotTextError(encoding, cause);
  }
}
