import { expect, it } from 'vitest';
import { createStore } from '../../../src/service/store/store.js';
import { execute } from '../../support/postgres/test-schema.js';
import { everyStatement } from './every-statement.js';
import { createPostgresDatabase } from './postgres-database.js';

/** Twenty tenants with 500 rows each: enough for PostgreSQL to look for a better way than to read them all. */
const fill = `
  INSERT INTO apps SELECT 'app' || n, 's', 'acme', 'web', NULL, 1 FROM generate_series(1, 10000) n;
  INSERT INTO users SELECT 'tenant' || n % 20, 'u' || n, '{}', 1 FROM generate_series(1, 10000) n;
  INSERT INTO user_values SELECT 'tenant' || n % 20, md5(n::text), 'u' || n FROM generate_series(1, 10000) n;
  INSERT INTO codes SELECT 'tenant' || n % 20, 'c' || n, 'u' || n, NULL, n, 1 FROM generate_series(1, 10000) n;
  INSERT INTO nonces SELECT 'tenant' || n % 20, 'k', 'random' || n, n FROM generate_series(1, 10000) n;
  ANALYZE apps, users, user_values, codes, nonces`;

/** What they look up they find by key: only these check more of the row than its key. */
const checksMore = ['takeCode', 'takeNonce'];

it('looks every statement of the store up in an index of PostgreSQL', async () => {
  const database = await createPostgresDatabase();
  const driver = await database.open();
  await createStore(driver);
  await execute(database.url, fill);
  for (const [name, statement] of Object.entries(everyStatement)) {
    const rows = await driver.read((sql) => sql.all(`EXPLAIN (GENERIC_PLAN) ${statement}`));
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan, name).not.toContain('Seq Scan');
    if (!checksMore.includes(name)) expect(plan, name).not.toContain('Filter');
    if (!statement.startsWith('INSERT')) expect(plan, name).toMatch(/Index (Only )?Scan/);
  }
  await database.remove();
});
