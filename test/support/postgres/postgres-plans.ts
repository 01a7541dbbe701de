import type { SqlDriver } from '../../../src/service/database/sql-driver.js';
import { createStore } from '../../../src/service/store/store.js';
import { execute } from './test-schema.js';

/**
 * Fills a store with so many rows a table, of twenty tenants. `analyze`: whether PostgreSQL gathers
 * statistics of them.
 */
export async function fillStore(
  url: string,
  driver: SqlDriver,
  rows: number,
  analyze = true,
): Promise<void> {
  await createStore(driver);
  const fill = (table: string, values: string) =>
    `INSERT INTO ${table} SELECT ${values} FROM generate_series(1, ${rows}) n;`;
  await execute(
    url,
    `${fill('apps', "'app' || n, 's', 'acme', 'web', NULL, 1")}
     ${fill('users', "'tenant' || n % 20, 'u' || n, '{}', 1")}
     ${fill('user_values', "'tenant' || n % 20, md5(n::text), 'u' || n")}
     ${fill('codes', "'tenant' || n % 20, 'c' || n, 'u' || n, NULL, n, 1")}
     ${fill('nonces', "'tenant' || n % 20, 'k', 'random' || n, n")}
     ${fill('audit', "n, n, 'root', 'user show', 'tenant' || n % 20, 'u' || n, md5(n::text)")}
     ${analyze ? 'ANALYZE apps, users, user_values, codes, nonces, audit' : ''}`,
  );
}

/** How PostgreSQL would run each statement, whatever it is given. */
export async function plansOf(
  driver: SqlDriver,
  statements: Readonly<Record<string, string>>,
): Promise<Map<string, string>> {
  const plans = new Map<string, string>();
  for (const [name, statement] of Object.entries(statements)) {
    if (statement.startsWith('LOCK TABLE')) continue;
    const values = [...new Set(statement.match(/\$\d+/g))].map(() => 'NULL');
    const rows = await driver.write(async (sql) => {
      await sql.run('SET LOCAL plan_cache_mode = force_generic_plan');
      await sql.run(`PREPARE planned AS ${statement}`);
      const plan = await sql.all(
        `EXPLAIN EXECUTE planned${values.length === 0 ? '' : `(${values})`}`,
      );
      await sql.run('DEALLOCATE planned');
      return plan;
    });
    plans.set(name, rows.map((row) => row['QUERY PLAN']).join('\n'));
  }
  return plans;
}
