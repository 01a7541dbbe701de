import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { FairQueue, pauses, turnMs } from '../support/fair-queue.js';
import { StartError, StoreUnavailableError } from './errors.js';
import {
  type Sql,
  type SqlDriver,
  type SqlParameter,
  type SqlRow,
  sharedTransactions,
} from './sql-driver.js';
import { SqliteConnection, type SqliteLibrary } from './sqlite-connection.js';
import { describeSqliteError, isBusy } from './sqlite-errors.js';

export interface SqliteOptions {
  /** Whether a missing file is created. Default: true. */
  readonly create?: boolean;
  /** Maximum wait for a lock of another process, in milliseconds. */
  readonly busyTimeoutMs?: number;
}

/** Loads the native SQLite of this package, or, where it has none for this system, the one of Node itself. */
async function loadSqlite(file: string): Promise<SqliteLibrary> {
  try {
    return await import('@photostructure/sqlite');
  } catch (cause) {
    const own = process.getBuiltinModule('node:sqlite');
    if (own !== undefined) return own as unknown as SqliteLibrary;
    const system = `${process.platform}-${process.arch}`;
    const problem = `there is no SQLite for ${system} beside the program, and Node ${process.version} has none`;
    throw new StartError('CANNOT_OPEN_DATABASE', `cannot open the database ${file}: ${problem}`, {
      hint: 'Use Node 22.13 or later, or a database of PostgreSQL. A bundler must leave userinfo-cli/service as it is (external).',
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

/** Maximum number of jobs per commit. It blocks the event loop: after `turnMs` no further job is taken. */
const maxJobsPerCommit = 256;

/**
 * Opens a SQLite file, or `:memory:`.
 *
 * @throws StartError if it cannot be used
 */
export async function openSqliteDriver(file: string, options: SqliteOptions = {}): Promise<SqlDriver> {
  const { create = true, busyTimeoutMs = defaultBusyTimeoutMs } = options;
  const library = await loadSqlite(file);
  try {
    // Processes that open a new file at the same time lock each other out while it becomes a WAL database.
    const connection = await whenFree(busyTimeoutMs, async () => new SqliteConnection(library, file, create));
    return new SqliteDriver(connection, busyTimeoutMs);
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(
      'CANNOT_OPEN_DATABASE',
      `cannot open the database ${file}: ${describeSqliteError(error)}`,
      {
        hint:
          (error instanceof StoreUnavailableError && error.hint) ||
          'Its folder must be there and be writable; a file that is there must be an SQLite database.',
        cause: error,
      },
    );
  }
}

/**
 * Group commit: work that arrives in one turn of the event loop, or during a commit, shares the next transaction, and
 * is answered after its COMMIT. So one write to the disk serves many. If a unit fails, the others are run again without
 * it. Flows take turns.
 */
class SqliteDriver implements SqlDriver {
  readonly engine = 'sqlite';
  /** A statement blocks the event loop. */
  readonly purgeRows = 128;
  #connection: SqliteConnection;
  readonly #busyTimeoutMs: number;
  readonly #sql: Sql;
  readonly #jobs = new FairQueue<Job>();
  /** The error of a commit in which another unit failed. */
  #again: Job[] = [];
  #committing: Promise<void> | null = null;
  #closed = false;

  constructor(connection: SqliteConnection, busyTimeoutMs: number) {
    this.#connection = connection;
    this.#busyTimeoutMs = busyTimeoutMs;
    this.#sql = {
      run: async (statement, values) => this.#connection.run(statement, values),
      all: async (statement, values) => this.#connection.all(statement, values),
      each: async (statement, rows) => rows.flatMap((values) => this.#connection.all(statement, values)),
    };
  }

  async read<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return await whenFree(this.#busyTimeoutMs, async () => {
      // The connection is shared: inside another's transaction, its uncommitted rows would be visible.
      while (this.#connection.inTransaction) await nextTurn();
      this.#renew();
      return await work(this.#sql);
    });
  }

  write<T>(work: (sql: Sql) => Promise<T>, flow = ''): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#closed) {
        reject(new StoreUnavailableError('the database is closed'));
        return;
      }
      this.#jobs.add(flow, { work, resolve: (result) => resolve(result as T), reject });
      this.#committing ??= this.#commitJobs();
    });
  }

  writeOnce(statement: string, values: readonly SqlParameter[]): Promise<readonly SqlRow[]> {
    return this.write((sql) => sql.all(statement, values));
  }

  async checkpoint(): Promise<void> {
    await this.read(async () => this.#connection.checkpoint());
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#committing;
    // Reads that waited for the commit come first.
    await nextTurn();
    this.#connection.close();
  }

  async #commitJobs(): Promise<void> {
    while (this.#again.length > 0 || !this.#jobs.isEmpty) {
      await nextTurn();
      try {
        await this.#begin();
      } catch (error) {
        for (const job of [...this.#again.splice(0), ...this.#jobs.drain()]) job.reject(error);
        continue;
      }
      await this.#commit();
    }
    this.#committing = null;
  }

  async #begin(): Promise<void> {
    await whenFree(this.#busyTimeoutMs, async () => {
      this.#renew();
      this.#connection.run('BEGIN IMMEDIATE');
    });
  }

  /** Replaces an unusable connection as soon as the database can be used again. */
  #renew(): void {
    if (this.#closed) return;
    this.#connection.checkFile();
    if (this.#connection.isUnusable) this.#connection = this.#connection.reopen();
  }

  async #commit(): Promise<void> {
    const jobs: Job[] = [];
    const results: unknown[] = [];
    const end = performance.now() + turnMs;
    let hasFailed = false;
    const run = async (job: Job) => {
      try {
        results.push(await job.work(this.#sql));
        jobs.push(job);
      } catch (error) {
        hasFailed = true;
        this.#connection.rollBack();
        job.reject(error);
        this.#again.unshift(...jobs);
      }
    };
    do {
      const again = this.#again.shift();
      await (again === undefined ? this.#jobs.serve(run) : run(again));
      if (hasFailed) return;
    } while (
      (this.#again.length > 0 || !this.#jobs.isEmpty) &&
      jobs.length < maxJobsPerCommit &&
      performance.now() < end
    );
    try {
      this.#connection.run('COMMIT');
    } catch (error) {
      this.#connection.rollBack();
      const unavailable =
        error instanceof StoreUnavailableError
          ? error
          : new StoreUnavailableError('the database did not commit', { cause: error });
      for (const { reject } of jobs) reject(unavailable);
      return;
    }
    sharedTransactions.publish(jobs.length);
    const pause = pauses();
    for (const [index, { resolve }] of jobs.entries()) {
      resolve(results[index]);
      await pause();
    }
  }
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
