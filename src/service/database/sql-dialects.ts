/**
 * Statements are written once, in the SQL that SQLite and PostgreSQL share. Five words differ; a
 * driver writes these for its database, when it prepares the statement:
 *
 * | in a statement | SQLite | PostgreSQL |
 * |---|---|---|
 * | `$1` | `?1` | as it is |
 * | `CREATE TABLE things` | `CREATE TABLE store.things` | as it is |
 * | `FOR UPDATE` and other locks of rows | left out | as it is |
 * | `unixepoch()` | as it is | `CAST(EXTRACT(EPOCH FROM now()) AS BIGINT)` |
 * | `WITHOUT ROWID` | as it is | left out |
 *
 * A text for each database would be a copy of every statement, equal but for these words.
 * What only one of them can do at all, such as several changes in one statement, has a statement of
 * its own, which is run on that database alone.
 */

/** The longer one first, of which another is the beginning. */
const rowLocks = [' FOR UPDATE SKIP LOCKED', ' FOR UPDATE', ' FOR KEY SHARE'];

/** The current second by the clock of the database. */
const unixEpoch = 'CAST(EXTRACT(EPOCH FROM now()) AS BIGINT)';

/**
 * For PostgreSQL alone: holds the lock that `$1` names until the transaction ends. SQLite needs
 * none: a transaction that writes is alone.
 */
export const holdLock = 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))';

/** A statement as SQLite takes it, with the tables of the database that is attached as `store`. */
export function inSqlite(statement: string): string {
  let text = statement;
  // A transaction that writes locks every row.
  for (const rowLock of rowLocks) text = text.replace(rowLock, '');
  // SQLite would number `$2` by its appearance.
  text = text.replace(/\$(?=\d)/g, '?');
  // A new table would be one of the in-memory database. An existing table is found in any.
  return text.replace(/^CREATE (TABLE|INDEX) (IF NOT EXISTS )?/, '$&store.');
}

/** A statement as PostgreSQL takes it, where a table needs no words to be kept in an index. */
export function inPostgres(statement: string): string {
  return statement.replaceAll('unixepoch()', unixEpoch).replace(' WITHOUT ROWID', '');
}
