import {
  openPostgresDriver,
  type PostgresOptions,
} from '../../../src/service/database/postgres-driver.js';
import type { SqlDriver } from '../../../src/service/database/sql-driver.js';
import type { TestDatabase } from '../store-contract.js';
import { createSchema } from './test-schema.js';

/** A PostgreSQL schema of its own. */
export interface PostgresDatabase extends TestDatabase {
  readonly url: string;
  /** `parameters` are added to the URL. */
  open(options?: Partial<PostgresOptions>, parameters?: string): Promise<SqlDriver>;
}

export async function createPostgresDatabase(): Promise<PostgresDatabase> {
  const { url, remove } = await createSchema();
  const drivers: SqlDriver[] = [];
  return {
    url,
    async open(options, parameters = '') {
      const driver = await openPostgresDriver(`${url}&${parameters}`, {
        probe: 'SELECT 1',
        ...options,
      });
      drivers.push(driver);
      return driver;
    },
    async remove() {
      await Promise.all(drivers.map((driver) => driver.close()));
      await remove();
    },
  };
}
