import { hash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { QueryConfig, QueryResult } from 'pg';
import { StartError } from './errors.js';
import { lockTimeoutMs, postgresConfig } from './postgres-config.js';
import type { PostgresConnection } from './postgres-connection.js';
import { ConflictError, ConnectionLostError, LockTimeoutError } from './postgres-errors.js';
import { PostgresPool } from './postgres-pool.js';
import { inPostgres } from './sql-dialects.js';
import {
  checkValues,
  oneLine,
  type PoolUsage,
  type Sql,
  type SqlDriver,
  type SqlParameter,
} from './sql-driver.js';

export { describePostgres } from './postgres-config.js';

export interface PostgresOptions {
  /**
   * Maximum number of connections.
   *
   * @default 10
   */
  readonly poolSize?: number;
  /** A statement that changes a row: once it has done so, durably, a lost database is back. */
  readonly probe: string;
}

/** Maximum number of rows in one statement, whose duration is limited. */
const maxRows = 1000;

/** Maximum number of runs of a unit of work that the database aborts. */
const maxConflicts = 5;

/** Maximum number of runs of one that loses its connection. */
const maxConnections = 2;

/** Each pause before another run is this much longer, in milliseconds. */
const pauseStepMs = 5;

/** Maximum wait for rows that other transactions have locked, in milliseconds. */
const maxLockedMs = 5000;

/**
 * The pause before such work is run again, without a connection, in milliseconds: twice as long
 * each time, up to the longest.
 */
const firstLockPauseMs = 50;
const maxLockPauseMs = 400;

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
  const pool = new PostgresPool(config, poolSize, isPooled ? limitLockWait + probe : probe);
  const driver = new PostgresDriver(pool, new PreparedStatements(isPooled), workMs);
  try {
    await driver.read(checkServer);
    return driver;
  } catch (error) {
    await driver.close();
    throw error;
  }
}

class PostgresDriver implements SqlDriver {
  readonly engine = 'postgres';
  readonly purgeRows = 5000;
  readonly #pool: PostgresPool;
  readonly #statements: PreparedStatements;
  readonly #workMs: number;

  /** `workMs` is the maximum duration of a request, in milliseconds. */
  constructor(pool: PostgresPool, statements: PreparedStatements, workMs: number) {
    this.#pool = pool;
    this.#statements = statements;
    this.#workMs = workMs;
  }

  read<T>(work: (sql: Sql) => Promise<T>, deadline?: number): Promise<T> {
    return this.#run((connection) => work(this.#sqlOver(connection)), deadline);
  }

  write<T>(work: (sql: Sql) => Promise<T>, deadline?: number): Promise<T> {
    return this.#run(
      (connection) => inTransaction(connection, () => work(this.#sqlOver(connection))),
      deadline,
    );
  }

  /** Without BEGIN and COMMIT, which cost two round trips. */
  writeOnce<Row>(
    statement: string,
    values: readonly SqlParameter[],
    deadline?: number,
  ): Promise<readonly Row[]> {
    return this.#run(async (connection) => {
      const { rows } = await connection.commit(this.#statements.withValues(statement, values));
      return rows;
    }, deadline);
  }

  newDeadline(): number {
    return performance.now() + this.#workMs;
  }

  /** PostgreSQL does this itself. */
  async checkpoint(): Promise<void> {}

  connections(): PoolUsage {
    return this.#pool.usage();
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  async #run<T>(
    work: (connection: PostgresConnection) => Promise<T>,
    deadline = Number.POSITIVE_INFINITY,
  ): Promise<T> {
    const lockedUntil = Math.min(performance.now() + maxLockedMs, deadline);
    let lockPauseMs = firstLockPauseMs;
    for (let runs = 1; ; runs++) {
      try {
        return await this.#pool.use(work, deadline);
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

  #sqlOver(connection: PostgresConnection): Sql {
    const query = async (statement: string, values: readonly SqlParameter[] = []) =>
      await connection.query(this.#statements.withValues(statement, values));
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
}

/** The statements as PostgreSQL understands them, with the names under which they are prepared. */
class PreparedStatements {
  readonly #isPooled: boolean;
  readonly #byStatement = new Map<string, QueryConfig>();

  /** Nothing is prepared if a pooler gives each transaction another session. */
  constructor(isPooled: boolean) {
    this.#isPooled = isPooled;
  }

  /** @throws TypeError for a value that cannot be stored as it is */
  withValues(statement: string, values: readonly SqlParameter[]): string | QueryConfig {
    checkValues(values);
    const config = this.#configOf(statement);
    return values.length === 0 ? config.text : { ...config, values: [...values] };
  }

  #configOf(statement: string): QueryConfig {
    const cached = this.#byStatement.get(statement);
    if (cached !== undefined) return cached;
    const text = inPostgres(statement);
    const config: QueryConfig = this.#isPooled ? { text } : { text, name: nameOf(text) };
    this.#byStatement.set(statement, config);
    return config;
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
  const [row] = await sql.all(oneLine`
    SELECT current_setting('server_encoding') AS encoding,
      current_setting('server_version_num') AS version`);
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

/**
 * A statement for one row, as `Sql.each` takes it, as one for many: `$1` becomes the array of the
 * texts of the first column. So 1000 rows are one statement, not 1000.
 */
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
