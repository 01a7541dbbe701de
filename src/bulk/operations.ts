import { passbackRequest, readRequest } from '../client/request.js';
import { InvalidInputError } from '../protocol/errors.js';
import { identifyingText } from '../protocol/passback.js';
import { quoteName } from '../protocol/text.js';
import { type FlatValue, reservedKeys } from '../protocol/user-info.js';
import type { PreparedRow } from './engine/row-queue.js';
import type { ColumnRules } from './source/columns.js';
import type { FileRow, RowFormat } from './source/rows.js';

/** What is done with each row. */
export interface RowOperation {
  readonly name: 'read' | 'passback';
  /** The names that a read requests; none for a passback. */
  readonly infoNames: readonly string[];
  readonly columns: ColumnRules;
  /** The key of the value that names a row's user, in the results; `null` if the line number is enough. */
  readonly userKey: string | null;
  /**
   * The value that names the row's user; `null` for an operation without users.
   *
   * @throws InvalidInputError if there is none
   */
  user(fields: ReadonlyMap<string, FlatValue>): string | null;
  /**
   * The request and the user of a row. Takes over `fields`, and may change them.
   *
   * @throws InvalidInputError for a row that cannot be sent
   */
  prepare(fields: Map<string, FlatValue>): PreparedRow;
}

/**
 * The text of a required field; a number as it is written.
 *
 * @throws InvalidInputError
 */
function requiredText(fields: ReadonlyMap<string, FlatValue>, name: string): string {
  const value = fields.get(name);
  const text = identifyingText(value);
  if (text !== null) return text;
  const fault = value === undefined || value === '' || value === null ? 'has no value' : 'is not text';
  throw new InvalidInputError(`${quoteName(name)} ${fault}`);
}

/** The value that names a row's user; `null` where the row has none, or cannot be parsed. */
export function userOf<Row extends FileRow>(
  row: Row,
  format: RowFormat<Row>,
  operation: RowOperation,
): string | null {
  try {
    return operation.user(format.fields(row));
  } catch (error) {
    if (error instanceof InvalidInputError) return null;
    throw error;
  }
}

/** How rows name their users (§4.2): by a column of union IDs, or by one of the values that are passed back. */
export type UserNaming =
  | { readonly by: 'union_id'; readonly column: string }
  | { readonly by: 'primary_key'; readonly key: string };

/** Passes back the values of each row, except the column of union IDs. */
export function passbackRows(naming: UserNaming): RowOperation {
  return naming.by === 'union_id' ? byUnionId(naming.column) : byPrimaryKey(naming.key);
}

function byUnionId(column: string): RowOperation {
  return {
    name: 'passback',
    infoNames: [],
    columns: {
      required: [column],
      reserved: reservedKeys.filter((name) => name !== column),
      needsMore: true,
      hint: 'Name the column of user IDs with --union-id-column, or the key that identifies users with --primary-key.',
    },
    userKey: 'union_id',
    user: (fields) => requiredText(fields, column),
    prepare(fields) {
      const unionId = requiredText(fields, column);
      fields.delete(column);
      return { request: passbackRequest({ unionId, userInfo: fields }), user: unionId };
    },
  };
}

function byPrimaryKey(key: string): RowOperation {
  return {
    name: 'passback',
    infoNames: [],
    columns: {
      required: [key],
      reserved: reservedKeys,
      needsMore: false,
      hint: 'Name the column that identifies users with --primary-key.',
    },
    userKey: key,
    user: (fields) => requiredText(fields, key),
    prepare(fields) {
      const user = requiredText(fields, key);
      return { request: passbackRequest({ primaryKey: key, userInfo: fields }), user };
    },
  };
}

/** The column of authorization codes. */
const codeColumn = 'code';

/** Reads with the code of each row (§4.1); other columns are ignored. */
export function readRows(infoNames: readonly string[], scope: string | undefined): RowOperation {
  return {
    name: 'read',
    infoNames,
    columns: {
      required: [codeColumn],
      reserved: [],
      needsMore: false,
      hint: 'The codes to read with stand in a column that is named so.',
    },
    userKey: null,
    user: () => null,
    prepare: (fields) => ({
      request: readRequest({
        code: requiredText(fields, codeColumn),
        ...(infoNames.length === 0 ? {} : { infoNames }),
        ...(scope === undefined ? {} : { scope }),
      }),
      user: null,
    }),
  };
}
