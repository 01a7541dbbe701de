import { type CsvError, type Info, Parser } from 'csv-parse';
import { stringify } from 'csv-stringify/sync';
import { InvalidInputError } from '../../protocol/errors.js';
import type { FlatValue } from '../../protocol/flat-json.js';
import { quoteName } from '../../protocol/text.js';
import { type CellType, parseCell } from './cell-types.js';
import { batchBytes, maxRowBytes } from './limits.js';
import type { LineBlock } from './lines.js';
import type { FileRow, RowFormat } from './row-format.js';

export interface CsvOptions {
  readonly delimiter: string;
  /** By column; the others are text. */
  readonly types: ReadonlyMap<string, CellType>;
  /** Whether an empty cell is a value that is empty, or none. */
  readonly empty: 'keep' | 'drop';
  /** Is shown the header before any row. Throws an InvalidInputError for one that cannot be used. */
  readonly checkColumns: (columns: readonly string[]) => void;
}

export interface CsvRow extends FileRow {
  readonly cells: readonly string[];
}

/** Cells take about this much beside their text, in bytes. */
const rowOverhead = 128;

/** RFC 4180, with any delimiter and any line end; a header comes first. */
export class CsvFormat implements RowFormat<CsvRow> {
  readonly #options: CsvOptions;
  #columns: readonly string[] = [];
  #types: readonly CellType[] = [];

  constructor(options: CsvOptions) {
    this.#options = options;
  }

  /** Feeds the parser block by block and takes its records as it finds them: as a stream it is four times slower. */
  async *read(blocks: AsyncIterable<LineBlock>): AsyncGenerator<readonly CsvRow[]> {
    const lines = new LineCounter();
    let rows: CsvRow[] = [];
    let hasHeader = false;
    const parser = new Parser({
      delimiter: this.#options.delimiter,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: maxRowBytes,
      on_record: (cells: string[], info: Info) => {
        const line = lines.next(cells, info);
        if (hasHeader) rows.push({ line, cells, size: lines.recordBytes + rowOverhead });
        else this.#takeHeader(cells);
        hasHeader = true;
        return null;
      },
    });
    parser.on('error', () => {}); // it comes with the callback, too
    parser.resume();
    const feed = (bytes: Buffer | null) =>
      new Promise<void>((resolve, reject) => {
        const done = (error?: Error | null) => (error ? reject(faultOf(error, lines.nextLine)) : resolve());
        if (bytes === null) parser.end(done);
        else parser.write(bytes, done);
      });
    for await (const { bytes, firstLine } of blocks) {
      if (firstLine === 1) refuseJson(bytes);
      for (let at = 0; at < bytes.length; at += batchBytes) {
        await feed(bytes.subarray(at, at + batchBytes));
        if (rows.length === 0) continue;
        yield rows;
        rows = [];
      }
    }
    await feed(null);
    if (rows.length > 0) yield rows;
  }

  fields({ cells }: CsvRow): Map<string, FlatValue> {
    const columns = this.#columns;
    if (cells.length !== columns.length) {
      throw new InvalidInputError(`the row has ${cells.length} cells, the header ${columns.length}`, {
        hint: 'Put a cell that holds the delimiter, a quote or a line break in double quotes.',
      });
    }
    const fields = new Map<string, FlatValue>();
    for (const [index, column] of columns.entries()) {
      const cell = cells[index] ?? '';
      if (cell === '' && this.#options.empty === 'drop') continue;
      const type = this.#types[index] ?? 'text';
      fields.set(column, type === 'text' ? cell : parseCell(cell, type, column));
    }
    return fields;
  }

  formatHeader(): string {
    return this.#format(this.#columns);
  }

  formatRow({ cells }: CsvRow): string {
    return this.#format(cells);
  }

  #format(cells: readonly string[]): string {
    return stringify([cells], { delimiter: this.#options.delimiter });
  }

  #takeHeader(columns: readonly string[]): void {
    const { types, checkColumns } = this.#options;
    checkColumns(columns);
    const unknown = [...types.keys()].find((column) => !columns.includes(column));
    if (unknown !== undefined) {
      throw new InvalidInputError(`line 1: no column is named ${quoteName(unknown)}, which has a type`);
    }
    this.#columns = columns;
    this.#types = columns.map((column) => types.get(column) ?? 'text');
  }
}

function refuseJson(bytes: Buffer): void {
  if (bytes.subarray(0, 100).toString().trimStart()[0] !== '{') return;
  throw new InvalidInputError('line 1 is no header, but looks like JSON', { hint: 'Add --format ndjson.' });
}

/** Where records begin. The parser counts a CRLF inside quotes as two lines, and says only where a record ends. */
class LineCounter {
  /** Where the record begins that is not read to its end yet. */
  nextLine = 1;
  /** Of the record that was read last. */
  recordBytes = 0;
  #surplus = 0;
  #emptyLines = 0;
  #bytes = 0;

  next(cells: readonly string[], { lines, empty_lines, bytes }: Info & { bytes: number }): number {
    const line = this.nextLine + empty_lines - this.#emptyLines;
    this.#emptyLines = empty_lines;
    if (lines - this.#surplus > line) {
      for (const cell of cells) this.#surplus += cell.split('\r\n').length - 1;
    }
    this.nextLine = lines - this.#surplus + 1;
    this.recordBytes = bytes - this.#bytes;
    this.#bytes = bytes;
    return line;
  }
}

const faults: Readonly<Record<string, string>> = {
  CSV_INVALID_CLOSING_QUOTE: 'a quoted cell goes on behind its closing quote',
  INVALID_OPENING_QUOTE: 'a quote stands inside a cell that is not quoted',
  CSV_QUOTE_NOT_CLOSED: 'a quote is opened and never closed',
  CSV_MAX_RECORD_SIZE: `the row is longer than ${maxRowBytes} bytes; is a quote never closed?`,
};

/** The parser's own messages hold the cell. */
function faultOf(error: Error, line: number): Error {
  const { code } = error as CsvError;
  if (error instanceof InvalidInputError || typeof code !== 'string') return error;
  return new InvalidInputError(`line ${line}: ${faults[code] ?? `not CSV (${code})`}`, {
    hint: 'Write a quote inside a quoted cell twice; --delimiter says what stands between cells.',
    cause: error,
  });
}
