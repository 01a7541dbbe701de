import { Client } from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
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
});
afterEach(async () => {
  await Promise.all([program.end(), older.end()]);
  await schema.remove();
});

/** The tables as the version wrote them that had so many steps. */
async function createVersion(count: number): Promise<void> {
  const steps = storeSchema.steps.slice(0, count).flat();
  const versions = Array.from({ length: count }, (_, index) => `(${index + 1})`);
  await execute(
    schema.url,
    `${steps.join(';').replaceAll(' WITHOUT ROWID', '')};
     CREATE TABLE userinfo_migrations (version BIGINT NOT NULL PRIMARY KEY);
     INSERT INTO userinfo_migrations VALUES ${versions}`,
  );
}

const waitsFor = async (statement: string) => {
  const waiting = `SELECT query FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '${statement}%'`;
  await expect.poll(async () => (await query(schema.url, waiting)).length).toBeGreaterThan(0);
};

it('does not stop a service of the older version while another program reads a table', async () => {
  await createVersion(2);
  await program.query('BEGIN');
  await program.query('SELECT count(*) FROM apps');
  let isOver = false;
  const migration = migrateDatabase({ database: schema.url }).finally(() => {
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
  const { length: to } = storeSchema.steps;
  expect(await migration).toEqual({ from: 2, to });
  const [row] = await query(schema.url, 'SELECT * FROM userinfo_migrations ORDER BY version DESC LIMIT 1');
  expect(row).toEqual({ version: String(to), works_with: String(storeSchema.worksWith) });
});

it('builds an index beside the writes of the older version, and several processes build it once', async () => {
  await createVersion(1);
  // Of a migration that was killed.
  const failed = 'CREATE UNIQUE INDEX CONCURRENTLY codes_by_expiry_new ON codes (union_id)';
  await execute(
    schema.url,
    "INSERT INTO codes SELECT 'acme', n, 'u1', NULL, 1, 1 FROM generate_series(1, 2) n",
  );
  await expect(execute(schema.url, failed)).rejects.toThrow('could not create unique index');
  const insert = (code: string) => `INSERT INTO codes VALUES ('acme', '${code}', 'u1', NULL, 1, 1)`;
  await program.query('BEGIN');
  await program.query(insert('c1'));
  const migrations = [1, 2].map(() => migrateDatabase({ database: schema.url }));
  for (const migration of migrations) migration.catch(() => {});
  await waitsFor('% INDEX CONCURRENTLY ');
  await older.query(insert('c2'));
  await program.query('COMMIT');
  const { length: to } = storeSchema.steps;
  expect((await Promise.all(migrations)).map((migration) => migration.to)).toEqual([to, to]);
  const indexes = await query(
    schema.url,
    `SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema() AND indexname LIKE '%_by_expiry%' ORDER BY 1`,
  );
  expect(indexes.map(({ indexdef }) => String(indexdef).replace(/\w+\.(?=codes|nonces)/, ''))).toEqual([
    'CREATE INDEX codes_by_expiry ON codes USING btree (expires_at)',
    'CREATE INDEX nonces_by_expiry ON nonces USING btree (expires_at)',
  ]);
  const invalid = await query(
    schema.url,
    "SELECT indexrelid FROM pg_index WHERE NOT indisvalid AND indrelid = 'codes'::regclass",
  );
  expect(invalid).toEqual([]);
});
