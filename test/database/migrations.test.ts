import { Client } from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { migrate } from '../../src/database/migrations.js';
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

/** The tables that are in partitions, as PostgreSQL lists them, each with what it knows of its partitions. */
async function partitionedTables(): Promise<Record<string, unknown>[]> {
  return await query(
    schema.url,
    `SELECT parent.relname AS name, pg_get_partkeydef(parent.oid) AS key, count(*)::int AS partitions,
       min(array_to_string(child.reloptions, ' ')) AS storage
     FROM pg_class parent JOIN pg_inherits ON inhparent = parent.oid JOIN pg_class child ON child.oid = inhrelid
     WHERE parent.relkind = 'p' AND parent.relnamespace = current_schema()::regnamespace
     GROUP BY parent.oid, parent.relname ORDER BY 1`,
  );
}

it('makes the tables of users and requests of a new database in partitions', async () => {
  // Two processes that start at once.
  await Promise.all([1, 2].map(() => migrateDatabase({ database: schema.url })));
  const threshold = 'autovacuum_vacuum_threshold=1000';
  const often = `autovacuum_vacuum_scale_factor=0.01 ${threshold}`;
  const briefly = `autovacuum_vacuum_scale_factor=0.05 ${threshold}`;
  expect(await partitionedTables()).toEqual([
    { name: 'codes', key: 'HASH (code)', partitions: 4, storage: `fillfactor=85 ${briefly}` },
    { name: 'nonces', key: 'HASH (random)', partitions: 4, storage: briefly },
    { name: 'user_values', key: 'HASH (digest)', partitions: 4, storage: often },
    { name: 'users', key: 'HASH (union_id)', partitions: 4, storage: `fillfactor=85 ${often}` },
  ]);
});

it('keeps the whole tables of an older database', async () => {
  await createVersion(3);
  await execute(schema.url, "INSERT INTO users VALUES ('acme', 'u1', '{}', 1)");
  await migrateDatabase({ database: schema.url });
  expect(await partitionedTables()).toEqual([]);
  expect(await query(schema.url, 'SELECT union_id FROM users')).toEqual([{ union_id: 'u1' }]);
});

it.each([
  [
    'refuses partitions',
    `CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
       IF current_schema() = 'SCHEMA' AND current_query() LIKE '%PARTITION BY%' THEN
         RAISE 'at or near "PARTITION": syntax error';
       END IF;
     END $$;
     CREATE EVENT TRIGGER refuse_SCHEMA ON ddl_command_start WHEN TAG IN ('CREATE TABLE')
       EXECUTE FUNCTION refuse()`,
    '',
  ],
  ['distributes tables itself', "CREATE VIEW pg_extension AS SELECT 'citus' AS extname", ',pg_catalog'],
])('makes whole tables on an engine that %s', async (_, statements, more) => {
  const [row] = await query(schema.url, 'SELECT current_schema() AS name');
  await execute(schema.url, statements.replaceAll('SCHEMA', String(row?.name)));
  const { length: to } = storeSchema.steps;
  expect(await migrateDatabase({ database: `${schema.url}${more}` })).toEqual({ from: 0, to });
  expect(await partitionedTables()).toEqual([]);
  await execute(schema.url, "INSERT INTO codes VALUES ('acme', 'c1', 'u1', NULL, 1, 1)");
});

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

it('builds an index of a table in partitions beside the writes of the older version', async () => {
  await migrateDatabase({ database: schema.url });
  const insert = (code: string) => `INSERT INTO codes VALUES ('acme', '${code}', 'u1', NULL, 1, 1)`;
  await program.query('BEGIN');
  await program.query(insert('c1'));
  const driver = await openPostgresDriver(schema.url);
  const steps = [...storeSchema.steps, ['CREATE INDEX codes_by_uses ON codes (uses_left)']];
  const migration = migrate(driver, { ...storeSchema, steps });
  await waitsFor('CREATE INDEX CONCURRENTLY codes_by_uses_');
  await older.query(insert('c2'));
  await program.query('COMMIT');
  await migration;
  await driver.close();
  const indexes = await query(
    schema.url,
    `SELECT child.relname AS name, indisvalid FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
       JOIN pg_index ON indexrelid = inhrelid WHERE inhparent = 'codes_by_uses'::regclass ORDER BY 1`,
  );
  const names = Array.from({ length: 4 }, (_, number) => `codes_by_uses_${steps.length}_${number}`);
  expect(indexes).toEqual(names.map((name) => ({ name, indisvalid: true })));
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
