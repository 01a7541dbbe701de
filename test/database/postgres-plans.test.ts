import { expect, it } from 'vitest';
import { migrate } from '../../src/database/migrations.js';
import { groupStatements } from '../../src/service/store/postgres-groups.js';
import { storeSchema } from '../../src/service/store/statements.js';
import { createStore } from '../../src/service/store/store.js';
import { everyPostgresStatement } from '../support/every-statement.js';
import { createPostgresDatabase } from '../support/postgres/postgres-database.js';
import { fillStore, plansOf } from '../support/postgres/postgres-plans.js';
import { execute } from '../support/postgres/test-schema.js';

/** What they look up they find by key: only these check more of the row than its key. */
const checksMore = [
  'addValue',
  'finishTenant',
  'findRevision',
  'useCode',
  'useNonce',
  'leasePurge',
  'releasePurge',
  'setStoredSecrets',
];

it('uses an index of PostgreSQL for every statement of the store', async () => {
  const database = await createPostgresDatabase();
  const driver = await database.open();
  // Enough for PostgreSQL to look for a better way than to read them all.
  await fillStore(database.url, driver, 10_000);
  for (const [name, plan] of await plansOf(driver, everyPostgresStatement)) {
    expect(plan, name).not.toContain('Seq Scan');
    if (!checksMore.includes(name)) expect(plan, name).not.toContain('Filter');
    if (!everyPostgresStatement[name]?.startsWith('INSERT')) expect(plan, name).toMatch(/Index (Only )?Scan/);
  }
  await database.remove();
});

it('uses an index even if each statement was run often while the tables were empty', async () => {
  const database = await createPostgresDatabase();
  const driver = await database.open({ poolSize: 1 });
  await createStore(driver);
  await execute(database.url, 'VACUUM ANALYZE apps, users, user_values, codes, nonces, service_state');
  for (const statement of Object.values(everyPostgresStatement)) {
    const values = [...new Set(statement.match(/\$\d+/g))].map((_, index) =>
      statement.includes('unnest(') ? [`${index}`] : `${index}`,
    );
    for (let i = 0; i < 10; i++) await driver.read((sql) => sql.all(statement, values)).catch(() => {});
  }
  await fillStore(database.url, driver, 10_000, false);
  // Plans are kept for a second.
  await new Promise((resolve) => setTimeout(resolve, 1100));
  const prepared = await driver.read((sql) =>
    sql.all(
      "SELECT name, statement, array_length(parameter_types, 1) AS values FROM pg_prepared_statements WHERE name LIKE 'userinfo%'",
    ),
  );
  expect(prepared.length).toBeGreaterThan(15);
  for (const { name, statement, values } of prepared) {
    const given = Array.from({ length: Number(values) }, (_, index) =>
      String(statement).includes('unnest(') ? `'{${index}}'` : `'${index}'`,
    );
    const plan = await driver.read((sql) => sql.all(`EXPLAIN EXECUTE ${name}(${given})`));
    expect(plan.map((row) => row['QUERY PLAN']).join('\n')).not.toMatch(
      /Seq Scan|Bitmap|Limit[\s\S]*Sort {2}\(/,
    );
  }
  await database.remove();
});

it.each([0, 1, 50])(
  'finds the rows of a group by their keys, in tables of %i00 rows and more',
  async (hundreds) => {
    const database = await createPostgresDatabase();
    const driver = await database.open({ poolSize: 1 });
    await createStore(driver);
    if (hundreds > 0) await fillStore(database.url, driver, 100 * hundreds);
    else await execute(database.url, 'VACUUM ANALYZE apps, users, user_values, codes, nonces');
    // The statistics are those of before.
    await execute(
      database.url,
      `INSERT INTO apps SELECT 'new' || n, 's', 'tenant1', 'web', NULL, 1 FROM generate_series(1, 30000) n;
     INSERT INTO codes SELECT 'tenant1', 'new' || n, 'u' || n, NULL, 9999999999, 1 FROM generate_series(1, 30000) n;
     INSERT INTO user_values SELECT 'tenant1', 'new' || n, 'u' || n FROM generate_series(1, 30000) n;
     INSERT INTO users SELECT 'tenant1', 'new' || n, '{}', 1 FROM generate_series(1, 30000) n`,
    );
    const { removeValue = '', listUsersByValue = '' } = everyPostgresStatement;
    const named = { ...groupStatements, removeValue, listUsersByValue };
    for (const [name, plan] of await plansOf(driver, named)) {
      expect(plan, name).not.toMatch(/Seq Scan|Bitmap|Hash Cond|Merge Cond/);
      const scans = plan.match(/Index (?:Only )?Scan.*\n.*Index Cond: .*/g) ?? [];
      expect(scans.length, name).toBeGreaterThan(name === 'removeValue' || name === 'giveBack' ? 0 : 1);
      for (const scan of scans) {
        expect(scan, plan).toMatch(/using \w+_pkey/);
        expect(scan, plan).toMatch(/(apps|tenants)_pkey|Cond: (?=.*tenant_code = ).* AND /);
      }
    }
    await database.remove();
  },
);

/**
 * The partitions that the group statements read for one request of tenant1; by tenant those that PostgreSQL chooses
 * before it reads anything.
 */
async function scansOfGroups(byTenant: boolean): Promise<Map<string, string[]>> {
  const database = await createPostgresDatabase();
  const driver = await database.open({ poolSize: 1 });
  const { partitioned = [], ...schema } = storeSchema;
  const tables = partitioned.map((table) => ({ ...table, ...(byTenant && { column: 'tenant_code' }) }));
  await migrate(driver, { ...schema, partitioned: tables });
  await fillStore(database.url, driver, 1000);
  const app = "'tenant1', '{app1}', '{web}', '{0}', '{1}'";
  const calls = {
    readGroup: `${app}, '{unused1}', 9999999999, 0, '{c1}'`,
    lockGroup: `${app}, '{unused2}', 9999999999, 0, '{NULL}', ARRAY[md5('1')]`,
    storeGroup: "'tenant1', '{u1}', '{new}', '{u1}', ARRAY[md5('1')], '{u1}', '{other}', '{key}'",
    giveBack: "'tenant1', 'k', '{random1}'",
  };
  await execute(
    database.url,
    "UPDATE apps SET tenant_code = 'tenant1'; UPDATE codes SET expires_at = 9999999999",
  );
  const scans = new Map<string, string[]>();
  for (const [name, statement] of Object.entries(groupStatements)) {
    const text = statement.replaceAll('unixepoch()', 'CAST(EXTRACT(EPOCH FROM now()) AS BIGINT)');
    const plan = await driver.write(async (sql) => {
      await sql.run(`PREPARE ${name} AS ${text}`);
      return await sql.all(
        `EXPLAIN (${byTenant ? '' : 'ANALYZE, '}COSTS OFF) EXECUTE ${name}(${calls[name as keyof typeof calls]})`,
      );
    });
    const lines = plan.map((row) => String(row['QUERY PLAN']));
    const read = lines.flatMap((line) =>
      line.includes('never executed') ? [] : (/Scan .*? on (\w+_\d)/.exec(line)?.[1] ?? []),
    );
    scans.set(name, [...new Set(read)].sort());
  }
  await database.remove();
  return scans;
}

it('reads one partition for each row of a group', async () => {
  const scans = await scansOfGroups(false);
  const tables = new Map(
    [...scans].map(([name, read]) => [name, read.map((partition) => partition.slice(0, -2))]),
  );
  expect(Object.fromEntries(tables)).toEqual({
    readGroup: ['codes', 'users'],
    lockGroup: ['user_values', 'users'],
    storeGroup: ['user_values'],
    giveBack: Array(4).fill('nonces'),
  });
});

it('takes the tenant of a group from a value, so that tables that are distributed by tenant are read in one place', async () => {
  const scans = await scansOfGroups(true);
  const places = [...scans].map(([name, read]) => [
    name,
    new Set(read.map((partition) => partition.slice(-1))),
  ]);
  const [[, place] = []] = places;
  expect(Object.fromEntries(places)).toEqual(
    Object.fromEntries(Object.keys(groupStatements).map((name) => [name, place])),
  );
  expect(place).toHaveLength(1);
});
