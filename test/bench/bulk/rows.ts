import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

const rowsAtOnce = 1000;

export function unionId(index: number): string {
  return `u${index}`;
}

/** Writes a CSV file of so many rows, each of another user. */
export function writeRows(path: string, count: number): Promise<void> {
  const row = (index: number) => `${unionId(index)},gold,${13_800_000_000 + index},28`;
  return writeLines(path, 'union_id,acme_level,mobile,age', row, count);
}

/** Writes a CSV file of so many authorization codes. */
export function writeCodes(path: string, count: number): Promise<void> {
  return writeLines(path, 'code', (index) => `code_of_some_length_${index}`, count);
}

function writeLines(
  path: string,
  header: string,
  row: (index: number) => string,
  count: number,
): Promise<void> {
  return pipeline(Readable.from(linesOf(header, row, count)), createWriteStream(path));
}

function* linesOf(
  header: string,
  row: (index: number) => string,
  count: number,
): Generator<string> {
  yield `${header}\n`;
  for (let first = 0; first < count; first += rowsAtOnce) {
    const length = Math.min(rowsAtOnce, count - first);
    yield Array.from({ length }, (_, i) => `${row(first + i)}\n`).join('');
  }
}
