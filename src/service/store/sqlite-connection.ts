import { resolve } from 'node:path';
import { DatabaseSync, type DatabaseSyncInstance, type StatementSyncInstance } from '@photostructure/sqlite';
import { StoreUnavailableError } from '../errors.js';
import { checkValues } from './check-values.js';
import type { SqlRow, SqlValue } from './sql-driver.js';
import { breaksConnection, toStoreFault } from './sqlite-faults.js';
import { fileIdentity, makeSqliteFile, refuseForeignDatabase } from './sqlite-file.js';

interface Prepared {
  readonly statement: StatementSyncInstance;
  /** How many values it takes. */
  readonly values: number;
}

/** One connection to a SQLite file, or to `:memory:`, which runs statements at once and keeps them prepared. */
export class SqliteConnection {
  readonly #path: string;
  /** Which file it is; `null` in memory. */
  readonly #identity: string | null;
  readonly #database: DatabaseSyncInstance;
  #isBroken = false;
  readonly #prepared = new Map<string, Prepared>();

  /**
   * Opens the file, and makes it where there is none, for its owner alone. A database that another process locks
   * throws at once, here and later.
   */
  constructor(file: string) {
    const inMemory = file === ':memory:';
    // SQLite gives its -wal and -shm files the mode of the database file. A resolved path is never a file: URI.
    this.#path = inMemory ? file : resolve(file);
    if (!inMemory) makeSqliteFile(this.#path);
    this.#identity = inMemory ? null : fileIdentity(this.#path);
    this.#database = new DatabaseSync(this.#path, { timeout: 0 });
    try {
      this.#database.exec(
        'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF',
      );
    } catch (error) {
      this.#database.close();
      throw toStoreFault(error);
    }
  }

  /** Whether it is of no more use: closed, or the file is damaged, gone, or another one than was opened. */
  get isSpent(): boolean {
    return this.#isBroken || !this.#database.isOpen;
  }

  /** What is written to a file that was removed is lost. */
  checkFile(): void {
    if (this.#identity !== null && fileIdentity(this.#path) !== this.#identity) this.#isBroken = true;
  }

  /**
   * The database on a new connection, in place of a spent one. Throws a StoreUnavailableError where there is no
   * database on which the same statements can be run.
   */
  reopen(): SqliteConnection {
    this.close();
    if (this.#identity !== null && fileIdentity(this.#path) === null) {
      throw new StoreUnavailableError('the database file is gone');
    }
    try {
      refuseForeignDatabase(this.#path);
      const anew = new SqliteConnection(this.#path);
      // What makes tables could not be run again.
      anew.#prepareAll([...this.#prepared.keys()].filter((sql) => !sql.startsWith('CREATE ')));
      return anew;
    } catch (cause) {
      const fault = toStoreFault(cause);
      if (fault instanceof StoreUnavailableError) throw fault;
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

  close(): void {
    if (this.#database.isOpen) this.#database.close();
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

  #prepareAll(statements: readonly string[]): void {
    try {
      for (const sql of statements) this.#prepare(sql);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  #prepare(sql: string): Prepared {
    const known = this.#prepared.get(sql);
    if (known !== undefined) return known;
    const prepared = {
      statement: this.#database.prepare(sql),
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
