import { InvalidInputError } from '../../protocol/errors.js';
import { quoteName } from '../../protocol/text.js';
import { type FlatValue, JsonNumber } from '../../protocol/user-info.js';

/** What the cells of a column are taken for; text unless said otherwise. */
export const cellTypes = ['text', 'number', 'boolean'] as const;
export type CellType = (typeof cellTypes)[number];

const truths: Readonly<Record<string, boolean>> = { true: true, false: false };

/** Turns a cell into a value. Throws an InvalidInputError that names the column, and not the value. */
export function parseCell(cell: string, type: CellType, column: string): FlatValue {
  switch (type) {
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
    throw wrongCell(column, 'not a number as JSON writes it');
  }
}

function wrongCell(column: string, fault: string): InvalidInputError {
  return new InvalidInputError(`the cell of column ${quoteName(column)} is ${fault}`, {
    hint: 'Correct the cell, or leave the column out of --types: it is text then.',
  });
}
