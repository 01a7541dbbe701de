import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SqlDriver } from '../../src/service/database/sql-driver.js';
import { openSqliteDriver, type SqliteOptions } from '../../src/service/database/sqlite-driver.js';
import type { TestDatabase } from './store-contract.js';

/** A SQLite file in a folder of its own. */
export interface SqliteDatabase extends TestDatabase {
  readonly file: string;
  open(options?: SqliteOptions): Promise<SqlDriver>;
}

export async function createSqliteDatabase(): Promise<SqliteDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'userinfo-store-'));
  const file = join(folder, 'test.db');
  const drivers: SqlDriver[] = [];
  return {
    file,
    async open(options) {
      const driver = await openSqliteDriver(file, options);
      drivers.push(driver);
      return driver;
    },
    async remove() {
      await Promise.all(drivers.map((driver) => driver.close()));
      await rm(folder, { recursive: true });
    },
  };
}
