import { StoreUnavailableError } from '../errors.js';
import { Apps } from './apps.js';
import { Codes } from './codes.js';
import { type MigrateOptions, migrate } from './migrations.js';
import { Nonces } from './nonces.js';
import { Purge } from './purge.js';
import type { Sql, SqlDriver } from './sql-driver.js';
import { emptyStatements, statements } from './statements.js';
import { Users } from './users.js';

/** What the store holds, inside one read or one transaction. */
export interface Records {
  readonly apps: Apps;
  readonly users: Users;
  readonly codes: Codes;
  readonly nonces: Nonces;
}

/**
 * The store of the service and of its admin. Work awaits nothing but the records it is given, and may be run again
 * from its start. Throws a StoreUnavailableError where the database does not answer.
 */
export interface Store {
  /** Reads what is committed. */
  read<T>(work: (records: Records) => Promise<T>): Promise<T>;
  /** All of the work or, where it throws, nothing. Resolves when it is durable. */
  write<T>(work: (records: Records) => Promise<T>): Promise<T>;
  /** Resolves where the store can be written, and the last write since the last check did not fail for the store. */
  check(): Promise<void>;
  /**
   * Deletes what has expired, now and then, until the store is closed. No other process has the same `holder`; a
   * failure goes to `onFault`.
   */
  startPurge(holder: string, onFault: (error: unknown) => void): void;
  /** Empties the store. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

/** The store over a driver, its schema brought up to date. Throws what `migrate` throws, the driver closed. */
export async function createStore(driver: SqlDriver, options: MigrateOptions = {}): Promise<Store> {
  try {
    await migrate(driver, options);
  } catch (error) {
    await driver.close();
    throw error;
  }
  let purge: Purge | undefined;
  /** Of the last write: what a disk that is full refuses may be larger than what `check` writes. */
  let fault: StoreUnavailableError | null = null;
  return {
    read: (work) => driver.read((sql) => work(recordsOf(sql))),
    async write(work) {
      try {
        const result = await driver.write((sql) => work(recordsOf(sql)));
        fault = null;
        return result;
      } catch (error) {
        if (error instanceof StoreUnavailableError) fault = error;
        throw error;
      }
    },
    async check() {
      // One statement outside of a transaction: a process that stops in the middle holds no lock for others.
      const written = await driver.read((sql) => sql.run(statements.probe));
      if (written !== 1) throw new StoreUnavailableError('the database has lost its table service_state');
      const last = fault;
      fault = null;
      if (last !== null) throw last;
    },
    startPurge(holder, onFault) {
      purge ??= new Purge(driver, holder, onFault);
    },
    reset: () =>
      driver.write(async (sql) => {
        for (const statement of emptyStatements) await sql.run(statement);
      }),
    async close() {
      await purge?.stop();
      await driver.close();
    },
  };
}

function recordsOf(sql: Sql): Records {
  return { apps: new Apps(sql), users: new Users(sql), codes: new Codes(sql), nonces: new Nonces(sql) };
}
