import { type CsvOptions, type CsvRow, parseCsv } from '../../src/cli/commands/bulk/source/csv.js';
import { decompress } from '../../src/cli/commands/bulk/source/input.js';
import type { LineBlock } from '../../src/cli/commands/bulk/source/lines.js';
import { type NdjsonRow, parseNdjson } from '../../src/cli/commands/bulk/source/ndjson.js';
import { type TextOptions, toUtf8 } from '../../src/cli/commands/bulk/source/text.js';

const utf8: TextOptions = { encoding: 'utf-8' };

type Parse<Row> = (blocks: AsyncIterable<LineBlock>) => AsyncGenerator<readonly Row[]>;

export function csv(options: Partial<CsvOptions> = {}): Parse<CsvRow> {
  const all = {
    delimiter: ',',
    readsDelimiter: false,
    types: new Map(),
    empty: 'drop',
    checkColumns() {},
    note() {},
    countEmpty() {},
    ...options,
  } as const;
  return (blocks) => parseCsv(blocks, all);
}

export function ndjson(note = (_text: string) => {}): Parse<NdjsonRow> {
  return (blocks) => parseNdjson(blocks, note);
}

/** Bytes as a stream would bring them, so many at a time. */
export async function* inChunks(bytes: Uint8Array, size: number): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length; start += size)
    yield Buffer.from(bytes.subarray(start, start + size));
}

/** All rows of an input, read as a run reads them. */
export async function readRows<Row>(
  parse: Parse<Row>,
  input: string | Uint8Array,
  { text = utf8, chunkSize = 65_536 }: { text?: TextOptions; chunkSize?: number } = {},
): Promise<Row[]> {
  const bytes = typeof input === 'string' ? Buffer.from(input) : input;
  const rows: Row[] = [];
  for await (const batch of parse(toUtf8(decompress(inChunks(bytes, chunkSize)), text))) {
    rows.push(...batch);
  }
  return rows;
}

export async function cellsOf(
  input: string | Uint8Array,
  options: Partial<CsvOptions> & { text?: TextOptions; chunkSize?: number } = {},
): Promise<CsvRow['cells'][]> {
  return (await readRows(csv(options), input, options)).map(({ cells }) => cells);
}
