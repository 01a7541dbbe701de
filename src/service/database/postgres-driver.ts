import { hash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { QueryConfig, QueryResult } from 'pg';
import { StartError } from './errors.js';
import { lockTimeoutMs, postgresConfig } from './postgres-config.js';
import type { PostgresConnection } from './postgres-connection.js';
import { ConflictError, ConnectionLostError, LockTimeoutError } from './postgres-errors.js';
import { openPool } from './postgres-pool.js';
import { checkValues, type Sql, type SqlDriver, type SqlParameter } from './sql-driver.js';

export { describePostgres } from './postgres-config.js';

export interface PostgresOptions {
  /** Maximum number of connections. Default: 10. */
  readonly poolSize?: number;
  /** A statement that changes a row: once it has done so, durably, a lost database is back. */
  readonly probe: string;
}

/**
 * SQLite's words at the end of a table whose rows are kept in the index of its primary key alone.
 */
const withoutRowId = ' WITHOUT ROWID';

/** The equivalent of `unixepoch()` in PostgreSQL. */
const unixEpoch = 'CAST(EXTRACT(EPOCH FROM now()) AS BIGINT)';

/** Maximum number of rows in one statement, whose duration is limited. */
const maxRows = 1000;

/**
 * Maximum number of runs of a unit of work that the database aborts, and of one that loses its
 * connection.
 */
const [maxConflicts, maxConnections] = [5, 2];

/** Each pause before another run is this much longer, in milliseconds. */
const pauseStepMs = 5;

/** Maximum wait for rows that other transactions have locked, in milliseconds. */
const maxLockedMs = 5000;

/**
 * The pause before such work is run again, without a connection: twice as long each time, up to the
 * longest.
 */
const [firstLockPauseMs, maxLockPauseMs] = [50, 400];

/**
 * Opens a database by URL: PostgreSQL, or one that speaks its protocol. Transactions are READ
 * COMMITTED: the statements lock what they change. A transaction that the database aborts, because
 * of a deadlock or a connection lost before its COMMIT, is run again, until its deadline.
 *
 * @throws StartError if it cannot be used
 * @throws StoreUnavailableError if it does not answer
 */
export async function openPostgresDriver(
  url: string,
  { poolSize = 10, probe }: PostgresOptions,
): Promise<SqlDriver> {
  const { isPooled, workMs, ...config } = postgresConfig(url);
  const pool = openPool(config, poolSize, isPooled ? limitLockWait + probe : probe);
  /**
   * The statements as PostgreSQL understands them, with the names under which they are prepared.
   */
  const known = new Map<string, QueryConfig>();

  async function run<T>(
    deadline = Number.POSITIVE_INFINITY,
    work: (connection: PostgresConnection) => Promise<T>,
  ): Promise<T> {
    const lockedUntil = Math.min(performance.now() + maxLockedMs, deadline);
    let lockPauseMs = firstLockPauseMs;
    for (let runs = 1; ; runs++) {
      try {
        return await pool.use(work, deadline);
      } catch (error) {
        if (error instanceof LockTimeoutError) {
          if (performance.now() + lockPauseMs > lockedUntil) throw error;
          await wait(lockPauseMs);
          lockPauseMs = Math.min(2 * lockPauseMs, maxLockPauseMs);
          continue;
        }
        if (runs >= maxRunsOf(error)) throw error;
      }
      await wait(runs * pauseStepMs);
    }
  }

  function sqlOver(connection: PostgresConnection): Sql {
    const query = async (statement: string, values: readonly SqlParameter[] = []) =>
      await connection.query(prepared(statement, values));
    return {
      run: async (statement, values) => (await query(statement, values)).rowCount ?? 0,
      all: async (statement, values) => (await query(statement, values)).rows,
      each: async (statement, rows) => {
        const results: Promise<QueryResult>[] = [];
        for (let from = 0; from < rows.length; from += maxRows) {
          const columns = columnsOf(rows.slice(from, from + maxRows));
          results.push(query(forArrays(statement), columns));
        }
        return (await Promise.all(results)).flatMap((result) => result.rows);
      },
    };
  }

  /** A statement with its values, as PostgreSQL understands it. */
  function prepared(statement: string, values: readonly SqlParameter[]): string | QueryConfig {
    checkValues(values);
    const config = known.get(statement) ?? learn(statement);
    return values.length === 0 ? config.text : { ...config, values: [...values] };
  }

  function learn(statement: string): QueryConfig {
    const text = statement.replaceAll('unixepoch()', unixEpoch).replace(withoutRowId, '');
    const learnt = { text, ...(!isPooled && { name: nameOf(text) }) };
    known.set(statement, learnt);
    return learnt;
  }

  const driver: SqlDriver = {
    engine: 'postgres',
    purgeRows: 5000,
    newDeadline: () => performance.now() + workMs,
    read: (work, deadline) => run(deadline, (connection) => work(sqlOver(connection))),
    write: (work, deadline) =>
      run(deadline, (connection) => inTransaction(connection, () => work(sqlOver(connection)))),
    /** Without BEGIN and COMMIT, which cost two round trips. */
    writeOnce: (statement, values, deadline) =>
      run(
        deadline,
        async (connection) => (await connection.commit(prepared(statement, values))).rows,
      ),
    /** PostgreSQL does this itself. */
    checkpoint: async () => {},
    connections: pool.usage,
    close: pool.close,
  };
  try {
    await driver.read(checkServer);
    return driver;
  } catch (error) {
    await driver.close();
    throw error;
  }
}

/** For a pooler's session, in which no limit can be set at its start. */
const limitLockWait = `SET LOCAL lock_timeout = ${lockTimeoutMs}; `;

function maxRunsOf(error: unknown): number {
  if (error instanceof ConflictError) return maxConflicts;
  return error instanceof ConnectionLostError ? maxConnections : 1;
}

/**
 * The name under which a statement is prepared. It is never that of another one: a pooler may give
 * a session to a process that has not prepared it.
 */
function nameOf(text: string): string {
  return `userinfo_${hash('sha256', text).slice(0, 24)}`;
}

/** The oldest version of PostgreSQL that the tests run. */
const oldestVersion = 15;

async function checkServer(sql: Sql): Promise<void> {
  const [row] = await sql.all(
    "SELECT current_setting('server_encoding') AS encoding, current_setting('server_version_num') AS version",
  );
  const version = Math.floor(Number(row?.version) / 10_000);
  if (version < oldestVersion) {
    throw new StartError(`the database is PostgreSQL ${version}`, {
      hint: `Use PostgreSQL ${oldestVersion} or later.`,
    });
  }
  if (row?.encoding === 'UTF8') return;
  throw new StartError(`the database has the encoding ${row?.encoding}`, {
    hint: 'Create it with the encoding UTF8.',
  });
}

/** A statement for one row as one for many: `$1` stands for the texts of the first column. */
export function forArrays(statement: string): string {
  return statement
    .replace(/VALUES \((.*?)\)/, 'SELECT $1')
    .replace(/= \((\$1,.*?)\)/, 'IN (SELECT $1)')
    .replace(/\$\d+/g, 'unnest($&::text[])');
}

function columnsOf(rows: readonly (readonly string[])[]): string[][] {
  return (rows[0] ?? []).map((_, column) => rows.map((row) => row[column] ?? ''));
}

async function inTransaction<T>(
  connection: PostgresConnection,
  work: () => Promise<T>,
): Promise<T> {
  // Sent together with the first statement, which fails if it does.
  const begun = connection.query('BEGIN ISOLATION LEVEL READ COMMITTED');
  begun.catch(() => {});
  let result: T;
  try {
    result = await work();
    await begun;
  } catch (error) {
    // Statements that still run end before it. A lost connection ends its transaction itself.
    if (!(error instanceof ConnectionLostError)) await connection.rollBack();
    throw error;
  }
  const { command } = await connection.commit('COMMIT');
  if (command !== 'COMMIT') throw new Error('a transaction ignored a statement that failed');
  return result;
}
