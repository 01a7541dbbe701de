import { type CsvError, parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { InvalidInputError, quoteName } from '../../../../core/contract/errors.js';
import type { FlatValue } from '../../../../core/contract/user-info.js';
import { type CellType, parseCell } from './columns.js';
import { batchBytes, countBytes, type LineBlock, maxRowBytes } from './lines.js';
import { type FileRow, reasonColumn, reasonNote } from './rows.js';

const quote = 0x22;
const newline = 0x0a;
const carriageReturn = 0x0d;
const lineEnd = /\r\n|\n|\r/g;

/**
 * Approximate memory of a row beside its text, in bytes. Its text is taken as that of the average
 * row of its batch.
 */
const rowOverhead = 128;

/**
 * Whole records, a few at a time: an escaped quote is two quotes, so a record has an even number of
 * them.
 */
async function* cutBatches(blocks: AsyncIterable<LineBlock>): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = [];
  let length = 0;
  let isOpen = false;
  for await (const { bytes } of blocks) {
    const lastNewline = bytes.lastIndexOf(newline);
    let start = 0;
    while (start < bytes.length) {
      const least = start + batchBytes;
      const ending = least <= lastNewline ? newline : carriageReturn;
      const end = bytes.indexOf(ending, least) + 1 || bytes.length;
      const chunk = bytes.subarray(start, end);
      start = end;
      chunks.push(chunk);
      length += chunk.length;
      if (countBytes(chunk, quote) % 2 === 1) isOpen = !isOpen;
      if (isOpen && length <= maxRowBytes) continue;
      yield Buffer.concat(chunks, length);
      chunks = [];
      length = 0;
    }
  }
  if (length > 0) yield Buffer.concat(chunks, length);
}

function countLineEnds(cell: string): number {
  if (!cell.includes('\n') && !cell.includes('\r')) return 0;
  return cell.match(lineEnd)?.length ?? 0;
}

/**
 * The records of a batch, up to the first that is invalid. An empty line is a record of one empty
 * cell, so that lines can be counted without the parser's `info`, which costs three times as much
 * as the rest of it and counts a CRLF in quotes twice. Without a quote they are lines and cells:
 * the parser makes an error, in 60 µs, for each record that is not as long as the first.
 */
function parseRecords(
  bytes: Buffer,
  delimiter: string,
): { records: string[][]; error: CsvError | null } {
  if (!bytes.includes(quote)) {
    // To split by a text takes less time than by a pattern.
    const lines = bytes.toString().split(bytes.includes(carriageReturn) ? lineEnd : '\n');
    if (lines.at(-1) === '') lines.pop();
    return { records: lines.map((line) => line.split(delimiter)), error: null };
  }
  const options = {
    delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    max_record_size: maxRowBytes,
  };
  try {
    return { records: parse(bytes, options), error: null };
  } catch (error) {
    const { code, records } = error as CsvError & { readonly records?: unknown };
    if (typeof code !== 'string') throw error;
    const hasValid = typeof records === 'number' && records > 0;
    const valid = hasValid ? parse(bytes, { ...options, to: records }) : [];
    return { records: valid, error: error as CsvError };
  }
}

const faults: Readonly<Record<string, string>> = {
  CSV_INVALID_CLOSING_QUOTE: 'text follows the closing quote of a cell',
  INVALID_OPENING_QUOTE: 'a cell that is not quoted contains a quote',
  CSV_QUOTE_NOT_CLOSED: 'a quote is opened and never closed',
  CSV_MAX_RECORD_SIZE: `the row is longer than ${maxRowBytes} bytes; is a quote never closed?`,
};

const quotesHint =
  'Write a quote inside a quoted cell twice; --delimiter sets the text between cells.';

/** What to do about a fault that has another hint than `quotesHint`. */
const hints: Readonly<Record<string, string>> = {
  INVALID_OPENING_QUOTE:
    'A cell with a quote is written in quotes, and its quotes twice. ' +
    'A formula such as ="0138" is not a value: replace it with the value that it shows. ' +
    '--delimiter sets the text between cells.',
};

/** The parser's own messages contain the cell. */
function invalidCsv(error: CsvError, line: number): InvalidInputError {
  const { code } = error;
  const fault = faults[code] ?? `not CSV (${code})`;
  const hint = hints[code] ?? quotesHint;
  return new InvalidInputError(`line ${line}: ${fault}`, { hint, cause: error });
}

export interface CsvOptions {
  readonly delimiter: string;
  /**
   * Whether a first line such as `sep=;` sets the delimiter, as in Excel; it is skipped otherwise.
   */
  readonly readsDelimiter: boolean;
  /** By column; the others are text. */
  readonly types: ReadonlyMap<string, CellType>;
  /** Whether an empty cell is an empty value, or no value. */
  readonly empty: 'keep' | 'drop';
  /**
   * Checks the header, in a line of the file, before any row is read.
   *
   * @throws InvalidInputError
   */
  readonly checkColumns: (columns: readonly string[], line: number) => void;
  /** Reports what is skipped. */
  readonly note: (text: string) => void;
  /**
   * Is called with the number of rows so far that were skipped because all of their cells are
   * empty.
   */
  readonly countEmpty: (rows: number) => void;
}

/** The properties that the rows of a file share. */
interface Table extends CsvOptions {
  /** The line before the header that sets the delimiter; empty text if there is none. */
  readonly delimiterLine: string;
  /**
   * The index of the column of reasons in the file, which is none of `columns`; -1 if there is
   * none.
   */
  readonly reasonIndex: number;
  /** As they are written; those without a name are at the end, and their cells are empty. */
  readonly columns: readonly string[];
  /** The type of each column; undefined if none is given. */
  readonly columnTypes: readonly (CellType | undefined)[];
}

export class CsvRow implements FileRow {
  readonly line: number;
  readonly size: number;
  readonly cells: readonly string[];
  readonly #table: Table;

  constructor(line: number, size: number, cells: readonly string[], table: Table) {
    this.line = line;
    this.size = size;
    this.cells = cells;
    this.#table = table;
  }

  fields(): Map<string, FlatValue> {
    const { columns, columnTypes, empty } = this.#table;
    const { cells } = this;
    if (cells.length !== columns.length) {
      const count = cells.length === 1 ? '1 cell' : `${cells.length} cells`;
      throw new InvalidInputError(`the row has ${count}, the header ${columns.length}`, {
        hint: 'Put a cell that holds the delimiter, a quote or a line break in double quotes.',
      });
    }
    const fields = new Map<string, FlatValue>();
    for (const [index, column] of columns.entries()) {
      const cell = cells[index] ?? '';
      if (column === '') {
        if (cell.trim() === '') continue;
        throw new InvalidInputError(
          `the cell of column ${index + 1} has a value, but the column has no name`,
          { hint: 'Name the column in the header, or empty its cells.' },
        );
      }
      if (cell === '' && empty === 'drop') continue;
      fields.set(column, parseCell(cell, columnTypes[index], column));
    }
    return fields;
  }

  formatHeader(): string {
    const { delimiterLine, columns } = this.#table;
    return delimiterLine + formatCsvRow([reasonColumn, ...columns], this.#table);
  }

  /** The reason is first, where it is in its column, however many cells the row has. */
  format(reason: string): string {
    return formatCsvRow([reason, ...this.cells], this.#table);
  }
}

export function formatCsvRow(
  cells: readonly string[],
  { delimiter }: Pick<CsvOptions, 'delimiter'>,
): string {
  return stringify([cells], { delimiter });
}

/** Reads RFC 4180 with any delimiter and any line end; the first record is the header. */
export async function* parseCsv(
  blocks: AsyncIterable<LineBlock>,
  options: CsvOptions,
): AsyncGenerator<readonly CsvRow[]> {
  let table: Table | null = null;
  let format: Format = { ...options, delimiterLine: '' };
  let line = 1;
  let empty = 0;
  for await (const batch of cutBatches(blocks)) {
    const delimiterLine = line === 1 ? delimiterLineOf(batch) : null;
    if (delimiterLine !== null) {
      format = formatBy(delimiterLine.delimiter, options);
      line = 2;
    }
    const bytes = batch.subarray(delimiterLine?.length ?? 0);
    const { records, error } = parseRecords(bytes, format.delimiter);
    const rows: CsvRow[] = [];
    const size = rowOverhead + Math.ceil(bytes.length / records.length);
    const located = locateRecords(bytes, records, line);
    for (const { record, line: start } of located.records) {
      if (table === null) {
        table = tableOf(record, start, format);
        continue;
      }
      const cells = withoutReason(record, table.reasonIndex);
      if (isDelimitersOnly(cells)) empty += 1;
      else rows.push(new CsvRow(start, size, cells, table));
    }
    line = located.nextLine;
    if (empty > 0) options.countEmpty(empty);
    if (rows.length > 0) yield rows;
    if (error === null) continue;
    if (table === null) throw invalidHeader(error, bytes, line);
    throw invalidCsv(error, line);
  }
}

/**
 * The records of a batch without empty lines, each with the line where it begins, and the line
 * after the batch, which begins at `line`.
 */
function locateRecords(
  bytes: Buffer,
  records: readonly string[][],
  line: number,
): { readonly records: readonly LocatedRecord[]; readonly nextLine: number } {
  const isQuoted = bytes.includes(quote);
  const located: LocatedRecord[] = [];
  let nextLine = line;
  let lines: string[] | undefined;
  for (const record of records) {
    const start = nextLine;
    nextLine += 1;
    if (isQuoted) for (const cell of record) nextLine += countLineEnds(cell);
    if (record.length === 1 && record[0] === '') {
      if (isQuoted) lines ??= bytes.toString('latin1').split(lineEnd);
      if (!lines?.[start - line]) continue; // an empty line, and not a quoted cell
    }
    located.push({ record, line: start });
  }
  return { records: located, nextLine };
}

interface LocatedRecord {
  readonly record: string[];
  /** Where it begins. */
  readonly line: number;
}

/** The cells without that of the reason, at `index`; -1 if there is none. */
function withoutReason(cells: string[], index: number): string[] {
  return index < 0 ? cells : cells.toSpliced(index, 1);
}

/** Whether a row has no value, as a spreadsheet writes rows that were cleared. */
function isDelimitersOnly(cells: readonly string[]): boolean {
  return cells.length > 1 && cells.every((cell) => cell === '');
}

/**
 * A first line such as `sep=;`, with the delimiters that programs put behind it; `null` if there is
 * none.
 */
function delimiterLineOf(
  bytes: Buffer,
): { readonly length: number; readonly delimiter: string } | null {
  const start = bytes.subarray(0, 100).toString('latin1');
  const [line, delimiter = ''] = /^sep=(.?)[,;]*(?:\r\n?|\n)/i.exec(start) ?? [];
  if (line === undefined) return null;
  return { length: line.length, delimiter };
}

/** How the rows of a file are written. */
type Format = CsvOptions & Pick<Table, 'delimiterLine'>;

/** The format of a file whose first line names a delimiter. */
function formatBy(delimiter: string, options: CsvOptions): Format {
  if (!options.readsDelimiter || delimiter === '' || delimiter === '"') {
    options.note('line 1 names a delimiter, as Excel reads it: it is skipped');
    return { ...options, delimiterLine: '' };
  }
  const shown = delimiter === '\t' ? 'a tab' : delimiter;
  options.note(`line 1 sets the delimiter, as Excel reads it: ${shown}`);
  return { ...options, delimiter, delimiterLine: `sep=${delimiter}\n` };
}

function tableOf(header: readonly string[], line: number, options: Format): Table {
  const { types, checkColumns, note } = options;
  const reasonIndex = header.indexOf(reasonColumn);
  const columns = withoutReason([...header], reasonIndex);
  if (reasonIndex >= 0) note(reasonNote);
  const named = columns.slice(0, columns.findLastIndex((column) => column !== '') + 1);
  const unnamed = columns.length - named.length;
  checkColumns(named.length === 0 ? columns : named, line);
  if (unnamed > 0) {
    const skipped =
      unnamed === 1
        ? 'the last column has no name: its empty cells are skipped'
        : `the last ${unnamed} columns have no name: their empty cells are skipped`;
    note(`line ${line}: ${skipped}`);
  }
  const unknown = [...types.keys()].find((column) => !columns.includes(column));
  if (unknown !== undefined) {
    throw new InvalidInputError(
      `line ${line}: no column is named ${quoteName(unknown)}, which has a type`,
    );
  }
  const columnTypes = columns.map((column) => types.get(column));
  return { ...options, reasonIndex, columns, columnTypes };
}

/** The error of a first line that is not CSV: it may be JSON. */
function invalidHeader(error: CsvError, bytes: Buffer, line: number): InvalidInputError {
  if (bytes.subarray(0, 100).toString().trimStart()[0] !== '{') return invalidCsv(error, line);
  return new InvalidInputError('line 1 is not a header, but looks like JSON', {
    hint: 'Add --format ndjson.',
  });
}
