import { Client } from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { migrate, type Schema } from '../../src/database/migrations.js';
import { openPostgresDriver } from '../../src/database/postgres-driver.js';
import { queueSchema } from '../../src/queue/run.js';
import { migrateDatabase } from '../../src/service/migrate.js';
import { storeSchema } from '../../src/service/store/statements.js';
import { createSchema, execute, query, type TestSchema } from '../support/postgres/test-schema.js';

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
    ['ALTER TABLE apps ADD COLUMN note TEXT', 'CREATE INDEX codes_by_uses ON codes (uses_left)'],
  ],
};
const to = nextSchema.steps.length;

const upgrade = async () => {
  const driver = await openPostgresDriver(schema.url);
  return await migrate(driver, nextSchema).finally(() => driver.close());
};

const waitsFor = async (statement: string) => {
  const waiting = `SELECT query FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '${statement}%'`;
  await expect.poll(async () => (await query(schema.url, waiting)).length).toBeGreaterThan(0);
};

it('does not stop a service of the older version while another program reads a table', async () => {
  await program.query('BEGIN');
  await program.query('SELECT count(*) FROM apps');
  let isOver = false;
  const migration = upgrade().finally(() => {
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
  expect(await migration).toEqual({ from: 1, to });
  const [row] = await query(schema.url, 'SELECT * FROM userinfo_migrations ORDER BY version DESC LIMIT 1');
  expect(row).toEqual({ version: String(to), works_with: String(storeSchema.worksWith) });
});

it('builds an index beside the writes of the older version, and several processes build it once', async () => {
  // Of a migration that was killed.
  const failed = 'CREATE UNIQUE INDEX CONCURRENTLY codes_by_uses_new ON codes (union_id)';
  await execute(
    schema.url,
    "INSERT INTO codes SELECT 'acme', n, 'u1', NULL, 1, 1 FROM generate_series(1, 2) n",
  );
  await expect(execute(schema.url, failed)).rejects.toThrow('could not create unique index');
  const insert = (code: string) => `INSERT INTO codes VALUES ('acme', '${code}', 'u1', NULL, 1, 1)`;
  await program.query('BEGIN');
  await program.query(insert('c1'));
  const migrations = [1, 2].map(upgrade);
  for (const migration of migrations) migration.catch(() => {});
  await waitsFor('% INDEX CONCURRENTLY ');
  await older.query(insert('c2'));
  await program.query('COMMIT');
  expect((await Promise.all(migrations)).map((migration) => migration.to)).toEqual([to, to]);
  const indexes = await query(
    schema.url,
    `SELECT indexname AS name FROM pg_indexes
     WHERE schemaname = current_schema() AND indexname LIKE 'codes_by_uses%'`,
  );
  expect(indexes).toEqual([{ name: 'codes_by_uses' }]);
  const invalid = await query(
    schema.url,
    "SELECT indexrelid FROM pg_index WHERE NOT indisvalid AND indrelid = 'codes'::regclass",
  );
  expect(invalid).toEqual([]);
});

it('builds the index of a table that an operator has put into partitions', async () => {
  await execute(
    schema.url,
    `CREATE TABLE parts (LIKE codes INCLUDING ALL) PARTITION BY HASH (code);
     CREATE TABLE part PARTITION OF parts FOR VALUES WITH (MODULUS 1, REMAINDER 0);
     DROP TABLE codes; ALTER TABLE parts RENAME TO codes`,
  );
  expect(await upgrade()).toEqual({ from: 1, to });
  const indexes = `SELECT inhrelid FROM pg_inherits WHERE inhparent = 'codes_by_uses'::regclass`;
  expect(await query(schema.url, indexes)).toHaveLength(1);
});

it.each([
  ['store', storeSchema],
  ['queue', queueSchema],
])(
  'the steps that an older version of the %s works with only add to its tables',
  (_, { steps, worksWith }) => {
    const addition =
      /^(?:CREATE (?:TABLE|INDEX)|DROP INDEX|INSERT INTO)\b|^ALTER TABLE \w+ ADD COLUMN (?!.*NOT NULL(?!.* DEFAULT ))/;
    for (const statement of steps.slice(worksWith).flat()) expect(statement).toMatch(addition);
  },
);
