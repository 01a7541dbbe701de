import { InvalidInputError, quoteName } from '../../../../core/contract/errors.js';
import { mayBeValue } from '../../../../core/contract/masking.js';
import { textFault } from '../../../../core/contract/unsafe-text.js';
import { type FlatValue, JsonNumber } from '../../../../core/contract/user-info.js';
import { RunInputError } from '../errors.js';

/** The types of the cells of a column; the default is text. */
const cellTypes = ['text', 'number', 'boolean'] as const;
export type CellType = (typeof cellTypes)[number];

const truths: Readonly<Record<string, boolean>> = { true: true, false: false };

/**
 * Parses `age:number,vip:boolean`; none if there is no text.
 *
 * @throws InvalidInputError
 */
export function parseTypes(text: string | undefined): Map<string, CellType> {
  const types = new Map<string, CellType>();
  if (text === undefined) return types;
  for (const part of text.split(',')) {
    const [, column = '', typeName] = /^(.*):(.*)$/s.exec(part) ?? [];
    const type = cellTypes.find((name) => name === typeName);
    if (column === '' || type === undefined) {
      throw new InvalidInputError(`${quoteName(part)} is not a column and its type`, {
        hint: `Write --types age:number,vip:boolean; a type is ${cellTypes.join(', ')}.`,
      });
    }
    types.set(column, type);
  }
  return types;
}

/**
 * Converts a cell to a value; without a type it is text.
 *
 * @throws InvalidInputError that names the column, and not the value
 */
export function parseCell(cell: string, type: CellType | undefined, column: string): FlatValue {
  switch (type) {
    case undefined:
    case 'text':
      return cell;
    case 'number':
      return parseNumber(cell, column);
    case 'boolean': {
      const truth = truths[cell.toLowerCase()];
      if (truth === undefined) throw wrongCell(column, 'neither true nor false');
      return truth;
    }
  }
}

function parseNumber(cell: string, column: string): JsonNumber {
  try {
    return new JsonNumber(cell);
  } catch {
    const fault = 'not a number as JSON writes it';
    const hasComma = /^-?\d+,\d+$/.test(cell);
    if (!hasComma) throw wrongCell(column, fault);
    throw wrongCell(column, `${fault}: its decimal separator is a comma, not a point`);
  }
}

function wrongCell(column: string, fault: string): InvalidInputError {
  return new InvalidInputError(`the cell of column ${quoteName(column)} is ${fault}`, {
    hint: 'Correct the cell, or leave the column out of --types: it is text then.',
  });
}

/** The requirements of an operation on the columns of a file. */
export interface ColumnRules {
  /** The column that must be present. */
  readonly required: string;
  /** Columns that must not be present. */
  readonly reserved: readonly string[];
  /** Whether there must be other columns. */
  readonly needsMore: boolean;
  /** The option that names the column, if there is one. */
  readonly option?: string;
  /** The next step if a required column is missing. */
  readonly hint: string;
}

/** Separators of cells in files of some countries and programs. */
const delimiters = [';', '\t', '|', ','];

/**
 * @throws InvalidInputError for an invalid header in a line, or one that the operation cannot use
 */
export function checkColumns(columns: readonly string[], rules: ColumnRules, line = 1): void {
  // Without the column that must be there, a line with a long number is the first row of a file
  // without a header.
  const isHeader = columns.includes(rules.required) || !columns.some(mayBeValue);
  const show = isHeader ? quoteName : () => '****';
  const seen = new Set<string>();
  for (const [index, column] of columns.entries()) {
    if (column === '')
      throw new InvalidInputError(`line ${line}: column ${index + 1} has an empty name`, {
        hint: 'Name the column, or remove it.',
      });
    const fault = textFault(column);
    if (fault !== null)
      throw new InvalidInputError(`line ${line}: the name of column ${index + 1} ${fault}`);
    if (seen.has(column))
      throw new InvalidInputError(`line ${line}: two columns are named ${show(column)}`, {
        hint: 'Rename or remove one of the two.',
      });
    seen.add(column);
  }
  if (!seen.has(rules.required)) throw missingColumn(columns, rules, line, show);
  const reserved = rules.reserved.find((name) => seen.has(name));
  if (reserved !== undefined) throw reservedColumn(reserved, line);
  if (rules.needsMore && columns.length === 1) {
    throw new InvalidInputError(`line ${line}: there is no column to pass back`, {
      hint: rules.hint,
    });
  }
}

function reservedColumn(name: string, line: number): InvalidInputError {
  let hint = 'Rename the column, or leave it out.';
  if (name === 'union_id')
    hint =
      'It names the users if neither --primary-key nor --union-id-column is given. Or leave the column out.';
  return new InvalidInputError(
    `line ${line}: the column name ${quoteName(name)} is reserved and cannot be passed back`,
    { hint },
  );
}

function missingColumn(
  columns: readonly string[],
  { required, hint, option }: ColumnRules,
  line: number,
  show: (name: string) => string,
): InvalidInputError {
  const [only = ''] = columns;
  if (/^[| ].* \| /.test(only))
    return new InvalidInputError(`line ${line}: this is a table for people to read, not CSV`, {
      hint: 'Export it as CSV, as psql --csv does.',
    });
  const delimiter = delimiters.find((text) => only.includes(text) && !only.startsWith(text));
  if (columns.length === 1 && delimiter !== undefined) {
    const column = `line ${line}: there is one column, ${show(only.slice(0, 60))}`;
    const message = `${column}: the delimiter does not seem to be the right one`;
    const shown = delimiter.replace('\t', '\\t');
    return new RunInputError(message, 'Name the delimiter:', '--delimiter', shown);
  }
  const names = columns.slice(0, 8).map(show).join(', ');
  const message = `line ${line}: no column is named ${quoteName(required)}; found ${names}`;
  const bare = (name: string) => name.toLowerCase().replace(/[\s_-]/g, '');
  const likely =
    columns.find((name) => bare(name) === bare(required)) ??
    columns.find((name) => /id$|用户/i.test(name));
  if (likely !== undefined && option !== undefined)
    return new RunInputError(message, 'If that is the column, name it:', option, likely);
  return new InvalidInputError(message, { hint });
}
