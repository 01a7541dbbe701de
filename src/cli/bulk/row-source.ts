import { type CellType, type ColumnRules, cellTypes, checkColumns } from '../../bulk/source/columns.js';
import { CsvFormat, type CsvOptions } from '../../bulk/source/csv.js';
import { type Input, openFile, openStream } from '../../bulk/source/input.js';
import { NdjsonFormat } from '../../bulk/source/ndjson.js';
import type { FileRow, RowFormat } from '../../bulk/source/rows.js';
import { defaultEncoding, findEncoding } from '../../bulk/source/text.js';
import { InvalidInputError } from '../../protocol/errors.js';
import { quoteName } from '../../protocol/text.js';
import type { Io } from '../io.js';
import type { BulkOptions } from './bulk-options.js';

/**
 * Parses `age:number,vip:boolean`.
 *
 * @throws InvalidInputError
 */
export function parseTypes(text: string): Map<string, CellType> {
  const types = new Map<string, CellType>();
  for (const part of text.split(',')) {
    const at = part.lastIndexOf(':');
    const [column, name] = [part.slice(0, Math.max(0, at)), part.slice(at + 1)];
    const type = cellTypes.find((known) => known === name);
    if (column === '' || type === undefined) {
      throw new InvalidInputError(`${quoteName(part)} is not a column and its type`, {
        hint: `Write --types age:number,vip:boolean; a type is ${cellTypes.join(', ')}.`,
      });
    }
    types.set(column, type);
  }
  return types;
}

/** The rows of a run, and their format. */
export interface RowSource {
  readonly input: Input;
  readonly encoding: string;
  /** A new format for each read of the input. */
  newFormat(): RowFormat<FileRow>;
  /** What must be the same when the run is resumed. */
  readonly identity: Readonly<Record<string, string>>;
}

/** How cells are converted to values, for CSV. */
export interface CellOptions {
  readonly types: ReadonlyMap<string, CellType> | null;
  readonly empty: CsvOptions['empty'] | null;
}

/** The options that name the rows and their format. */
type RowOptions = Pick<BulkOptions, 'from' | 'format' | 'delimiter' | 'encoding'>;

/**
 * Opens the input that `--from` names.
 *
 * @throws InvalidInputError
 */
export async function openRows(
  io: Io,
  options: RowOptions,
  cells: CellOptions,
  columns: ColumnRules,
): Promise<RowSource> {
  const { from } = options;
  const name = from.replace(/\.gz$/i, '');
  const format = options.format ?? (/\.(?:ndjson|jsonl)$/i.test(name) ? 'ndjson' : 'csv');
  const encoding = findEncoding(options.encoding ?? defaultEncoding);
  const delimiter = delimiterOf(options.delimiter, name);
  if (format === 'ndjson') refuseForNdjson(options, cells);
  const input = from === '-' ? openStream(io.stdin, 'standard input') : await openFile(from);
  const types = cells.types ?? new Map();
  const empty = cells.empty ?? 'drop';
  const csv = {
    delimiter,
    types,
    empty,
    checkColumns: (found: readonly string[]) => checkColumns(found, columns),
  };
  return {
    input,
    encoding,
    newFormat: () => (format === 'csv' ? new CsvFormat(csv) : new NdjsonFormat()),
    identity: {
      format,
      encoding,
      ...(format === 'ndjson'
        ? {}
        : { delimiter, 'handling of empty cells': empty, types: [...types].join(' ') }),
    },
  };
}

function delimiterOf(given: string | undefined, name: string): string {
  if (given === undefined) return /\.tsv$/i.test(name) ? '\t' : ',';
  const delimiter = given.replaceAll('\\t', '\t');
  if (delimiter !== '' && !/["\r\n]/.test(delimiter)) return delimiter;
  throw new InvalidInputError('the delimiter is empty, or holds a quote or a line break');
}

function refuseForNdjson({ delimiter }: RowOptions, { types, empty }: CellOptions): void {
  const lost = [
    ['--delimiter', delimiter],
    ['--types', types],
    ['--empty', empty],
  ].find(([, value]) => value !== undefined && value !== null);
  if (lost !== undefined)
    throw new InvalidInputError(`${lost[0]} is for CSV: NDJSON says all of that itself`);
}
