import { setTimeout as wait } from 'node:timers/promises';
import type { ClientBase, QueryConfig, QueryResult } from 'pg';
import { StartError, StoreUnavailableError } from './errors.js';
import { postgresConfig } from './postgres-config.js';
import {
  ConflictError,
  ConnectionLostError,
  LockTimeoutError,
  translatePostgresError,
} from './postgres-errors.js';
import { openPool } from './postgres-pool.js';
import { checkValues, type Sql, type SqlDriver, type SqlParameter } from './sql-driver.js';

export { describePostgres } from './postgres-config.js';

export interface PostgresOptions {
  /** Maximum number of connections. Default: 10. */
  readonly poolSize?: number;
}

/** SQLite's words at the end of a table whose rows are kept in the index of its primary key alone. */
const withoutRowId = ' WITHOUT ROWID';

/** The equivalent of `unixepoch()` in PostgreSQL. */
const unixEpoch = 'CAST(EXTRACT(EPOCH FROM now()) AS BIGINT)';

/** Maximum number of rows in one statement, whose duration is limited. */
const maxRows = 1000;

/** Maximum number of runs of a unit of work that the database aborts. */
const maxRuns = 5;

/** Each pause before another run is this much longer, in milliseconds. */
const pauseStepMs = 5;

/** Maximum wait for rows that other transactions have locked, in milliseconds. */
const maxLockedMs = 5000;

/** The pause before such work is run again, without a connection: twice as long each time, up to the longest. */
const [firstLockPauseMs, maxLockPauseMs] = [50, 400];

/**
 * Opens a database by URL: PostgreSQL, or one that speaks its protocol. Transactions are READ COMMITTED: the statements
 * lock what they change. A transaction that the database aborts, because of a deadlock or a connection lost before its
 * COMMIT, is run again.
 *
 * @throws StartError if it cannot be used
 * @throws StoreUnavailableError if it does not answer
 */
export async function openPostgresDriver(
  url: string,
  { poolSize = 10 }: PostgresOptions = {},
): Promise<SqlDriver> {
  const { isPooled, ...config } = postgresConfig(url);
  const pool = openPool(config, poolSize);
  /** The statements as PostgreSQL understands them, with the names under which they are prepared. */
  const known = new Map<string, QueryConfig>();

  async function run<T>(work: (client: ClientBase) => Promise<T>): Promise<T> {
    const lockedUntil = performance.now() + maxLockedMs;
    let lockPauseMs = firstLockPauseMs;
    for (let runs = 1; ; runs++) {
      try {
        return await pool.use(work);
      } catch (error) {
        if (error instanceof LockTimeoutError) {
          if (performance.now() > lockedUntil) throw error;
          await wait(lockPauseMs);
          lockPauseMs = Math.min(2 * lockPauseMs, maxLockPauseMs);
          continue;
        }
        const brokenOff = error instanceof ConflictError || error instanceof ConnectionLostError;
        if (!brokenOff || runs >= maxRuns) throw error;
      }
      await wait(runs * pauseStepMs);
    }
  }

  function sqlOver(client: ClientBase): Sql {
    return {
      run: async (statement, values = []) => (await query(client, statement, values)).rowCount ?? 0,
      all: async (statement, values = []) => (await query(client, statement, values)).rows,
      each: async (statement, rows) => {
        const results: Promise<QueryResult>[] = [];
        for (let from = 0; from < rows.length; from += maxRows) {
          const columns = columnsOf(rows.slice(from, from + maxRows));
          results.push(query(client, forArrays(statement), columns));
        }
        return (await Promise.all(results)).flatMap((result) => result.rows);
      },
    };
  }

  function query(client: ClientBase, statement: string, values: readonly SqlParameter[]) {
    checkValues(values);
    const prepared = known.get(statement) ?? learn(statement);
    return send(client, values.length === 0 ? prepared.text : { ...prepared, values: [...values] });
  }

  function learn(statement: string): QueryConfig {
    const text = statement.replaceAll('unixepoch()', unixEpoch).replace(withoutRowId, '');
    const learnt = { text, ...(!isPooled && { name: `userinfo_${known.size + 1}` }) };
    known.set(statement, learnt);
    return learnt;
  }

  const driver: SqlDriver = {
    engine: 'postgres',
    purgeRows: 5000,
    read: (work) => run((client) => work(sqlOver(client))),
    write: (work) => run((client) => inTransaction(client, () => work(sqlOver(client)))),
    /** Without BEGIN and COMMIT, which cost two round trips. */
    writeOnce: (statement, values) =>
      run(async (client) => (await notTwice(query(client, statement, values))).rows),
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

async function inTransaction<T>(client: ClientBase, work: () => Promise<T>): Promise<T> {
  // Sent together with the first statement, which fails if it does.
  const begun = send(client, 'BEGIN ISOLATION LEVEL READ COMMITTED');
  begun.catch(() => {});
  let result: T;
  try {
    result = await work();
    await begun;
  } catch (error) {
    // If this fails, the connection is lost, and the transaction with it. Statements that still run end before it.
    await send(client, 'ROLLBACK').catch(() => {});
    throw error;
  }
  const { command } = await notTwice(send(client, 'COMMIT'));
  if (command !== 'COMMIT') throw new Error('a transaction ignored a statement that failed');
  return result;
}

/** Work that may be stored if its connection is lost, and is not run again then. */
async function notTwice<T>(committing: Promise<T>): Promise<T> {
  try {
    return await committing;
  } catch (error) {
    if (!(error instanceof ConnectionLostError)) throw error;
    throw new StoreUnavailableError(
      'the connection to the database was lost during a commit: the work may be stored',
      { cause: error },
    );
  }
}

async function send(client: ClientBase, query: string | QueryConfig): Promise<QueryResult> {
  try {
    return await client.query(query);
  } catch (error) {
    throw translatePostgresError(error);
  }
}
