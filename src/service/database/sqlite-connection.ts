import { chmodSync, closeSync, openSync, realpathSync, type Stats, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite';
import { isSystemError } from '../../core/support/errors.js';
import { missingDatabase, StartError, StoreUnavailableError } from './errors.js';
import { inSqlite } from './sql-dialects.js';
import { checkValues, oneLine, type SqlParameter } from './sql-driver.js';
import { needsReconnect, translateSqliteError } from './sqlite-errors.js';

/** `node:sqlite`, or the package that has the same interface. */
export type SqliteLibrary = Pick<typeof import('@photostructure/sqlite'), 'DatabaseSync'>;

interface Prepared {
  readonly statement: StatementSyncInstance;
  readonly parameterCount: number;
}

const tableNames = oneLine`
  SELECT name
  FROM store.sqlite_schema
  WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`;

/**
 * What SQLite sets aside of a large change stays in memory: it is about persons, and a folder for
 * it may be missing. The cache is 16 MB instead of 2 MB, for the indexes of some 30,000 users. The
 * -wal file is written into the database after 4000 pages (16 MB) instead of 1000: a page that many
 * commits change is then written less often.
 */
const settings = `
  PRAGMA temp_store = MEMORY;
  PRAGMA store.secure_delete = ON;
  PRAGMA store.journal_mode = WAL;
  PRAGMA store.synchronous = FULL;
  PRAGMA store.cache_size = -16000;
  PRAGMA wal_autocheckpoint = 4000;
  PRAGMA trusted_schema = OFF;`;

/**
 * A connection to a SQLite file, or to `:memory:`, which runs statements synchronously and keeps
 * them prepared. The library finalizes a statement when it is garbage collected, and SQLite keeps a
 * file open and locked while a statement of its connection exists. So the file is attached to an
 * in-memory database, as `store`: it can be detached at any time.
 */
export class SqliteConnection {
  readonly #library: SqliteLibrary;
  readonly #path: string;
  /** Device and inode of the file; `null` in memory. */
  readonly #identity: string | null;
  readonly #database: DatabaseSyncInstance;
  #isBroken = false;
  readonly #prepared = new Map<string, Prepared>();

  /**
   * Opens the file, or creates it for its owner alone, unless `create` is false: then an empty file
   * stays unchanged, too. A lock of another process is an error at once, here and later. Nothing is
   * written to a database of another application.
   *
   * @throws StartError for a missing file, or a database of another application
   */
  constructor(library: SqliteLibrary, file: string, create: boolean) {
    this.#library = library;
    const inMemory = file === ':memory:';
    // A resolved path is never a file: URI.
    this.#path = inMemory ? file : resolve(file);
    if (!inMemory) createSqliteFile(this.#path, create);
    this.#identity = inMemory ? null : fileIdentity(this.#path);
    this.#database = new library.DatabaseSync(':memory:', { timeout: 0 });
    try {
      this.#database.exec(`ATTACH '${this.#path.replaceAll("'", "''")}' AS store`);
      const hasTables = this.#refuseForeignTables(file);
      // An empty file may belong to another application.
      if (!create && !hasTables) return;
      if (!inMemory) restrictToOwner(this.#path);
      this.#database.exec(settings);
    } catch (error) {
      this.#detach();
      throw translateSqliteError(error);
    }
  }

  /**
   * Closes the connection if the file is gone or replaced: what is written would be lost, and
   * another program may remove its -wal file.
   *
   * @throws StoreUnavailableError in that case
   */
  checkFile(): void {
    if (this.#identity === null) return;
    const identity = fileIdentity(this.#path);
    if (identity === this.#identity) return;
    this.#detach();
    if (identity === null) throw new StoreUnavailableError('the database file is gone');
    throw new StoreUnavailableError('the database file was replaced while it was in use');
  }

  /** Whether the connection is closed, or may have read wrong data. */
  get isUnusable(): boolean {
    return this.#isBroken || !this.#database.isOpen;
  }

  /**
   * Opens a new connection in place of an unusable one.
   *
   * @throws StoreUnavailableError if the file cannot be used
   */
  reopen(): SqliteConnection {
    this.close();
    try {
      return new SqliteConnection(this.#library, this.#path, false);
    } catch (cause) {
      if (cause instanceof StoreUnavailableError) throw cause;
      throw new StoreUnavailableError('the database file is not the one that was opened', {
        cause,
      });
    }
  }

  get inTransaction(): boolean {
    return this.#database.isOpen && this.#database.isTransaction;
  }

  run(sql: string, values: readonly SqlParameter[] = []): number {
    return this.#with(sql, values, (statement) => statement.run(...values).changes);
  }

  all<Row>(sql: string, values: readonly SqlParameter[] = []): readonly Row[] {
    return this.#with(sql, values, (statement) => statement.all(...values) as Row[]);
  }

  /**
   * Rolls back a failed transaction; SQLite may have done so already. If that fails, the connection
   * is closed.
   */
  rollBack(): void {
    try {
      if (this.inTransaction) this.run('ROLLBACK');
    } catch {
      this.close();
    }
  }

  /**
   * Writes the -wal file into the database and truncates it, unless another connection prevents
   * that.
   */
  checkpoint(): void {
    this.#try('PRAGMA store.wal_checkpoint(TRUNCATE)');
  }

  /** Leaves the database in one file, unless another connection is open. */
  close(): void {
    const isOurs = this.#identity === null || fileIdentity(this.#path) === this.#identity;
    if (isOurs && !this.isUnusable) this.checkpoint();
    this.#detach();
  }

  #detach(): void {
    if (!this.#database.isOpen) return;
    this.#try('DETACH store');
    this.#database.close();
  }

  #try(sql: string): void {
    try {
      this.#database.exec(sql);
    } catch {
      // Committed data stays in the -wal file.
    }
  }

  /** Returns whether there are tables. */
  #refuseForeignTables(file: string): boolean {
    const tables = this.#database.prepare(tableNames).all();
    if (tables.length === 0) return false;
    if (tables.some(({ name }) => name === 'userinfo_migrations')) return true;
    throw new StartError(
      `cannot open the database ${file}: it holds the tables of another application`,
      { hint: 'Use a separate database for the service.' },
    );
  }

  #with<T>(
    sql: string,
    values: readonly SqlParameter[],
    use: (statement: StatementSyncInstance) => T,
  ): T {
    checkValues(values);
    if (!this.#database.isOpen) throw new StoreUnavailableError('the database is closed');
    try {
      const { statement, parameterCount } = this.#prepare(sql);
      if (values.length !== parameterCount) {
        throw new RangeError(`${parameterCount} values wanted, ${values.length} given`);
      }
      return use(statement);
    } catch (error) {
      if (needsReconnect(error)) this.#isBroken = true;
      throw translateSqliteError(error);
    }
  }

  #prepare(sql: string): Prepared {
    const cached = this.#prepared.get(sql);
    if (cached !== undefined) return cached;
    const prepared = {
      statement: this.#database.prepare(inSqlite(sql)),
      parameterCount: new Set(sql.match(/\$\d+/g)).size,
    };
    this.#prepared.set(sql, prepared);
    return prepared;
  }
}

/**
 * Creates the file of a database for its owner alone, if it is missing and `create` is true. An
 * existing file is never opened outside SQLite: closing any descriptor of it drops all locks that
 * this process holds on it (https://www.sqlite.org/howtocorrupt.html, 2.2).
 *
 * @throws Error if the path is not a file
 * @throws StartError if there is no file and `create` is false
 */
function createSqliteFile(path: string, create: boolean): void {
  const stats = statsOf(path);
  // Opening a pipe would block until its other end is opened.
  if (stats?.isFile() === false) throw new StoreUnavailableError('it is not a file');
  if (stats !== undefined) return;
  if (!create) {
    throw new StartError(`there is no database at ${path}`, missingDatabase);
  }
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    // Another process created it in the meantime.
    if (!isSystemError(error, 'EEXIST')) throw error;
  }
}

/** Sets mode 0600 for a database and its -wal and -shm files: they hold app secrets. */
function restrictToOwner(path: string): void {
  // If the path is a link, the other files are next to its target.
  const database = realpathSync(path);
  for (const file of [database, `${database}-wal`, `${database}-shm`]) {
    if (((statsOf(file)?.mode ?? 0) & 0o077) === 0) continue;
    try {
      chmodSync(file, 0o600);
    } catch {
      // Only the owner can, on a file system with modes.
    }
  }
}

/** Device and inode, which tell a file from a replacement; `null` if there is none. */
function fileIdentity(path: string): string | null {
  const stats = statsOf(path);
  return stats === undefined ? null : `${stats.dev}:${stats.ino}`;
}

function statsOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}
