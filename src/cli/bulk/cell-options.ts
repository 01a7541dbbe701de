import { type CellType, cellTypes } from '../../bulk/source/cell-types.js';
import { InvalidInputError } from '../../protocol/errors.js';
import { quoteName } from '../../protocol/text.js';

/** Reads `age:number,vip:boolean`. Throws an InvalidInputError. */
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
