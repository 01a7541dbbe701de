import { Apps } from './apps.js';
import { Codes } from './codes.js';
import { migrate } from './migrations.js';
import { Nonces } from './nonces.js';
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
  /** Resolves where the store answers. */
  check(): Promise<void>;
  /** Empties the store. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

/** The store over a driver, its schema brought up to date. Throws what `migrate` throws, the driver closed. */
export async function createStore(driver: SqlDriver): Promise<Store> {
  try {
    await migrate(driver);
  } catch (error) {
    await driver.close();
    throw error;
  }
  return {
    read: (work) => driver.read((sql) => work(recordsOf(sql))),
    write: (work) => driver.write((sql) => work(recordsOf(sql))),
    check: async () => {
      await driver.read((sql) => sql.all(statements.findApp, ['']));
    },
    reset: () =>
      driver.write(async (sql) => {
        for (const statement of emptyStatements) await sql.run(statement);
      }),
    close: () => driver.close(),
  };
}

function recordsOf(sql: Sql): Records {
  return { apps: new Apps(sql), users: new Users(sql), codes: new Codes(sql), nonces: new Nonces(sql) };
}
