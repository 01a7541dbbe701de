import { createHash } from 'node:crypto';
import { InvalidInputError } from '../../../../core/contract/errors.js';
import { identifyingText } from '../../../../core/contract/passback.js';
import type { FileRow } from './rows.js';

/** One of the parts of a file that several processes divide: `2/4` is the second of four. */
export interface Part {
  /** From 1 to `count`. */
  readonly number: number;
  readonly count: number;
}

/** `2/4` */
export function formatPart({ number, count }: Part): string {
  return `${number}/${count}`;
}

/** `2-of-4`, for names of files. */
export function partName({ number, count }: Part): string {
  return `${number}-of-${count}`;
}

/**
 * The number of the part that a text is in, from 1. It is the same on every machine, and a promise:
 * the first 4 bytes of the SHA-256 of the text in UTF-8, as a big-endian number, modulo the number
 * of parts, plus 1.
 */
export function partNumber(text: string, count: number): number {
  return (createHash('sha256').update(text).digest().readUInt32BE(0) % count) + 1;
}

/**
 * The rows of one part: those whose value of the required `column`, a user or a code, is in it.
 * Rows without that value, which are not sent, are in the first part.
 */
export async function* rowsOfPart(
  batches: AsyncIterable<readonly FileRow[]>,
  column: string,
  { number, count }: Part,
): AsyncGenerator<readonly FileRow[]> {
  for await (const rows of batches) {
    const inPart = rows.filter((row) => {
      const text = valueText(row, column);
      return (text === null ? 1 : partNumber(text, count)) === number;
    });
    if (inPart.length > 0) yield inPart;
  }
}

/** The text of the column; `null` if the row has none, or is invalid. */
function valueText(row: FileRow, column: string): string | null {
  try {
    return identifyingText(row.fields().get(column));
  } catch (error) {
    if (error instanceof InvalidInputError) return null;
    throw error;
  }
}
