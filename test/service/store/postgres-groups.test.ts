import { afterEach, beforeEach, expect, it } from 'vitest';
import { type SqlDriver, sharedTransactions } from '../../../src/database/sql-driver.js';
import type { UserRecord } from '../../../src/protocol/user-record.js';
import type { App } from '../../../src/service/store/apps.js';
import { createStore, type Store } from '../../../src/service/store/store.js';
import { Secret } from '../../../src/signing/secret.js';
import { turnMs } from '../../../src/support/fair-queue.js';
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
const passBack = (unionId: string, by = app, change = (record: UserRecord) => record, to = store) =>
  to.passBack({ app: by, random: `random${serial++}`, user: { by: 'union_id', unionId }, change });

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

it('carries out the requests of an app while too many of another app of its tenant wait', async () => {
  const other: App = { ...app, app_key: 'k2' };
  await store.write(({ apps }) => apps.add(other));
  await whileHeld(async () => {
    const blocked = Promise.allSettled(Array.from({ length: 1100 }, () => passBack('u1')));
    expect(await passBack('u2', other)).toMatchObject({ union_id: 'u2' });
    const read = await store.readUser({ app: other, random: `random${serial++}`, code: 'none' });
    expect(read).toBe('no code');
    await blocked;
  });
});

it('carries out each of several reads with one code that come together', async () => {
  const issued = { tenant_code: 'acme', union_id: 'u1', info_names: null };
  await store.write(async ({ codes }) => {
    await codes.add({ ...issued, code: 'unlimited', uses_left: null }, 60);
    await codes.add({ ...issued, code: 'twice', uses_left: 2 }, 60);
  });
  const read = (code: string) =>
    Promise.all(Array.from({ length: 5 }, () => store.readUser({ app, random: `random${serial++}`, code })));
  expect((await read('unlimited')).filter((outcome) => typeof outcome === 'object')).toHaveLength(5);
  expect((await read('twice')).filter((outcome) => outcome === 'no code')).toHaveLength(3);
});

it('lets the event loop run while a group of long changes is at work', async () => {
  // A transaction that is idle for 300 ms would be ended.
  const patient = await createStore(await database.open());
  let timers = 0;
  const counting = setInterval(() => timers++, 0);
  const seen = new Set<number>();
  const change = (record: UserRecord) => {
    seen.add(timers);
    for (const end = performance.now() + turnMs + 1; performance.now() < end; );
    return record;
  };
  const sizes: number[] = [];
  const note = (size: unknown) => void sizes.push(Number(size));
  sharedTransactions.subscribe(note);
  await Promise.all(Array.from({ length: 8 }, () => passBack('u1', app, change, patient)));
  sharedTransactions.unsubscribe(note);
  clearInterval(counting);
  expect(sizes).toEqual([8]);
  // The first turn may end in the one in which the answer of the database came.
  expect(seen.size).toBeGreaterThanOrEqual(7);
});

it('refuses at once what too many requests of an app wait for', async () => {
  await whileHeld(async () => {
    const all = Array.from({ length: 1100 }, () => passBack('u1'));
    const ends = await Promise.allSettled(all);
    const reasons = ends.map((end) => (end.status === 'rejected' ? end.reason.message : 'carried out'));
    expect(reasons.slice(1024)).toEqual(Array(76).fill('the database is too slow for the load'));
    expect(new Set(reasons.slice(0, 1024))).toEqual(new Set(['the database did not answer in time']));
  });
  expect(await passBack('u1')).toMatchObject({ union_id: 'u1' });
});
