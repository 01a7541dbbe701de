import type { PlainRequest } from '../../client/request.js';
import { InvalidInputError } from '../../protocol/errors.js';
import { identifyingText } from '../../protocol/passback.js';
import { quoteName } from '../../protocol/text.js';
import type { FlatValue } from '../../protocol/user-info.js';
import type { ColumnRules } from '../source/columns.js';

/** What is done with each row. */
export interface RowOperation {
  readonly name: 'read' | 'passback';
  /** The names that a read asks for; none for a passback. */
  readonly infoNames: readonly string[];
  readonly columns: ColumnRules;
  /** What results call the value that names a row's user; `null` where none does, and its line says enough. */
  readonly userKey: string | null;
  /** The value that names the row's user. Throws an InvalidInputError. */
  user(fields: ReadonlyMap<string, FlatValue>): string | null;
  /** The request for a row, whose fields may be changed on the way. Throws an InvalidInputError for one that cannot be sent. */
  request(fields: Map<string, FlatValue>): PlainRequest;
}

/** The text of a field that has to be there; a number is taken as it is written. Throws an InvalidInputError. */
export function requiredText(fields: ReadonlyMap<string, FlatValue>, name: string): string {
  const value = fields.get(name);
  const text = identifyingText(value);
  if (text !== null) return text;
  const fault = value === undefined || value === '' || value === null ? 'has no value' : 'is not text';
  throw new InvalidInputError(`${quoteName(name)} ${fault}`);
}
