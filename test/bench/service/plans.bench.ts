import { expect, it } from 'vitest';
import { openPostgresDriver } from '../../../src/database/postgres-driver.js';
import { groupStatements } from '../../../src/service/store/postgres-groups.js';
import { everyPostgresStatement } from '../../support/every-statement.js';
import { fillStore, plansOf } from '../../support/postgres/postgres-plans.js';
import { PostgresServer } from '../../support/postgres/postgres-server.js';
import { query } from '../../support/postgres/test-schema.js';

/** `USERINFO_BENCH_USERS=1000000` is the full size. */
const users = Number(process.env.USERINFO_BENCH_USERS ?? 100_000);

const tables = ['apps', 'users', 'user_values', 'codes', 'nonces'];

it('shows how PostgreSQL finds what each statement of the store names', async () => {
  const server = await PostgresServer.create(['fsync=off', 'shared_buffers=256MB', 'max_wal_size=4GB']);
  const driver = await openPostgresDriver(server.url);
  await fillStore(server.url, driver, users);
  process.stdout.write(`\nPlans with ${users} users, values, codes and nonces\n`);
  for (const [name, plan] of await plansOf(driver, { ...everyPostgresStatement, ...groupStatements })) {
    const scans = plan.match(/(?:Index (?:Only )?Scan|Seq Scan|Bitmap \w+ Scan)[^(]*|Conflict Arbiter.*/g);
    process.stdout.write(
      `  ${name.padEnd(18)}${scans?.map((scan) => scan.trim()).join('; ') ?? 'no scan'}\n`,
    );
    expect(plan, name).not.toContain('Seq Scan');
  }
  process.stdout.write('\nBytes a row, its indexes included\n');
  for (const table of tables) {
    const [size] = await query(server.url, `SELECT pg_total_relation_size('${table}') / ${users} AS bytes`);
    process.stdout.write(`  ${table.padEnd(18)}${size?.bytes}\n`);
  }
  await driver.close();
  await server.remove();
});
