import { InvalidInputError } from '../../../../core/contract/errors.js';

/** Maximum size of a row, in bytes: a longer one is rather a quote that was never closed. */
export const maxRowBytes = 16 * 1024 * 1024;

/**
 * Approximate size of a batch of rows, in bytes: rows that wait longer make garbage collection
 * expensive.
 */
export const batchBytes = 2 * 1024;

const newline = 0x0a;

/** Whole lines, and the number of the first one, counted from 1. */
export interface LineBlock {
  readonly bytes: Buffer;
  readonly firstLine: number;
}

/**
 * Splits bytes after line feeds, so that no character is split: in all encodings that extend ASCII,
 * a line feed is never part of another character.
 *
 * @throws InvalidInputError for a line that is too long
 */
export async function* cutLines(bytes: AsyncIterable<Buffer>): AsyncGenerator<LineBlock> {
  let rest: Buffer[] = [];
  let restLength = 0;
  let firstLine = 1;
  for await (const chunk of bytes) {
    const end = chunk.lastIndexOf(newline) + 1;
    if (end > 0) {
      const head = chunk.subarray(0, end);
      const block = restLength === 0 ? head : Buffer.concat([...rest, head]);
      yield { bytes: block, firstLine };
      firstLine += countBytes(block, newline);
      rest = [];
      restLength = 0;
    }
    if (end === chunk.length) continue;
    rest.push(end === 0 ? chunk : chunk.subarray(end));
    restLength += chunk.length - end;
    if (restLength > maxRowBytes) {
      throw new InvalidInputError(`line ${firstLine} is longer than ${maxRowBytes} bytes`, {
        hint: 'Is it a text file, with one row per line?',
      });
    }
  }
  if (restLength > 0) yield { bytes: Buffer.concat(rest), firstLine };
}

/** Counts a byte. */
export function countBytes(bytes: Buffer, byte: number): number {
  let count = 0;
  let index = bytes.indexOf(byte);
  while (index >= 0) {
    count += 1;
    index = bytes.indexOf(byte, index + 1);
  }
  return count;
}

/**
 * The lines of bytes, each with its line feed, if it has one.
 *
 * @throws InvalidInputError for a line that is too long
 */
export async function* linesIn(bytes: AsyncIterable<Buffer>): AsyncGenerator<LineBlock> {
  for await (const block of cutLines(bytes)) yield* splitLines(block);
}

/** The lines of a block, each with its line feed. */
export function* splitLines({ bytes, firstLine }: LineBlock): Generator<LineBlock> {
  let line = firstLine;
  for (let start = 0; start < bytes.length; line += 1) {
    const lineFeed = bytes.indexOf(newline, start);
    const end = lineFeed < 0 ? bytes.length : lineFeed + 1;
    yield { bytes: bytes.subarray(start, end), firstLine: line };
    start = end;
  }
}
