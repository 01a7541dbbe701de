import { batchBytes, maxRowBytes } from './limits.js';
import type { LineBlock } from './lines.js';
import { QuotedRecords } from './quoted-records.js';

/** A record of a CSV file. */
export interface CsvRecord {
  /** Where it begins, counted from 1. */
  readonly line: number;
  readonly cells: readonly string[];
  /** About how much memory it takes, in bytes. */
  readonly size: number;
}

const quote = 0x22;
const newline = 0x0a;
const lineEnd = /\r\n|\n|\r/g;

/** Cells take about this much beside their text, in bytes. */
const rowOverhead = 128;

/**
 * Shows the records of a CSV file to `onRecord`, and yields each time that it has shown some. Blocks without a quote
 * need no parser: there, a line is a record. The parser looks at each byte, which costs 13 times the CPU: 2.4 µs more
 * for a row of 26 bytes and 9 µs for one of 217, each of the two times that a run reads it. Throws an InvalidInputError that names the line, and what `onRecord` throws.
 */
export async function* readRecords(
  blocks: AsyncIterable<LineBlock>,
  delimiter: string,
  onRecord: (record: CsvRecord) => void,
): AsyncGenerator<void> {
  let line = 1;
  let quoted: QuotedRecords | null = null;
  for await (const { bytes } of blocks) {
    const quotes = countQuotes(bytes);
    if (quoted === null && quotes === 0 && bytes.length <= maxRowBytes) {
      for (const text of cutBatches(bytes)) {
        line = splitRecords(text, line, delimiter, onRecord);
        yield;
      }
      continue;
    }
    quoted ??= new QuotedRecords(delimiter, line, (cells, first, bytes) =>
      onRecord({ line: first, cells, size: bytes + rowOverhead }),
    );
    yield* quoted.feed(bytes, quotes);
    line += bytes.toString('latin1').match(lineEnd)?.length ?? 0;
    if (quoted.isOpen) continue;
    await quoted.end();
    quoted = null;
    yield;
  }
  await quoted?.end();
  yield;
}

/** Whole lines as text, a few at a time. */
function* cutBatches(bytes: Buffer): Generator<string> {
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(newline, at + batchBytes) + 1 || bytes.length;
    yield bytes.toString('utf8', at, end);
    at = end;
  }
}

/** The records of lines without a quote, of which `first` is the first; gives the number of the line behind them. */
function splitRecords(
  text: string,
  first: number,
  delimiter: string,
  onRecord: (record: CsvRecord) => void,
): number {
  const lines = text.split(text.includes('\r') ? lineEnd : '\n');
  if (lines.at(-1) === '') lines.pop();
  let line = first;
  for (const row of lines) {
    if (row !== '') onRecord({ line, cells: row.split(delimiter), size: row.length + rowOverhead });
    line += 1;
  }
  return line;
}

function countQuotes(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(quote); at >= 0; at = bytes.indexOf(quote, at + 1)) count += 1;
  return count;
}
