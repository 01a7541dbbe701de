import { chmodSync, closeSync, openSync, realpathSync, type Stats, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { DatabaseSync, type DatabaseSyncInstance, type StatementSyncInstance } from '@photostructure/sqlite';
import { StartError, StoreUnavailableError } from './errors.js';
import { checkValues, type SqlRow, type SqlValue } from './sql-driver.js';
import { breaksConnection, toStoreFault } from './sqlite-errors.js';

interface Prepared {
  readonly statement: StatementSyncInstance;
  /** How many values it takes. */
  readonly values: number;
}

const tableNames =
  "SELECT name FROM store.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";

/** What SQLite sets aside of a large change stays in memory: it is about persons, and a folder for it may be missing. */
const settings = `
  PRAGMA temp_store = MEMORY;
  PRAGMA store.secure_delete = ON;
  PRAGMA store.journal_mode = WAL;
  PRAGMA store.synchronous = FULL;
  PRAGMA trusted_schema = OFF;`;

/**
 * One connection to a SQLite file, or to `:memory:`, which runs statements at once and keeps them prepared. The library
 * ends a statement when it is garbage, and SQLite keeps a file open and locked while a statement of its connection is
 * left. So the file is attached to a database in memory, as `store`: it can be detached whatever is left.
 */
export class SqliteConnection {
  readonly #path: string;
  /** Which file it is; `null` in memory. */
  readonly #identity: string | null;
  readonly #database: DatabaseSyncInstance;
  #isBroken = false;
  readonly #prepared = new Map<string, Prepared>();

  /**
   * Opens the file; where there is none it makes one, for its owner alone, unless `create` is false: then an empty
   * one is left as it is, too. A database that another process locks throws at once, here and later. Throws a
   * StartError for a file that is missing, and for a database of another application, to which nothing is written.
   */
  constructor(file: string, create: boolean) {
    const inMemory = file === ':memory:';
    // A resolved path is never a file: URI.
    this.#path = inMemory ? file : resolve(file);
    if (!inMemory) makeSqliteFile(this.#path, create);
    this.#identity = inMemory ? null : fileIdentity(this.#path);
    this.#database = new DatabaseSync(':memory:', { timeout: 0 });
    try {
      this.#database.exec(`ATTACH '${this.#path.replaceAll("'", "''")}' AS store`);
      const hasTables = this.#refuseForeignTables(file);
      // An empty file may be anybody's.
      if (!create && !hasTables) return;
      if (!inMemory) keepFromOthers(this.#path);
      this.#database.exec(settings);
    } catch (error) {
      this.#detach();
      throw toStoreFault(error);
    }
  }

  /**
   * Throws a StoreUnavailableError while the file is gone, or another one is in its place, and closes it: what is
   * written to it would be lost, and another program may take its -wal file away.
   */
  checkFile(): void {
    if (this.#identity === null) return;
    const found = fileIdentity(this.#path);
    if (found === this.#identity) return;
    this.#detach();
    throw new StoreUnavailableError(
      found === null ? 'the database file is gone' : 'the database file was replaced while it was in use',
    );
  }

  /** Whether it can be used no more: closed, or what it read may be wrong. */
  get isSpent(): boolean {
    return this.#isBroken || !this.#database.isOpen;
  }

  /** The database on a new connection, in place of a spent one. Throws a StoreUnavailableError where it cannot be used. */
  reopen(): SqliteConnection {
    this.close();
    try {
      return new SqliteConnection(this.#path, false);
    } catch (cause) {
      if (cause instanceof StoreUnavailableError) throw cause;
      throw new StoreUnavailableError('the database file is not the one that was opened', { cause });
    }
  }

  get inTransaction(): boolean {
    return this.#database.isOpen && this.#database.isTransaction;
  }

  run(sql: string, values: readonly SqlValue[] = []): number {
    return this.#with(sql, values, (statement, bound) => statement.run(bound).changes);
  }

  all(sql: string, values: readonly SqlValue[] = []): readonly SqlRow[] {
    return this.#with(sql, values, (statement, bound) => statement.all(bound) as SqlRow[]);
  }

  /** Ends a transaction that failed; SQLite may have ended it already. One that cannot be ended ends the connection. */
  rollBack(): void {
    try {
      if (this.inTransaction) this.run('ROLLBACK');
    } catch {
      this.close();
    }
  }

  /** Brings the -wal file into the database and empties it, unless another connection is in the way just now. */
  checkpoint(): void {
    this.#try('PRAGMA store.wal_checkpoint(TRUNCATE)');
  }

  /** Leaves the database in one file, unless another connection is open. */
  close(): void {
    const isOurs = this.#identity === null || fileIdentity(this.#path) === this.#identity;
    if (isOurs && !this.isSpent) this.checkpoint();
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
      // What is committed stays in the -wal file.
    }
  }

  /** Gives whether there are tables. */
  #refuseForeignTables(file: string): boolean {
    const tables = this.#database.prepare(tableNames).all();
    if (tables.length === 0) return false;
    if (tables.some(({ name }) => name === 'userinfo_migrations')) return true;
    throw new StartError(
      'CANNOT_OPEN_DATABASE',
      `cannot open the database ${file}: it holds the tables of another application`,
      { hint: 'Use a database of its own for the service.' },
    );
  }

  #with<T>(
    sql: string,
    values: readonly SqlValue[],
    use: (statement: StatementSyncInstance, bound: Record<string, SqlValue>) => T,
  ): T {
    const bound = bind(values);
    try {
      const { statement, values: wanted } = this.#prepare(sql);
      if (values.length !== wanted) throw new RangeError(`${wanted} values wanted, ${values.length} given`);
      return use(statement, bound);
    } catch (error) {
      if (breaksConnection(error)) this.#isBroken = true;
      throw toStoreFault(error);
    }
  }

  #prepare(sql: string): Prepared {
    const known = this.#prepared.get(sql);
    if (known !== undefined) return known;
    // Without a schema, CREATE makes a table in the database in memory.
    const inStore = sql.replace(/^CREATE (?:TABLE|INDEX) (?:IF NOT EXISTS )?/, '$&store.');
    const prepared = {
      statement: this.#database.prepare(inStore),
      values: new Set(sql.match(/\$\d+/g)).size,
    };
    this.#prepared.set(sql, prepared);
    return prepared;
  }
}

/** Values by the number of their place: the library would number `$2` before `$1` by appearance. */
function bind(values: readonly SqlValue[]): Record<string, SqlValue> {
  checkValues(values);
  return Object.fromEntries(values.map((value, index) => [index + 1, value]));
}

/**
 * Makes the file of a database for its owner alone, where there is none and `create` says so. A file that is there is
 * never opened beside SQLite: to close any descriptor of it drops every lock that this process holds on it
 * (https://www.sqlite.org/howtocorrupt.html, 2.2). Throws where something else is there, a StartError where nothing is.
 */
function makeSqliteFile(path: string, create: boolean): void {
  const stats = statsOf(path);
  // To open a pipe would wait for its other end, and nothing could end that.
  if (stats?.isFile() === false) throw new Error('it is not a file');
  if (stats !== undefined) return;
  if (!create) {
    throw new StartError('CANNOT_OPEN_DATABASE', `there is no database at ${path}`, {
      hint: 'Name the one of the service with --database, or start the service first.',
    });
  }
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    // Another process made it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Gives a database and its -wal and -shm files mode 0600: they hold app secrets. */
function keepFromOthers(path: string): void {
  // Where the path is a link, the others are beside the file that it leads to.
  const database = realpathSync(path);
  for (const file of [database, `${database}-wal`, `${database}-shm`]) {
    if (((statsOf(file)?.mode ?? 0) & 0o077) === 0) continue;
    try {
      chmodSync(file, 0o600);
    } catch {
      // Only its owner can, on a file system that has modes.
    }
  }
}

/** Tells one file from another that takes its place; `null` where there is none. */
function fileIdentity(path: string): string | null {
  const stats = statsOf(path);
  return stats === undefined ? null : `${stats.dev}:${stats.ino}`;
}

function statsOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}
