import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

const rowsAtOnce = 1000;

export function unionId(index: number): string {
  return `u${index}`;
}

/** Writes a CSV file of so many rows, each of another user. */
export async function writeRows(path: string, count: number): Promise<void> {
  await pipeline(Readable.from(rows(count)), createWriteStream(path));
}

function* rows(count: number): Generator<string> {
  yield 'union_id,acme_level,mobile,age\n';
  for (let first = 0; first < count; first += rowsAtOnce) {
    const length = Math.min(rowsAtOnce, count - first);
    yield Array.from({ length }, (_, i) => row(first + i)).join('');
  }
}

function row(index: number): string {
  return `${unionId(index)},gold,${13_800_000_000 + index},28\n`;
}
