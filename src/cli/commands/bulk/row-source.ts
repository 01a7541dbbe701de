import { InvalidInputError } from '../../../core/contract/errors.js';
import type { Settings } from '../../../core/profiles/settings.js';
import { quoteWhereNeeded } from '../../../core/support/shell.js';
import type { Invocation } from '../../command.js';
import { announceWait } from '../../input.js';
import { type Io, printMessage } from '../../io.js';
import type { RowOperation } from './operations.js';
import type { BulkOptions, FormatOptions } from './options.js';
import { type ColumnRules, checkColumns, parseTypes } from './source/columns.js';
import { type CsvOptions, parseCsv } from './source/csv.js';
import { type Input, openFile, openStream } from './source/input.js';
import type { LineBlock } from './source/lines.js';
import { parseNdjson } from './source/ndjson.js';
import { formatPart, rowsOfPart } from './source/part.js';
import type { RowSource } from './source/rows.js';
import { defaultEncoding, findEncoding } from './source/text.js';

/**
 * A run over many rows: the invocation of the command, what it does with each row, and where the
 * rows come from.
 */
export interface BulkRun extends Invocation<BulkOptions> {
  /** The path of the file; - is standard input. */
  readonly file: string;
  readonly operation: RowOperation;
  /** The names of information that each row requests; none for all of it, and for a passback. */
  readonly infoNames: readonly string[];
  readonly settings: Settings;
  readonly source: OpenedRows;
}

/** The rows of a run, opened. */
interface OpenedRows extends RowSource {
  /** Properties that must be the same when the run is resumed. */
  readonly identity: Readonly<Record<string, string>>;
  /** The number of rows so far that were skipped because all of their cells are empty. */
  emptyRows(): number;
}

/** The options that say how the rows are read. */
export type RowOptions = FormatOptions & Pick<BulkOptions, 'types' | 'empty' | 'part'>;

/**
 * Opens a file; `-` is standard input.
 *
 * @throws InvalidInputError
 */
export async function openRows(
  io: Io,
  file: string,
  options: RowOptions,
  columns: ColumnRules,
): Promise<OpenedRows> {
  const name = file.replace(/\.gz$/i, '');
  const format = options.format ?? formatOf(file);
  const encoding = findEncoding(options.encoding ?? defaultEncoding);
  let isPlainUtf8 = encoding === defaultEncoding;
  const onMark = () => {
    isPlainUtf8 = false;
  };
  let emptyRows = 0;
  const countEmpty = (rows: number) => {
    emptyRows = Math.max(emptyRows, rows);
  };
  const note = printOnce(io);
  const rows =
    format === 'ndjson'
      ? ndjsonRows(options, note)
      : csvRows({ ...csvOptions(options, name, columns), note, countEmpty });
  const { parse, identity } = limitToPart(rows, columns, options.part);
  return {
    input: await openInputOf(io, file, format),
    text: { encoding, onMark },
    parse: (blocks) => parse(refuseArray(blocks, file)),
    identity: { format, encoding, ...identity },
    emptyRows: () => emptyRows,
    isPlainUtf8: () => isPlainUtf8,
  };
}

/** Prints each message once: a file is read twice. A broken stderr ends the command elsewhere. */
function printOnce(io: Io): (message: string) => void {
  const printed = new Set<string>();
  return (message) => {
    if (!printed.has(message)) printMessage(io, message).catch(() => {});
    printed.add(message);
  };
}

/** How rows are parsed, and what of it must be the same when the run is resumed. */
type ParsedRows = Pick<OpenedRows, 'parse' | 'identity'>;

function ndjsonRows(options: RowOptions, note: (message: string) => void): ParsedRows {
  refuseForNdjson(options);
  return { parse: (blocks) => parseNdjson(blocks, note), identity: {} };
}

function csvRows(csv: CsvOptions): ParsedRows {
  return {
    parse: (blocks) => parseCsv(blocks, csv),
    identity: {
      delimiter: csv.delimiter,
      'handling of empty cells': csv.empty,
      types: [...csv.types].join(' '),
    },
  };
}

/** The rows of the part of `--part`; all rows without one. */
function limitToPart(
  { parse, identity }: ParsedRows,
  { required }: ColumnRules,
  part: RowOptions['part'],
): ParsedRows {
  if (part === undefined) return { parse, identity };
  return {
    parse: (blocks) => rowsOfPart(parse(blocks), required, part),
    identity: { ...identity, part: formatPart(part) },
  };
}

/** The format that the name of a file says. */
export function formatOf(file: string): 'csv' | 'ndjson' {
  return /\.(?:ndjson|jsonl)(?:\.gz)?$/i.test(file) ? 'ndjson' : 'csv';
}

/** How the CSV of a file, called `name`, is read. */
function csvOptions(
  options: RowOptions,
  name: string,
  columns: ColumnRules,
): Omit<CsvOptions, 'note' | 'countEmpty'> {
  const { empty = 'drop' } = options;
  return {
    delimiter: delimiterOf(options.delimiter, name),
    readsDelimiter: options.delimiter === undefined,
    types: parseTypes(options.types),
    empty,
    checkColumns: (names, line) => checkColumns(names, columns, line),
  };
}

async function openInputOf(io: Io, file: string, format: 'csv' | 'ndjson'): Promise<Input> {
  if (file !== '-') return openFile(file);
  await announceWait(io, format === 'csv' ? 'rows, first the header' : 'rows, a JSON object each');
  return openStream(io.stdin, 'standard input');
}

/** @throws InvalidInputError for a JSON array, which would have to be in memory as a whole */
async function* refuseArray(
  blocks: AsyncIterable<LineBlock>,
  path: string,
): AsyncGenerator<LineBlock> {
  for await (const block of blocks) {
    const start = block.bytes.subarray(0, 1000).toString();
    if (block.firstLine === 1 && /^\s*\[\s*(?:\{\s*"|$)/.test(start)) throw jsonArray(path);
    yield block;
  }
}

function jsonArray(path: string): InvalidInputError {
  const file = path === '-' ? 'rows.json' : path;
  const lines = `${file.replace(/\.(?:json|csv|ndjson|jsonl)$/i, '')}.rows.ndjson`;
  return new InvalidInputError('the input is a JSON array, not a row on each line', {
    hint: 'Convert it, then give the new file:',
    commands: [`jq -c '.[]' ${quoteWhereNeeded(file)} > ${quoteWhereNeeded(lines)}`],
  });
}

/** The delimiter of the option, else the one that the name of the file says. */
export function delimiterOf(option: string | undefined, name: string): string {
  if (option === undefined) return /\.tsv$/i.test(name) ? '\t' : ',';
  const delimiter = option.replaceAll('\\t', '\t');
  if (delimiter !== '' && !/["\r\n]/.test(delimiter)) return delimiter;
  throw new InvalidInputError('the delimiter is empty, or holds a quote or a line break');
}

function refuseForNdjson(options: RowOptions): void {
  // `--types KEY:text` says of a key of NDJSON, too, that it is meant.
  const isAllText = [...parseTypes(options.types).values()].every((type) => type === 'text');
  const useless = (['delimiter', 'types', 'empty'] as const).find(
    (name) => options[name] !== undefined && !(name === 'types' && isAllText),
  );
  if (useless === undefined) return;
  throw new InvalidInputError(`--${useless} is for CSV: NDJSON says all of that itself`);
}
