import { InvalidInputError } from '../../protocol/errors.js';
import { quoteName, textFault } from '../../protocol/text.js';

/** What an operation asks of the columns of a file. */
export interface ColumnRules {
  /** Columns that must be there. */
  readonly required: readonly string[];
  /** Columns that must not be there. */
  readonly reserved: readonly string[];
  /** Whether the required columns alone say nothing. */
  readonly needsMore: boolean;
  /** What to do where a required column is missing. */
  readonly hint: string;
}

/** Throws an InvalidInputError for a header that is no header, or that rows cannot be sent under. */
export function checkColumns(columns: readonly string[], rules: ColumnRules): void {
  for (const [index, column] of columns.entries()) {
    if (column.trim() === '') throw new InvalidInputError(`line 1: column ${index + 1} has an empty name`);
    const fault = textFault(column);
    if (fault !== null) throw new InvalidInputError(`line 1: the name of column ${index + 1} ${fault}`);
    if (columns.indexOf(column) < index) {
      throw new InvalidInputError(`line 1: two columns are named ${quoteName(column)}`);
    }
    if (rules.reserved.includes(column)) {
      throw new InvalidInputError(
        `line 1: the column name ${quoteName(column)} is reserved and cannot be passed back`,
        { hint: 'Rename the column, or leave it out.' },
      );
    }
  }
  const missing = rules.required.find((name) => !columns.includes(name));
  if (missing !== undefined) {
    const found = columns.slice(0, 8).map(quoteName).join(', ');
    throw new InvalidInputError(`line 1: no column is named ${quoteName(missing)}; found ${found}`, {
      hint: rules.hint,
    });
  }
  if (rules.needsMore && columns.length <= rules.required.length) {
    throw new InvalidInputError('line 1: there is no column to pass back', { hint: rules.hint });
  }
}
