import { expect, it } from 'vitest';
import { everyStatement } from './every-statement.js';
import { createPostgresDatabase } from './postgres-database.js';
import { fillStore, plansOf } from './postgres-plans.js';

/** What they look up they find by key: only these check more of the row than its key. */
const checksMore = ['takeCode', 'takeNonce', 'holdPurge', 'releasePurge'];

it('looks every statement of the store up in an index of PostgreSQL', async () => {
  const database = await createPostgresDatabase();
  const driver = await database.open();
  // Enough for PostgreSQL to look for a better way than to read them all.
  await fillStore(database.url, driver, 10_000);
  for (const [name, plan] of await plansOf(driver)) {
    expect(plan, name).not.toContain('Seq Scan');
    if (!checksMore.includes(name)) expect(plan, name).not.toContain('Filter');
    if (!everyStatement[name]?.startsWith('INSERT')) expect(plan, name).toMatch(/Index (Only )?Scan/);
  }
  await database.remove();
});
