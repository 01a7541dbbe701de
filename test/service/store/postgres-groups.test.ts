import { afterEach, beforeEach, expect, it } from 'vitest';
import type { SqlDriver } from '../../../src/database/sql-driver.js';
import type { App } from '../../../src/service/store/apps.js';
import { createStore, type Store } from '../../../src/service/store/store.js';
import { Secret } from '../../../src/signing/secret.js';
import { createPostgresDatabase, type PostgresDatabase } from '../../support/postgres/postgres-database.js';
import { query } from '../../support/postgres/test-schema.js';
import { user } from '../../support/running-service.js';

const app: App = {
  app_key: 'k1',
  app_secret: new Secret('s1'),
  tenant_code: 'acme',
  channel: 'web',
  recipes: null,
  created_at: 1,
  old_secret: null,
  old_until: 0,
  disabled: false,
  revision: 1,
};

let database: PostgresDatabase;
let holder: SqlDriver;
let store: Store;

beforeEach(async () => {
  database = await createPostgresDatabase();
  holder = await database.open();
  store = await createStore(await database.open({}, 'statement_timeout=2000'));
  await store.write(async ({ apps, users }) => {
    await apps.add(app);
    await users.putAll([user('u1'), user('u2')]);
  });
});
afterEach(() => database.remove());

let serial = 0;
const passBack = (unionId: string) =>
  store.passBack({
    app,
    random: `random${serial++}`,
    user: { by: 'union_id', unionId },
    change: (record) => record,
  });

/** Holds the row of u1 while work is done, which is given how many connections wait for the row. */
const whileHeld = (work: (countWaiting: () => Promise<number>) => Promise<void>) =>
  holder.write(async (sql) => {
    await sql.run("UPDATE users SET revision = revision WHERE union_id = 'u1'");
    const [own] = await sql.all('SELECT pg_backend_pid() AS pid');
    const blocked = `SELECT 1 FROM pg_stat_activity WHERE ${own?.pid} = ANY(pg_blocking_pids(pid))`;
    await work(async () => (await query(database.url, blocked)).length);
  });

it('refuses a group that the database does not answer in time, and carries out the next one', async () => {
  await whileHeld(async (countWaiting) => {
    const blocked = expect(passBack('u1')).rejects.toThrow('the database did not answer in time');
    // It is under way.
    await expect.poll(countWaiting).toBe(1);
    const others = Array.from({ length: 20 }, () => passBack('u2'));
    await blocked;
    expect((await Promise.all(others)).every((outcome) => typeof outcome === 'object')).toBe(true);
  });
  expect(await passBack('u1')).toMatchObject({ union_id: 'u1' });
});

it('refuses at once what too many requests of a tenant wait for', async () => {
  await whileHeld(async () => {
    const all = Array.from({ length: 1100 }, () => passBack('u1'));
    const ends = await Promise.allSettled(all);
    const reasons = ends.map((end) => (end.status === 'rejected' ? end.reason.message : 'carried out'));
    expect(reasons.slice(1024)).toEqual(Array(76).fill('the database is too slow for the load'));
    expect(new Set(reasons.slice(0, 1024))).toEqual(new Set(['the database did not answer in time']));
  });
  expect(await passBack('u1')).toMatchObject({ union_id: 'u1' });
});
