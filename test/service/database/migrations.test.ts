import { Client } from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { migrate, type Schema } from '../../../src/service/database/migrations.js';
import { openPostgresDriver } from '../../../src/service/database/postgres-driver.js';
import { migrateDatabase } from '../../../src/service/migrate.js';
import { storeSchema } from '../../../src/service/store/statements.js';
import {
  createSchema,
  execute,
  query,
  type TestSchema,
} from '../../support/postgres/test-schema.js';

let schema: TestSchema;
/** Another program, such as pg_dump, and what a service of the older version does. */
let program: Client;
let older: Client;

beforeEach(async () => {
  schema = await createSchema();
  program = new Client(schema.url);
  older = new Client({ connectionString: schema.url, statement_timeout: 60_000 });
  await Promise.all([program.connect(), older.connect()]);
  // Two processes that start at once.
  await Promise.all([1, 2].map(() => migrateDatabase({ database: schema.url })));
});
afterEach(async () => {
  await Promise.all([program.end(), older.end()]);
  await schema.remove();
});

/** A version to come. Columns and indexes are added to the tables of the first one. */
const nextSchema: Schema = {
  ...storeSchema,
  steps: [
    ...storeSchema.steps,
    [
      'ALTER TABLE apps ADD COLUMN made_up TEXT',
      'CREATE INDEX IF NOT EXISTS codes_by_made_up ON codes (uses_left)',
    ],
  ],
};
const to = nextSchema.steps.length;

const upgrade = async (option = '') => {
  const driver = await openPostgresDriver(schema.url + option, { probe: 'SELECT 1' });
  return await migrate(driver, nextSchema).finally(() => driver.close());
};

const waitsFor = async (statement: string) => {
  const waiting = `SELECT query FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '${statement}%'`;
  await expect.poll(async () => (await query(schema.url, waiting)).length).toBeGreaterThan(0);
};

/** A pooler has no time-outs of a session. */
const pooled = '&pgbouncer=true';

it.each(['', pooled])(
  'does not stop an older service while another program reads a table %s',
  async (option) => {
    await program.query('BEGIN');
    await program.query('SELECT count(*) FROM apps');
    let isOver = false;
    const migration = upgrade(option).finally(() => {
      isOver = true;
    });
    migration.catch(() => {});
    // What the service reads comes after the migration that waits, and is answered before it.
    for (let round = 0; round < 2; round++) {
      await waitsFor('ALTER TABLE apps');
      await older.query("SELECT app_secret FROM apps WHERE app_key = 'k'");
      expect(isOver).toBe(false);
    }
    await program.query('COMMIT');
    expect(await migration).toEqual({ from: to - 1, to });
  },
);

it('is done once by processes that start at once, and takes the index that an operator has built', async () => {
  await execute(schema.url, 'CREATE INDEX CONCURRENTLY codes_by_made_up ON codes (uses_left)');
  const indexes =
    "SELECT indexrelid FROM pg_index WHERE indexrelid = to_regclass('codes_by_made_up')";
  const built = await query(schema.url, indexes);
  const migrations = await Promise.all([1, 2, 3].map(() => upgrade()));
  expect(migrations.map((migration) => migration.from).sort()).toEqual([to - 1, to, to]);
  expect(await query(schema.url, indexes)).toEqual(built);
});
