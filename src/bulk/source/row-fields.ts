import { InvalidInputError } from '../../protocol/errors.js';
import { FlatJsonError, type FlatValue, parseFlatJson } from '../../protocol/flat-json.js';
import { type CellType, parseCell } from './cell-types.js';

/** What the texts of a row are: its cells, or its JSON. */
export type RowShape = CellShape | { readonly format: 'ndjson' };

export interface CellShape {
  readonly format: 'csv';
  readonly columns: readonly string[];
  /** Of each column. */
  readonly types: readonly CellType[];
  /** Whether an empty cell is a value that is empty, or none. */
  readonly empty: 'keep' | 'drop';
}

/** How many texts a row has, unless it is invalid. */
export function textsPerRow(shape: RowShape): number {
  return shape.format === 'csv' ? shape.columns.length : 1;
}

/** The values of a row by name, in the order they were written. Throws an InvalidInputError. */
export function toFields(shape: RowShape, texts: readonly string[]): Map<string, FlatValue> {
  return shape.format === 'csv' ? cellsToFields(shape, texts) : jsonToFields(texts[0] ?? '');
}

function cellsToFields(
  { columns, types, empty }: CellShape,
  cells: readonly string[],
): Map<string, FlatValue> {
  if (cells.length !== columns.length) {
    throw new InvalidInputError(`the row has ${cells.length} cells, the header ${columns.length}`, {
      hint: 'Put a cell that holds the delimiter, a quote or a line break in double quotes.',
    });
  }
  const fields = new Map<string, FlatValue>();
  for (const [index, column] of columns.entries()) {
    const cell = cells[index] ?? '';
    if (cell === '' && empty === 'drop') continue;
    const type = types[index] ?? 'text';
    fields.set(column, type === 'text' ? cell : parseCell(cell, type, column));
  }
  return fields;
}

/** Numbers stay as they were written. */
function jsonToFields(json: string): Map<string, FlatValue> {
  try {
    return parseFlatJson(json);
  } catch (error) {
    if (error instanceof FlatJsonError) throw new InvalidInputError(`the row ${error.message}`);
    throw error;
  }
}
