import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { describeSystemError, isSystemError } from '../../core/support/errors.js';
import { StartError, StoreUnavailableError } from './errors.js';
import type { Sql, SqlDriver, SqlParameter } from './sql-driver.js';
import { SqliteConnection, type SqliteLibrary } from './sqlite-connection.js';
import { isBusy } from './sqlite-errors.js';

export interface SqliteOptions {
  /**
   * Whether a missing file is created.
   *
   * @default true
   */
  readonly create?: boolean;
  /**
   * Maximum wait for a lock of another process, in milliseconds.
   *
   * @default 5000
   */
  readonly busyTimeoutMs?: number;
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
    return new SqliteDriver(connection, busyTimeoutMs);
  } catch (error) {
    throw openFault(error, file);
  }
}

/**
 * Loads the native SQLite of this package, or, where it has none for this system, the one of Node
 * itself.
 */
async function loadSqlite(file: string): Promise<SqliteLibrary> {
  try {
    return await import('@photostructure/sqlite');
  } catch (cause) {
    const builtIn = process.getBuiltinModule('node:sqlite');
    if (builtIn !== undefined) return builtIn as unknown as SqliteLibrary;
    const system = `${process.platform}-${process.arch}`;
    throw new StartError(
      `cannot open the database ${file}: there is no SQLite for ${system} beside the program,` +
        ` and Node ${process.version} has none`,
      {
        hint:
          'Use Node 22.13 or later, or a database of PostgreSQL.' +
          ' A bundler must leave userinfo-exchange/service as it is (external).',
        cause,
      },
    );
  }
}

/** An error of opening a file, for the operator; others as they are. */
function openFault(error: unknown, file: string): unknown {
  const usualHint =
    'Its folder must exist and be writable; an existing file must be an SQLite database.';
  if (error instanceof StoreUnavailableError) {
    return new StartError(`cannot open the database ${file}: ${error.message}`, {
      hint: error.hint ?? usualHint,
      cause: error,
    });
  }
  if (!isSystemError(error)) return error;
  return new StartError(`cannot open the database ${file}: ${describeSystemError(error)}`, {
    hint: usualHint,
    cause: error,
  });
}

/** A unit of work that waits for a commit. */
interface Job {
  readonly work: (sql: Sql) => Promise<unknown>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Work that arrived while the last COMMIT was written to the disk shares the next one
 * (docs/decisions/sqlite-commit.md): each unit in a savepoint of its own, answered after the
 * COMMIT.
 */
class SqliteDriver implements SqlDriver {
  readonly engine = 'sqlite';
  /** A statement blocks the event loop. */
  readonly purgeRows = 128;
  readonly #busyTimeoutMs: number;
  readonly #sql: Sql = {
    run: async (statement, values) => this.#connection.run(statement, values),
    all: async (statement, values) => this.#connection.all(statement, values),
    each: async (statement, rows) =>
      rows.flatMap((values) => this.#connection.all(statement, values)),
  };
  #connection: SqliteConnection;
  /** The jobs that no transaction has taken yet. */
  readonly #jobs: Job[] = [];
  #committing: Promise<void> | null = null;
  #isClosed = false;

  constructor(connection: SqliteConnection, busyTimeoutMs: number) {
    this.#connection = connection;
    this.#busyTimeoutMs = busyTimeoutMs;
  }

  read<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return whenFree(this.#busyTimeoutMs, async () => {
      // The connection is shared: inside another's transaction, its uncommitted rows would be
      // visible.
      while (this.#connection.inTransaction) await nextTurn();
      this.#renew();
      return await work(this.#sql);
    });
  }

  write<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) {
        reject(new StoreUnavailableError('the database is closed'));
        return;
      }
      this.#jobs.push({ work, resolve: resolve as Job['resolve'], reject });
      this.#committing ??= this.#commitJobs();
    });
  }

  writeOnce<Row>(statement: string, values: readonly SqlParameter[]): Promise<readonly Row[]> {
    return this.write((sql) => sql.all<Row>(statement, values));
  }

  newDeadline(): number {
    return Number.POSITIVE_INFINITY;
  }

  checkpoint(): Promise<void> {
    return this.read(async () => this.#connection.checkpoint());
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#committing;
    // Reads that waited for the commit come first.
    await nextTurn();
    this.#connection.close();
  }

  async #commitJobs(): Promise<void> {
    while (this.#jobs.length > 0) {
      await nextTurn();
      await this.#commitNext();
    }
    this.#committing = null;
  }

  /** Commits what waits now, in one transaction, and answers it. */
  async #commitNext(): Promise<void> {
    const taken: Job[] = [];
    try {
      await whenFree(this.#busyTimeoutMs, async () => {
        this.#renew();
        this.#connection.run('BEGIN IMMEDIATE');
      });
      const answers = await this.#runJobs(taken);
      this.#connection.run('COMMIT');
      for (const answer of answers) answer();
    } catch (error) {
      this.#connection.rollBack();
      const refused = taken.length > 0 ? taken : this.#jobs.splice(0);
      for (const { reject } of refused) reject(unavailable(error));
    }
  }

  /**
   * Runs the waiting jobs, and puts them into `taken`; returns what answers each, once it is
   * durable.
   */
  async #runJobs(taken: Job[]): Promise<(() => void)[]> {
    const answers: (() => void)[] = [];
    const end = performance.now() + maxCommitMs;
    do {
      const job = this.#jobs.shift();
      if (job === undefined) break;
      taken.push(job);
      answers.push(await this.#runJob(job));
    } while (performance.now() < end);
    return answers;
  }

  async #runJob({ work, resolve, reject }: Job): Promise<() => void> {
    this.#connection.run('SAVEPOINT job');
    try {
      const result = await work(this.#sql);
      this.#connection.run('RELEASE job');
      return () => resolve(result);
    } catch (error) {
      // A full disk, for one, ends the whole transaction.
      if (!this.#connection.inTransaction) throw error;
      this.#connection.run('ROLLBACK TO job');
      this.#connection.run('RELEASE job');
      return () => reject(error);
    }
  }

  /** Replaces an unusable connection as soon as the database can be used again. */
  #renew(): void {
    if (this.#isClosed) return;
    this.#connection.checkFile();
    if (this.#connection.isUnusable) this.#connection = this.#connection.reopen();
  }
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
