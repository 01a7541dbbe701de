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
  old_ends: 0,
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
const passBack = (
  unionId: string,
  by = app,
  change = (record: UserRecord) => record,
  to = store,
  random = `random${serial++}`,
) => to.passBack({ app: by, random, user: { by: 'union_id', unionId }, change });

/** Holds the row of u1 while work is done. */
const whileHeld = (work: () => Promise<void>) =>
  holder.write(async (sql) => {
    await sql.run("UPDATE users SET revision = revision WHERE union_id = 'u1'");
    await work();
  });

it('reads apps that are asked for at once by one statement, whoever names them', async () => {
  const driver = await database.open({ poolSize: 1 });
  const asked = await createStore(driver);
  const runs = async () => {
    const [row] = await driver.read((sql) =>
      sql.all(
        "SELECT SUM(generic_plans + custom_plans)::int AS runs FROM pg_prepared_statements WHERE statement LIKE '%FROM apps %'",
      ),
    );
    return Number(row?.runs);
  };
  const before = await runs();
  const keys = [...Array.from({ length: 255 }, (_, index) => `nobody${index}`), app.app_key];
  const found = await Promise.all(keys.map((key) => asked.findApp(key)));
  expect(found.flatMap((one) => one?.app_key ?? [])).toEqual([app.app_key]);
  expect((await runs()) - before).toBe(1);
});

it('refuses a group that the database does not answer in time, and carries out the next one', async () => {
  await holder.write(async (sql) => {
    // Another transaction is about to use the same random.
    await sql.run("INSERT INTO nonces VALUES ('acme', 'k1', 'stuck', 9999999999)");
    const [own] = await sql.all('SELECT pg_backend_pid() AS pid');
    const blocked = `SELECT 1 FROM pg_stat_activity WHERE ${own?.pid} = ANY(pg_blocking_pids(pid))`;
    const stuck = passBack('u1', app, (record) => record, store, 'stuck');
    const refused = expect(stuck).rejects.toThrow('the database did not answer in time');
    // It is under way.
    await expect.poll(async () => (await query(database.url, blocked)).length).toBe(1);
    const others = Array.from({ length: 20 }, () => passBack('u2'));
    await refused;
    expect((await Promise.all(others)).every((outcome) => typeof outcome === 'object')).toBe(true);
  });
  expect(await passBack('u1')).toMatchObject({ union_id: 'u1' });
});

it('carries out the requests of an app while too many of another app of its tenant wait', async () => {
  const other: App = { ...app, app_key: 'k2' };
  await store.write(({ apps }) => apps.add(other));
  let blocked: Promise<unknown> | undefined;
  await whileHeld(async () => {
    blocked = Promise.allSettled(Array.from({ length: 1100 }, () => passBack('u1')));
    expect(await passBack('u2', other)).toMatchObject({ union_id: 'u2' });
    const read = await store.readUser({ app: other, random: `random${serial++}`, code: 'none' });
    expect(read).toEqual({ record: null, unionId: null });
  });
  await blocked;
});

it('carries out each of several reads with one code that come together', async () => {
  const issued = { tenant_code: 'acme', union_id: 'u1', info_names: null };
  await store.write(async ({ codes }) => {
    await codes.add({ ...issued, code: 'unlimited', uses_left: null }, 60);
    await codes.add({ ...issued, code: 'twice', uses_left: 2 }, 60);
  });
  const read = (code: string) =>
    Promise.all(Array.from({ length: 5 }, () => store.readUser({ app, random: `random${serial++}`, code })));
  expect(
    (await read('unlimited')).filter((outcome) => typeof outcome === 'object' && outcome.record !== null),
  ).toHaveLength(5);
  const refused = (await read('twice')).filter((it) => typeof it === 'object' && it.record === null);
  expect(refused).toEqual(Array(3).fill({ record: null, unionId: 'u1' }));
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

it('refuses at once what too many requests of an app, or of a locked row, wait for', async () => {
  await whileHeld(async () => {
    const ends: string[] = [];
    const all = Array.from({ length: 1100 }, async (_, index) => {
      await passBack('u1').catch((error) => {
        ends[index] = error.message;
      });
    });
    // 64 of them wait for the row; others of the app are carried out meanwhile.
    await expect.poll(() => ends.filter(Boolean).length).toBe(1100 - 64);
    expect(await passBack('u2')).toMatchObject({ union_id: 'u2' });
    await Promise.all(all);
    expect(ends.slice(1024)).toEqual(Array(76).fill('the database is too slow for the load'));
    expect(new Set(ends.slice(0, 1024))).toEqual(
      new Set(['the record of the user, or the code, stays locked by another transaction']),
    );
  });
  expect(await passBack('u1')).toMatchObject({ union_id: 'u1' });
});

it('looks a user up anew, with the same random, who loses the value to an earlier request of the group', async () => {
  await store.write(({ users }) => users.putAll([user('u1', { extension_info: { seat: '1' } })]));
  const byValue = () =>
    store.passBack({
      app,
      random: `random${serial++}`,
      user: { by: 'primary_key', name: 'seat', value: '1' },
      change: (record) => record,
    });
  const moved = passBack('u1', app, (record) => ({ ...record, extension_info: {} }));
  expect(await Promise.all([moved, byValue(), byValue()])).toEqual([
    expect.objectContaining({ union_id: 'u1' }),
    'no user',
    'no user',
  ]);
});
