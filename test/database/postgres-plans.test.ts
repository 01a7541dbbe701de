import { expect, it } from 'vitest';
import { createStore } from '../../src/service/store/store.js';
import { everyPostgresStatement } from '../support/every-statement.js';
import { createPostgresDatabase } from '../support/postgres/postgres-database.js';
import { fillStore, plansOf } from '../support/postgres/postgres-plans.js';
import { execute } from '../support/postgres/test-schema.js';

/** Above that, PostgreSQL compiles a statement at each execution, for a second and more. */
const jitAboveCost = 100_000;

const tables = 'apps, tenants, users, user_values, codes, nonces, audit, service_state';
const addRow = `
  INSERT INTO users VALUES ('acme', 'first', '{}', 1); INSERT INTO user_values VALUES ('acme', 'first', 'first');
  INSERT INTO codes VALUES ('acme', 'first', 'first', NULL, 9, 1); INSERT INTO nonces VALUES ('acme', 'k', 'first', 9);`;

it.each([
  ['that are right', '', true],
  ['that are missing', '', false],
  ['of empty tables', `VACUUM ANALYZE ${tables}`, false],
  ['of one row', `${addRow} ANALYZE ${tables}`, false],
])('finds by an index what each statement names, with statistics %s', async (_, before, isAnalysed) => {
  const database = await createPostgresDatabase();
  const driver = await database.open({ poolSize: 1 });
  await createStore(driver);
  await execute(database.url, before);
  // Enough for PostgreSQL to look for a better way than to read them all.
  await fillStore(database.url, driver, 20_000, isAnalysed);
  for (const [name, plan] of await plansOf(driver, everyPostgresStatement)) {
    expect(plan, name).not.toMatch(/Seq Scan on (?!service_state|tenants)/);
    for (const [, cost] of plan.matchAll(/\.\.([\d.]+) rows/g)) {
      expect(Number(cost), `${name}\n${plan}`).toBeLessThan(jitAboveCost);
    }
  }
  await database.remove();
});
