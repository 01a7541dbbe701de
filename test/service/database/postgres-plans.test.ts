import { expect, it } from 'vitest';
import { onceStatements } from '../../../src/service/store/statements.js';
import { createStore } from '../../../src/service/store/store.js';
import { everyPostgresStatement } from '../../support/every-statement.js';
import { createPostgresDatabase } from '../../support/postgres/postgres-database.js';
import { fillStore, plansOf } from '../../support/postgres/postgres-plans.js';
import { execute } from '../../support/postgres/test-schema.js';

/** Above that, PostgreSQL compiles a statement at each execution. */
const jitAboveCost = 100_000;

/** A row that is read to be left out: one of the rows of a tenant, of which its key finds one. */
const unlikeItsKey = /^ +Filter: .*\b(?:union_id|digest|code|random)\b/m;

const tables = 'apps, users, user_values, codes, nonces, audit, service_state';
const addRow = `
  INSERT INTO users VALUES ('acme', 'first', '{}', 1); INSERT INTO user_values VALUES ('acme', 'first', 'first');
  INSERT INTO codes VALUES ('acme', 'first', 'first', NULL, 9, 1); INSERT INTO nonces VALUES ('acme', 'k', 'first', 9);`;

it.each([
  ['that are right', '', true],
  ['that are missing', '', false],
  ['of empty tables', `VACUUM ANALYZE ${tables}`, false],
  ['of one row', `${addRow} ANALYZE ${tables}`, false],
])(
  'finds by an index what each statement names, with statistics %s',
  async (_, before, isAnalysed) => {
    const database = await createPostgresDatabase();
    const driver = await database.open({ poolSize: 1 });
    await createStore(driver);
    await execute(database.url, before);
    // Enough for PostgreSQL to look for a better way than to read them all.
    await fillStore(database.url, driver, 20_000, isAnalysed);
    for (const [name, plan] of await plansOf(driver, everyPostgresStatement)) {
      expect(plan, name).not.toMatch(/Seq Scan on (?!service_state)/);
      expect(plan, name).not.toMatch(unlikeItsKey);
      for (const [, cost] of plan.matchAll(/\.\.([\d.]+) rows/g)) {
        expect(Number(cost), `${name}\n${plan}`).toBeLessThan(jitAboveCost);
      }
    }
    await database.remove();
  },
);

it('plans the statement of a request at most five times in a connection', async () => {
  const database = await createPostgresDatabase();
  const driver = await database.open({ poolSize: 1 });
  await fillStore(database.url, driver, 20_000);
  const app = ['app1', 'acme', 'web', 0];
  const values: Record<keyof typeof onceStatements, (n: number) => (string | number | string[])[]> =
    {
      readUser: (n) => [...app, `r${n}`, 'c1'],
      findVersion: () => ['tenant1', 'digest', 'u1'],
      passBackUser: (n) => [
        ...app,
        `p${n}`,
        'u1',
        '1',
        '{}',
        n % 2 ? [] : ['old'],
        ['new', 'newer'].slice(n % 3),
      ],
    };
  for (const [name, statement] of Object.entries(onceStatements)) {
    for (let n = 0; n < 20; n++)
      await driver.writeOnce(statement, values[name as keyof typeof onceStatements](n) as string[]);
  }
  const planned = await driver.read((sql) =>
    sql.all(
      "SELECT statement, custom_plans FROM pg_prepared_statements WHERE statement LIKE '%users%'",
    ),
  );
  expect(planned).toHaveLength(3);
  expect(planned.filter(({ custom_plans }) => Number(custom_plans) > 5)).toEqual([]);
  await database.remove();
});
