import { buildPassback, buildRead } from '../../../client/call/request.js';
import type { PreparedRow } from '../../../client/rows/row-queue.js';
import { isShortenedNumber } from '../../../core/contract/doubts.js';
import { type Endpoint, endpointNamed } from '../../../core/contract/endpoints.js';
import { InvalidInputError, quoteName } from '../../../core/contract/errors.js';
import { identifyingText } from '../../../core/contract/passback.js';
import { checkUserInfo, type FlatValue, reservedKeys } from '../../../core/contract/user-info.js';
import { withoutUndefined } from '../../../core/support/without-undefined.js';
import { RunInputError } from './errors.js';
import { type ColumnRules, parseTypes } from './source/columns.js';
import type { FileRow } from './source/rows.js';

/** The work for each row. */
export interface RowOperation {
  /**
   * A row that may have reached the service is sent again if it is repeatable; otherwise its data
   * is kept.
   */
  readonly endpoint: Endpoint;
  readonly columns: ColumnRules;
  /** Properties that must be the same when a run is resumed. */
  readonly identity: Readonly<Record<string, string>>;
  /** The names of the values that are a code, or identify a user. */
  readonly ids: readonly string[];
  /**
   * The key of the value that names a row's user, in the results; `null` if the line number is
   * enough.
   */
  readonly userKey: string | null;
  /** The names that become keys of `user_info`. */
  userInfoKeys(names: Iterable<string>): string[];
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
export function requiredText(fields: ReadonlyMap<string, FlatValue>, name: string): string {
  const value = fields.get(name);
  const text = identifyingText(value);
  if (text !== null) return text;
  if (value === undefined || value === '' || value === null)
    throw new InvalidInputError(`${quoteName(name)} has no value`);
  throw new InvalidInputError(`${quoteName(name)} is not text`);
}

/**
 * Refuses a number that a spreadsheet shortened in a column that names users: no ID looks so, and
 * many users would be one.
 *
 * @throws RunInputError with the option that sends it
 */
function refuseShortened(column: string, text: string): void {
  if (!isShortenedNumber(text)) return;
  const advice = 'Format the column as text, and export it again. To send it as it is:';
  const message = `${quoteName(column)} is a number that a spreadsheet shortened`;
  throw new RunInputError(message, advice, '--types', `${column}:text`);
}

/** The value that names a row's user; `null` where the row has none, or cannot be parsed. */
export function userOf(row: FileRow, operation: RowOperation): string | null {
  try {
    return operation.user(row.fields());
  } catch (error) {
    if (error instanceof InvalidInputError) return null;
    throw error;
  }
}

/**
 * The naming of users in rows (§4.2): by a column of union IDs, by one of the values that are
 * passed back, or by both, where the union ID takes priority.
 */
export type UserNaming =
  | { readonly by: 'union_id'; readonly column: string; readonly primaryKey?: string }
  | { readonly by: 'primary_key'; readonly key: string };

/**
 * Passes back the values of each row, except the column of union IDs. `types` names columns that
 * are meant as they are.
 */
export function passbackOperation(naming: UserNaming, types?: string): RowOperation {
  const meant = parseTypes(types);
  const checkIds = (ids: readonly string[], fields: ReadonlyMap<string, FlatValue>) => {
    for (const id of ids)
      if (!meant.has(id)) refuseShortened(id, identifyingText(fields.get(id)) ?? '');
  };
  return naming.by === 'union_id'
    ? passbackByUnionId(naming.column, naming.primaryKey, checkIds)
    : passbackByKey(naming.key, checkIds);
}

/** Refuses IDs that a spreadsheet damaged. */
type CheckIds = (ids: readonly string[], fields: ReadonlyMap<string, FlatValue>) => void;

/** A column of union IDs, which is not passed back, names the users. */
function passbackByUnionId(
  column: string,
  primaryKey: string | undefined,
  checkIds: CheckIds,
): RowOperation {
  const isKey = (name: string) => name !== column;
  const ids = primaryKey === undefined ? [column] : [column, primaryKey];
  return {
    endpoint: endpointNamed.passback,
    columns: {
      required: column,
      reserved: reservedKeys.filter(isKey),
      needsMore: true,
      option: '--union-id-column',
      hint: 'The first line has to name the columns. Name that of user IDs with --union-id-column, or the key that identifies users with --primary-key.',
    },
    identity: withoutUndefined({ 'union ID column': column, 'primary key': primaryKey }),
    ids,
    userKey: 'union_id',
    userInfoKeys: (names) => [...names].filter(isKey),
    user: (fields) => requiredText(fields, column),
    prepare(fields) {
      const unionId = requiredText(fields, column);
      checkIds(ids, fields);
      fields.delete(column);
      const target = { unionId, primaryKey };
      return { request: buildPassback(target, () => checkUserInfo(fields)), user: unionId };
    },
  };
}

/** One of the values that are passed back names the users. */
function passbackByKey(primaryKey: string, checkIds: CheckIds): RowOperation {
  return {
    endpoint: endpointNamed.passback,
    columns: {
      required: primaryKey,
      reserved: reservedKeys,
      needsMore: false,
      option: '--primary-key',
      hint: 'Name the column that identifies users with --primary-key.',
    },
    identity: { 'primary key': primaryKey },
    ids: [primaryKey],
    userKey: primaryKey,
    userInfoKeys: (names) => [...names],
    user: (fields) => requiredText(fields, primaryKey),
    prepare(fields) {
      const user = requiredText(fields, primaryKey);
      checkIds([primaryKey], fields);
      return { request: buildPassback({ primaryKey }, () => checkUserInfo(fields)), user };
    },
  };
}

/** The column of authorization codes. */
const codeColumn = 'code';

/** Reads with the code of each row (§4.1); other columns are ignored. */
export function readOperation(infoNames: readonly string[], scope?: string): RowOperation {
  return {
    endpoint: endpointNamed.read,
    columns: {
      required: codeColumn,
      reserved: [],
      needsMore: false,
      hint: 'Give the codes in a column that is named code.',
    },
    identity: { names: infoNames.join(','), scope: scope ?? '' },
    ids: [codeColumn],
    userKey: null,
    userInfoKeys: () => [],
    user: () => null,
    prepare(fields) {
      const code = requiredText(fields, codeColumn);
      const names = infoNames.length === 0 ? undefined : infoNames;
      const request = buildRead(withoutUndefined({ code, infoNames: names, scope }));
      return { request, user: null };
    },
  };
}
