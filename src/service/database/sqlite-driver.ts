import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { describeSystemError, isSystemError } from '../../core/support/errors.js';
import { StartError, StoreUnavailableError } from './errors.js';
import type { Sql, SqlDriver } from './sql-driver.js';
import { SqliteConnection, type SqliteLibrary } from './sqlite-connection.js';
import { isBusy } from './sqlite-errors.js';

export interface SqliteOptions {
  /** Whether a missing file is created. Default: true. */
  readonly create?: boolean;
  /** Maximum wait for a lock of another process, in milliseconds. */
  readonly busyTimeoutMs?: number;
}

/**
 * Loads the native SQLite of this package, or, where it has none for this system, the one of Node
 * itself.
 */
async function loadSqlite(file: string): Promise<SqliteLibrary> {
  try {
    return await import('@photostructure/sqlite');
  } catch (cause) {
    const own = process.getBuiltinModule('node:sqlite');
    if (own !== undefined) return own as unknown as SqliteLibrary;
    const system = `${process.platform}-${process.arch}`;
    const problem = `there is no SQLite for ${system} beside the program, and Node ${process.version} has none`;
    throw new StartError(`cannot open the database ${file}: ${problem}`, {
      hint: 'Use Node 22.13 or later, or a database of PostgreSQL. A bundler must leave userinfo-exchange/service as it is (external).',
      cause,
    });
  }
}

/** A unit of work that waits for a commit. */
interface Job {
  readonly work: (sql: Sql) => Promise<unknown>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

const defaultBusyTimeoutMs = 5000;
const busyPauseMs = 10;

/**
 * Time after which a transaction takes no further job, in milliseconds: it blocks the event loop.
 */
const maxCommitMs = 10;

/**
 * Opens a SQLite file, or `:memory:`.
 *
 * @throws StartError if it cannot be used
 */
export async function openSqliteDriver(
  file: string,
  options: SqliteOptions = {},
): Promise<SqlDriver> {
  const { create = true, busyTimeoutMs = defaultBusyTimeoutMs } = options;
  const library = await loadSqlite(file);
  try {
    // Processes that open a new file at the same time lock each other out while it becomes a WAL
    // database.
    const connection = await whenFree(
      busyTimeoutMs,
      async () => new SqliteConnection(library, file, create),
    );
    return driverOver(connection, busyTimeoutMs);
  } catch (error) {
    const isKnown = error instanceof StoreUnavailableError;
    if (!isKnown && !isSystemError(error)) throw error;
    const reason = isKnown ? error.message : describeSystemError(error);
    throw new StartError(`cannot open the database ${file}: ${reason}`, {
      hint:
        (isKnown && error.hint) ||
        'Its folder must be there and be writable; a file that is there must be an SQLite database.',
      cause: error,
    });
  }
}

/**
 * Work that arrived while the last COMMIT was written to the disk shares the next one
 * (docs/decisions/sqlite-commit.md): each unit in a savepoint of its own, answered after the
 * COMMIT.
 */
function driverOver(opened: SqliteConnection, busyTimeoutMs: number): SqlDriver {
  let connection = opened;
  const sql: Sql = {
    run: async (statement, values) => connection.run(statement, values),
    all: async (statement, values) => connection.all(statement, values),
    each: async (statement, rows) => rows.flatMap((values) => connection.all(statement, values)),
  };
  const jobs: Job[] = [];
  let committing: Promise<void> | null = null;
  let closed = false;

  async function commitJobs(): Promise<void> {
    while (jobs.length > 0) {
      await nextTurn();
      const taken: Job[] = [];
      try {
        await whenFree(busyTimeoutMs, async () => {
          renew();
          connection.run('BEGIN IMMEDIATE');
        });
        const answers = await runJobs(taken);
        connection.run('COMMIT');
        for (const answer of answers) answer();
      } catch (error) {
        connection.rollBack();
        for (const { reject } of taken.length > 0 ? taken : jobs.splice(0))
          reject(unavailable(error));
      }
    }
    committing = null;
  }

  /**
   * Runs the waiting jobs, and puts them into `taken`; returns what answers each, once it is
   * durable.
   */
  async function runJobs(taken: Job[]): Promise<(() => void)[]> {
    const answers: (() => void)[] = [];
    const end = performance.now() + maxCommitMs;
    for (let job = jobs.shift(); job !== undefined; ) {
      taken.push(job);
      answers.push(await runJob(job));
      job = performance.now() < end ? jobs.shift() : undefined;
    }
    return answers;
  }

  async function runJob({ work, resolve, reject }: Job): Promise<() => void> {
    connection.run('SAVEPOINT job');
    try {
      const result = await work(sql);
      connection.run('RELEASE job');
      return () => resolve(result);
    } catch (error) {
      // A full disk, for one, ends the whole transaction.
      if (!connection.inTransaction) throw error;
      connection.run('ROLLBACK TO job');
      connection.run('RELEASE job');
      return () => reject(error);
    }
  }

  /** Replaces an unusable connection as soon as the database can be used again. */
  function renew(): void {
    if (closed) return;
    connection.checkFile();
    if (connection.isUnusable) connection = connection.reopen();
  }

  const driver: SqlDriver = {
    engine: 'sqlite',
    /** A statement blocks the event loop. */
    purgeRows: 128,
    newDeadline: () => Number.POSITIVE_INFINITY,
    read: (work) =>
      whenFree(busyTimeoutMs, async () => {
        // The connection is shared: inside another's transaction, its uncommitted rows would be
        // visible.
        while (connection.inTransaction) await nextTurn();
        renew();
        return await work(sql);
      }),
    write: (work) =>
      new Promise((resolve, reject) => {
        if (closed) return reject(new StoreUnavailableError('the database is closed'));
        jobs.push({ work, resolve: resolve as Job['resolve'], reject });
        committing ??= commitJobs();
      }),
    writeOnce: (statement, values) => driver.write((sql) => sql.all(statement, values)),
    checkpoint: () => driver.read(async () => connection.checkpoint()),
    async close() {
      closed = true;
      await committing;
      // Reads that waited for the commit come first.
      await nextTurn();
      connection.close();
    },
  };
  return driver;
}

function unavailable(error: unknown): StoreUnavailableError {
  if (error instanceof StoreUnavailableError) return error;
  return new StoreUnavailableError('the database did not commit', { cause: error });
}

/** Waits for a lock of another process without blocking the event loop, as SQLite would. */
async function whenFree<T>(timeoutMs: number, attempt: () => Promise<T>): Promise<T> {
  for (let waited = 0; ; waited += busyPauseMs) {
    try {
      return await attempt();
    } catch (error) {
      if (!isBusy(error) || waited >= timeoutMs) throw error;
    }
    await wait(busyPauseMs);
  }
}
