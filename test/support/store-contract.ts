import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { InvalidInputError, UserInfoError } from '../../src/core/contract/errors.js';
import { parseUserInfo } from '../../src/core/contract/user-info.js';
import {
  applyPassback,
  checkRecordSize,
  type UserRecord,
} from '../../src/core/contract/user-record.js';
import { Secret } from '../../src/core/signing/secret.js';
import { StartError, StoreUnavailableError } from '../../src/service/database/errors.js';
import { migrate } from '../../src/service/database/migrations.js';
import type { Sql, SqlDriver, SqlParameter } from '../../src/service/database/sql-driver.js';
import type { Code } from '../../src/service/store/codes.js';
import type { PassbackRequest, ReadRequest } from '../../src/service/store/operations.js';
import { statements, storeSchema } from '../../src/service/store/statements.js';
import { createStore, type Store } from '../../src/service/store/store.js';
import { Users } from '../../src/service/store/users.js';
import { user } from './running-service.js';

/**
 * An empty database of its own, which several drivers can be opened on, as several processes would.
 */
export interface TestDatabase {
  open(): Promise<SqlDriver>;
  /** Closes what was opened, and removes it. */
  remove(): Promise<void>;
}

/** What every driver and the store over it must do: run for SQLite and for PostgreSQL alike. */
export function storeContract(name: string, createDatabase: () => Promise<TestDatabase>): void {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await createDatabase();
  });
  afterEach(async () => {
    await database.remove();
  });

  describe(`the driver for ${name}`, () => {
    let driver: SqlDriver;

    beforeEach(async () => {
      driver = await database.open();
      await driver.write(async (sql) => {
        await sql.run('CREATE TABLE userinfo_migrations (version BIGINT)');
        await sql.run('CREATE TABLE things (name TEXT NOT NULL PRIMARY KEY, n BIGINT, note TEXT)');
      });
    });

    const add = (thing: string, ...n: (number | null)[]) =>
      driver.write((sql) =>
        sql.run('INSERT INTO things (name, n) VALUES ($1, $2)', [
          thing,
          ...(n.length === 0 ? [0] : n),
        ]),
      );
    const names = async () => {
      const rows = await driver.read((sql) => sql.all('SELECT name FROM things ORDER BY name'));
      return rows.map((row) => row.name);
    };

    it('runs a statement for each of many rows, whose texts stay as they are', async () => {
      const texts = ['', '"', '\\', '{}', 'NULL', ',', '\n', '张三 👍', "it's"];
      for (let i = 0; i < 2500; i++) texts.push(`text ${i}`);
      const each = (rows: readonly (readonly string[])[]) =>
        driver.write((sql) =>
          sql.each('INSERT INTO things (name, n, note) VALUES ($1, 1, $2) RETURNING note', rows),
        );
      const returned = await each(texts.map((text, index) => [`thing ${index}`, text]));
      expect(returned.map(({ note }) => note)).toEqual(texts);
      const stored = await driver.read((sql) => sql.all('SELECT name, note FROM things'));
      expect(new Map(stored.map(({ name, note }) => [name, note]))).toEqual(
        new Map(texts.map((text, index) => [`thing ${index}`, text])),
      );
      expect(await each([])).toEqual([]);
      const damaged = each([
        ...Array.from({ length: 1200 }, (_, i) => [`${i}`, 'x']),
        ['a', 'b\0c'],
      ]);
      await expect(damaged).rejects.toThrow('holds U+0000');
      expect(await names()).toHaveLength(texts.length);
    });

    it('binds a value to its number, not to its turn', async () => {
      await driver.write((sql) =>
        sql.run('INSERT INTO things (n, name) VALUES ($2, $1)', ['one', 2]),
      );
      expect(await driver.read((sql) => sql.all('SELECT name, n FROM things'))).toEqual([
        { name: 'one', n: 2 },
      ]);
      const found = await driver.read((sql) =>
        sql.all('SELECT name FROM things WHERE n = $2 AND name = $1', ['one', 2]),
      );
      expect(found).toHaveLength(1);
    });

    it.each([
      '28',
      '1.00',
      'true',
      ' ',
      '',
      "it's",
      '张三/李四',
      '😀',
      '\\u0041',
      'x'.repeat(100_000),
    ])('gives text back as it was given: %.20s', async (text) => {
      await driver.write((sql) =>
        sql.run('INSERT INTO things (name, note) VALUES ($1, $2)', ['a', text]),
      );
      expect(await driver.read((sql) => sql.all('SELECT note FROM things'))).toEqual([
        { note: text },
      ]);
    });

    it.each([0, -1, 253402300799, Number.MAX_SAFE_INTEGER, null])(
      'gives the integer %s back as a number',
      async (n) => {
        await add('thing', n);
        expect(await driver.read((sql) => sql.all('SELECT n FROM things'))).toEqual([{ n }]);
      },
    );

    it.each(['a\0b', '\ud800', 1.5, Number.NaN, 2 ** 53, true, undefined])(
      'refuses %j, which it could only store damaged',
      async (value) => {
        await expect(add('thing', value as never)).rejects.toThrow();
        await expect(add(value as never)).rejects.toThrow();
        expect(await names()).toEqual([]);
      },
    );

    it('tells how many rows a statement changed', async () => {
      await add('a');
      await add('b');
      expect(await driver.write((sql) => sql.run('UPDATE things SET n = n + 1'))).toBe(2);
      expect(
        await driver.write((sql) => sql.run('DELETE FROM things WHERE name = $1', ['c'])),
      ).toBe(0);
    });

    it('undoes the whole of a work that fails, and nothing of those beside it', async () => {
      const failing = driver.write(async (sql) => {
        await sql.run('INSERT INTO things (name, n) VALUES ($1, $2)', ['undone', 1]);
        throw new Error('on purpose');
      });
      const clashing = driver.write(async (sql) => {
        await sql.run('INSERT INTO things (name, n) VALUES ($1, $2)', ['undone too', 1]);
        await sql.run('INSERT INTO things (name, n) VALUES ($1, $2)', ['undone too', 1]);
      });
      const outcomes = await Promise.allSettled([add('first'), failing, clashing, add('last')]);
      expect(outcomes.map(({ status }) => status)).toEqual([
        'fulfilled',
        'rejected',
        'rejected',
        'fulfilled',
      ]);
      await expect(failing).rejects.toThrow('on purpose');
      expect(await names()).toEqual(['first', 'last']);
    });

    it('never shows what is not committed', async () => {
      const readings: Promise<unknown>[] = [];
      const undone = driver.write(async (sql) => {
        await sql.run('INSERT INTO things (name, n) VALUES ($1, $2)', ['undone', 1]);
        readings.push(names());
        await sql.run('UPDATE things SET n = $1', [2]);
        throw new Error('on purpose');
      });
      await expect(undone).rejects.toThrow('on purpose');
      expect(await Promise.all(readings)).toEqual([[]]);
    });

    it('loses no update of several connections', async () => {
      const others = [driver, await database.open(), await database.open()];
      await add('counter');
      const counting = Array.from({ length: 60 }, (_, i) =>
        others[i % 3]?.write((sql) => sql.run('UPDATE things SET n = n + 1')),
      );
      await Promise.all(counting);
      expect(await driver.read((sql) => sql.all('SELECT n FROM things'))).toEqual([{ n: 60 }]);
    });

    it('ends what was begun when it is closed, and refuses what comes later', async () => {
      const begun = add('begun');
      const closed = driver.close();
      await expect(add('meanwhile')).rejects.toThrow('the database is closed');
      await Promise.all([begun, closed]);
      await expect(add('late')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
      await expect(names()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
      driver = await database.open();
      expect(await names()).toEqual(['begun']);
    });
  });

  describe(`the store over ${name}`, () => {
    let driver: SqlDriver;
    let store: Store;
    let other: Store;

    beforeEach(async () => {
      driver = await database.open();
      const second = await database.open();
      // Two processes that start at once both find the schema ready.
      [store, other] = await Promise.all([createStore(driver), createStore(second)]);
    });

    const put = (...records: ReturnType<typeof user>[]) =>
      store.write(async ({ users }) => {
        await users.putAll(records);
      });
    /** To a user that is put first if there is none. */
    const issue = (issued: Omit<Code, 'expires_at'>) =>
      store.write(async ({ users, codes }) => {
        if ((await users.find('acme', issued.union_id)) === null)
          await users.putAll([user(issued.union_id)]);
        return codes.add(issued, 300);
      });
    const find = (unionId: string, tenantCode = 'acme') =>
      store.read(({ users }) => users.find(tenantCode, unionId));
    const passback = (by: [name: string, value: string], userInfo: string, tenantCode = 'acme') =>
      store.write(({ users }) =>
        users.change(tenantCode, { by: 'primary_key', name: by[0], value: by[1] }, (record) =>
          applyPassback(record, parseUserInfo(userInfo), 'text'),
        ),
      );

    it('refuses a database of a newer version', async () => {
      await driver.write((sql) => sql.run('INSERT INTO userinfo_migrations VALUES ($1)', [99]));
      const newer = await database.open();
      await expect(createStore(newer)).rejects.toThrow(StartError);
      await expect(newer.read((sql) => sql.all('SELECT 1'))).rejects.toThrow('closed');
    });

    it('gives a record back as it was put, and replaces it whole', async () => {
      const record = user('u1', {
        basic_info: { mobile: '13800138000', chat_nickname: '张三' },
        extension_info: JSON.parse('{"__proto__":"p","constructor":"c","10":"ten","9":"nine"}'),
        login_device_info: [{ brand: 'A' }, { city: '杭州' }],
        gps: '1,2',
      });
      await put(record);
      expect(await find('u1')).toEqual(record);
      await put(user('u1', { extension_info: { only: 'this' } }));
      expect(await find('u1')).toEqual(user('u1', { extension_info: { only: 'this' } }));
      expect(await passback(['mobile', '13800138000'], '{"a":"b"}')).toBe('no user');
      expect(await passback(['only', 'this'], '{"a":"b"}')).toMatchObject({ union_id: 'u1' });
    });

    it('finds a user by any value that can be read by name, compared as text', async () => {
      const long = '长'.repeat(50_000);
      await put(
        user('u1', {
          basic_info: { mobile: '138', chat_open_id: 'o1' },
          extension_info: { level: '28', [long]: long, mobile: 'hidden', empty: '' },
          login_device_info: [{ device_token: 't1', uuid: 'x1' }, { device_token: 't2' }],
          mobile_district_code: '86',
          gps: '1,2',
        }),
        user('u2', { extension_info: { level: '28.0' } }),
      );
      const found = [
        ['mobile', '138'],
        ['chat_open_id', 'o1'],
        ['level', '28'],
        [long, long],
        ['empty', ''],
        ['device_token', 't1'],
        ['mobile_district_code', '86'],
        ['gps', '1,2'],
      ] as const;
      for (const [key, value] of found) {
        expect(await passback([key, value], '{"seen":1}')).toMatchObject({ union_id: 'u1' });
      }
      for (const [key, value] of [
        ['mobile', 'hidden'],
        ['level', '28 '],
        ['device_token', 't2'],
        ['uuid', 'x1'],
        ['union_id', 'u1'],
        ['mobil', 'e138'],
      ] as const) {
        expect(await passback([key, value], '{"seen":1}')).toBe('no user');
      }
    });

    it('finds nobody by a value that several users have, or that was changed', async () => {
      await put(user('u1', { extension_info: { level: 'gold' } }), user('u2'));
      await put(user('u2', { extension_info: { level: 'gold' } }));
      expect(await passback(['level', 'gold'], '{"a":"1"}')).toBe('several users');
      await put(user('u2', { extension_info: { level: 'silver' } }));
      await passback(['level', 'gold'], '{"level":"platinum"}');
      expect(await passback(['level', 'gold'], '{"a":"1"}')).toBe('no user');
      expect(await passback(['level', 'platinum'], '{"level":null}')).toMatchObject({
        union_id: 'u1',
      });
      expect(await passback(['level', 'platinum'], '{"a":"1"}')).toBe('no user');
      expect((await find('u1'))?.extension_info).toEqual({});
    });

    it('looks again where a user loses the value between its look-up and its lock', async () => {
      await put(user('u1', { extension_info: { seat: '7' } }), user('u2'));
      const changed = await driver.write((sql) =>
        new Users(
          afterFirst(sql, statements.findUsersByValue, async () => {
            await new Users(sql).putAll([user('u1')]);
            await new Users(sql).putAll([user('u2', { extension_info: { seat: '7' } })]);
          }),
        ).change('acme', { by: 'primary_key', name: 'seat', value: '7' }, (record) => record),
      );
      expect(changed).toMatchObject({ union_id: 'u2' });
    });

    const app = (secret = 's1', tenant = 'acme') => ({
      app_key: `key of ${tenant}`,
      app_secret: new Secret(secret),
      tenant_code: tenant,
      channel: 'web',
      recipes: null,
      created_at: 1,
      old_secret: null,
      old_until: 0,
      old_ends: 0,
      disabled: false,
      revision: 7,
    });
    const one = app();
    let serial = 0;
    const passBack = (
      target: [string, string] | string,
      userInfo: string,
      of: Partial<PassbackRequest> = {},
    ) =>
      (serial++ % 2 === 0 ? store : other).passBack({
        app: one,
        random: `random ${serial}`,
        user:
          typeof target === 'string'
            ? { by: 'union_id', unionId: target }
            : { by: 'primary_key', name: target[0], value: target[1] },
        change: (record) => applyPassback(record, parseUserInfo(userInfo), 'text'),
        ...of,
      });
    const read = (code: string, of: Partial<ReadRequest> = {}) =>
      (serial++ % 2 === 0 ? store : other).readUser({
        app: one,
        random: `random ${serial}`,
        code,
        ...of,
      });

    it('adds a user once for passbacks that arrive together and name nobody', async () => {
      await store.write(({ apps }) => apps.add(one));
      const together = Array.from({ length: 24 }, (_, i) =>
        passBack(['mobile', '138'], `{"mobile":"138","k${i}":"v"}`, { newUnionId: `new ${i}` }),
      );
      const ids = (await Promise.all(together)).map((outcome) => (outcome as UserRecord).union_id);
      expect(new Set(ids).size).toBe(1);
      expect(Object.keys((await find(ids[0] ?? ''))?.extension_info ?? {})).toHaveLength(24);
      expect(await passBack('u7', '{"a":"1"}', { newUnionId: 'new' })).toMatchObject({
        union_id: 'u7',
      });
      expect(await passBack('u8', '{"a":"1"}')).toBe('no user');
      const tooLarge = `{"mobile":"139","a":"${'x'.repeat(300_000)}"}`;
      const change: PassbackRequest['change'] = (record) =>
        checkRecordSize(applyPassback(record, parseUserInfo(tooLarge), 'text'));
      expect(
        await passBack(['mobile', '139'], tooLarge, { newUnionId: 'new', change }),
      ).toBeInstanceOf(UserInfoError);
      expect(await find('new')).toBeNull();
    });

    it('carries out reads that arrive together, each code and each random as often as allowed', async () => {
      await store.write(({ apps }) => apps.add(one));
      await put(user('u1'), user('u2'));
      for (const text of ['a', 'b', 'gone']) {
        await issue(code(text, { uses_left: 3, union_id: text === 'gone' ? 'u9' : 'u2' }));
      }
      await issue(code('all', { uses_left: null, info_names: null }));
      await driver.write((sql) => sql.run('DELETE FROM users WHERE union_id = $1', ['u9']));
      const together = ['a', 'b', 'all', 'gone', 'unknown'].flatMap((text) =>
        Array.from({ length: 12 }, () => read(text)),
      );
      const outcomes = await Promise.all(together);
      const found = (text: number) =>
        outcomes
          .slice(12 * text, 12 * text + 12)
          .filter((it) => typeof it === 'string' || it.record !== null);
      expect(found(0)).toEqual(
        Array(3).fill({ record: user('u2'), infoNames: ['a', 'b'], unionId: 'u2' }),
      );
      expect(found(1)).toHaveLength(3);
      expect(found(2)).toEqual(
        Array(12).fill({ record: user('u1'), infoNames: null, unionId: 'u1' }),
      );
      expect([...found(3), ...found(4)]).toEqual([]);
      const again = await Promise.all(
        Array.from({ length: 20 }, () => read('all', { random: 'the same' })),
      );
      expect(again.filter((outcome) => outcome !== 'random used')).toHaveLength(1);
      await driver.write((sql) =>
        sql.run("UPDATE codes SET expires_at = expires_at - 300 WHERE code = 'all'"),
      );
      expect(await read('all')).toEqual({ record: null, infoNames: null, unionId: 'u1' });
    });

    it('carries out passbacks that arrive together, to one user and to several', async () => {
      await store.write(({ apps }) => apps.add(one));
      await put(user('u1', { extension_info: { seat: '7' } }), user('u2'), user('u3'));
      const together = Array.from({ length: 90 }, (_, i) =>
        passBack(i % 3 === 0 ? 'u1' : i % 3 === 1 ? ['seat', '7'] : 'u2', `{"key${i}":"${i}"}`),
      );
      expect((await Promise.all(together)).every((outcome) => typeof outcome === 'object')).toBe(
        true,
      );
      expect(Object.keys((await find('u1'))?.extension_info ?? {})).toHaveLength(61);
      expect(Object.keys((await find('u2'))?.extension_info ?? {})).toHaveLength(30);
      const refusal = new InvalidInputError('refused');
      const mixed = await Promise.allSettled([
        passBack('u3', '{"shared":"x"}'),
        passBack('u3', '{}', {
          change: () => {
            throw refusal;
          },
        }),
        passBack('u3', '{}', {
          change: () => {
            throw new TypeError('a fault');
          },
        }),
        passBack('nobody', '{"a":"b"}'),
        passBack(['seat', '8'], '{"a":"b"}'),
        passBack('u2', '{"shared":"x"}'),
      ]);
      expect(
        mixed.map((end) => (end.status === 'fulfilled' ? end.value : end.reason)),
      ).toMatchObject([
        { extension_info: { shared: 'x' } },
        refusal,
        new TypeError('a fault'),
        'no user',
        'no user',
        { extension_info: { shared: 'x' } },
      ]);
      expect(await passBack(['shared', 'x'], '{"a":"b"}')).toBe('several users');
      const [row] = await driver.read((sql) =>
        sql.all("SELECT revision FROM users WHERE union_id = 'u3'"),
      );
      expect(row).toEqual({ revision: 2 });
    });

    it('finds nobody by a value that a passback beside it takes away', async () => {
      await store.write(({ apps }) => apps.add(one));
      await put(user('u1', { extension_info: { seat: '7' } }));
      const together = Array.from({ length: 8 }, (_, i) =>
        passBack(['seat', '7'], `{"seat":"1${i}"}`),
      );
      const outcomes = await Promise.all(together);
      expect(outcomes.filter((outcome) => outcome !== 'no user')).toHaveLength(1);
      const random = 'kept of a refused one';
      expect(await passBack(['seat', '7'], '{"a":"b"}', { random })).toBe('no user');
      expect(await passBack('u1', '{"a":"b"}', { random })).toBe('random used');
    });

    it('stores nothing of a request whose app has changed, and carries out the others', async () => {
      await store.write(async ({ apps }) => {
        await apps.add(one);
        await apps.add(app('s1', 'other'));
      });
      await put(user('u1'));
      await issue(code('a', { uses_left: 1 }));
      const changed = { app: { ...app('another secret'), revision: 9 }, random: 'used later' };
      const outcomes = [
        read('a', changed),
        passBack('u1', '{"stored":"no"}', changed),
        passBack('u1', '{"stored":"yes"}'),
        read('a', { app: app('s1', 'other') }),
        passBack('u1', '{"stored":"no"}', { app: app('s1', 'other') }),
        passBack('u1', '{"stored":"no"}', { app: { ...one, channel: 'other' } }),
        passBack('u1', '{"stored":"no"}', { app: { ...one, revision: 8 } }),
        passBack('u1', '{"stored":"no"}', { app: app('s1', 'nobody') }),
      ];
      expect(await Promise.all(outcomes)).toMatchObject([
        'app changed',
        'app changed',
        { union_id: 'u1' },
        { record: null, infoNames: null, unionId: null },
        'no user',
        'app changed',
        'app changed',
        'app changed',
      ]);
      expect((await find('u1'))?.extension_info).toEqual({ stored: 'yes' });
      expect(await read('a', { random: 'used later' })).toMatchObject({
        record: { union_id: 'u1' },
      });
    });

    it('never shows one tenant what is of another', async () => {
      const here = user('u1', { extension_info: { level: 'gold' } });
      await put(here, {
        ...here,
        tenant_code: 'other',
        extension_info: { level: 'gold', theirs: '1' },
      });
      expect(await passback(['level', 'gold'], '{"a":"1"}')).toMatchObject({ tenant_code: 'acme' });
      expect(await passback(['theirs', '1'], '{"a":"1"}')).toBe('no user');
      expect((await find('u1', 'other'))?.extension_info).toEqual({ level: 'gold', theirs: '1' });
      expect(await find('u1', 'nobody')).toBeNull();
      await issue(code('c1'));
      expect(await store.write(({ codes }) => codes.use('other', 'c1'))).toBeNull();
      expect(await store.write(({ codes }) => codes.remove('other', 'c1'))).toBe(false);
      expect(await store.read(({ codes }) => codes.list('other', '', 10))).toEqual([]);
      expect(await store.write(({ users }) => users.delete('other', 'u1'))).not.toBeNull();
      expect(await find('u1')).not.toBeNull();
      expect(await store.write(({ codes }) => codes.use('acme', 'c1'))).not.toBeNull();
    });

    it('deletes a user with its codes and values', async () => {
      await put(user('u1', { extension_info: { level: 'gold' } }));
      await issue(code('c1'));
      expect(await store.write(({ users }) => users.delete('acme', 'u1'))).toEqual({
        records: 1,
        indexed_values: 1,
        codes: 1,
      });
      expect(await store.write(({ users }) => users.delete('acme', 'u1'))).toBeNull();
      expect(await store.write(({ codes }) => codes.add(code('c2'), 300))).toBeNull();
      expect(await find('u1')).toBeNull();
      expect(await passback(['level', 'gold'], '{"a":"1"}')).toBe('no user');
      expect(await store.write(({ codes }) => codes.use('acme', 'c1'))).toBeNull();
    });

    const pass = (table: string, seconds: number) =>
      driver.write((sql) => sql.run(`UPDATE ${table} SET expires_at = expires_at - $1`, [seconds]));

    it('takes a code without a limit as often as one likes, until it expires by the clock of the database', async () => {
      const unlimited = code('c1', { uses_left: null, info_names: null });
      const issued = (await issue(unlimited)) as Code;
      expect(Math.abs(issued.expires_at - 300 - Date.now() / 1000)).toBeLessThan(60);
      const take = () => store.write(({ codes }) => codes.use('acme', 'c1'));
      expect(await take()).toEqual({ union_id: 'u1', info_names: null });
      expect(await take()).not.toBeNull();
      await pass('codes', 300);
      expect(await take()).toBeNull();
      const listed = await store.read(({ codes }) => codes.list('acme', '', 10));
      expect(listed).toEqual([{ ...issued, expires_at: issued.expires_at - 300 }]);
      expect(await store.write(({ codes }) => codes.remove('acme', 'c1'))).toBe(true);
      await issue(unlimited);
      expect(await take()).not.toBeNull();
    });

    /** An app that was added before is not added again. */
    const useNonce = ({ random = 'abcdefgh', app_key = 'k1', from = store } = {}) =>
      from.write(async ({ apps }) => {
        const caller = { ...app(), app_key, revision: 0 };
        await apps.add(caller);
        return (await apps.useRandom(caller, random)) === null;
      });

    it('gives a nonce to one of many, and to nobody as long as it is kept', async () => {
      const takes = Array.from({ length: 30 }, (_, i) =>
        useNonce({ from: i % 2 === 0 ? store : other }),
      );
      expect((await Promise.all(takes)).filter((taken) => taken)).toHaveLength(1);
      expect(await useNonce({ app_key: 'k2' })).toBe(true);
      expect(await useNonce({ random: 'ABCDEFGH' })).toBe(true);
      await pass('nonces', 86_300);
      purgeOver();
      await expect.poll(() => store.purgeBacklog.has('audit')).toBe(true);
      expect(await useNonce()).toBe(false);
    });

    const rowsOf = (table: string) => driver.read((sql) => sql.all(`SELECT * FROM ${table}`));
    const faults: unknown[] = [];
    const purgeOver = (over = store) => over.startPurge(31_536_000, (error) => faults.push(error));

    it('purges what has expired of every tenant, and nothing else', async () => {
      const rows = 3 * driver.purgeRows + 7;
      const expired = Array.from(
        { length: rows },
        (_, i) => `('quiet', 'k1', 'random${i}', ${1000 + (i % 50)})`,
      );
      await driver.write((sql) => sql.run(`INSERT INTO nonces VALUES ${expired.join(', ')}`));
      await issue(code('c1'));
      await pass('codes', 330);
      await useNonce();
      await issue(code('c2'));
      const year = 31_536_000;
      await driver.write(async (sql) => {
        const line = (id: number, age: number) =>
          `(unixepoch() - ${age}, 'old${id}', 'anna', 'user show', 'acme', 'u', NULL, NULL)`;
        const old = Array.from({ length: rows }, (_, i) => line(i, year + 60 + (i % 50)));
        await sql.run(`INSERT INTO audit VALUES ${[...old, line(rows, year - 60)].join(', ')}`);
      });
      purgeOver();
      await expect.poll(() => rowsOf('nonces')).toMatchObject([{ random: 'abcdefgh' }]);
      await expect.poll(() => rowsOf('codes')).toMatchObject([{ code: 'c2' }]);
      await expect.poll(() => rowsOf('audit')).toMatchObject([{ id: `old${rows}` }]);
      expect(store.purgeBacklog.get('audit')).toBeGreaterThan(59);
      expect(store.purgeBacklog.get('audit')).toBeLessThan(1000);
      expect(store.purgeBacklog.get('nonces')).toBeGreaterThan(1_000_000_000);
      expect(store.purgeBacklog.get('codes')).toBeGreaterThan(0);
      expect(store.purgeBacklog.get('codes')).toBeLessThan(300);
      expect(faults).toEqual([]);
    });

    it('is purged by several processes at once', async () => {
      const rows = 5 * driver.purgeRows;
      const expired = Array.from({ length: rows }, (_, i) => `('quiet', 'k1', 'random${i}', 1000)`);
      await driver.write((sql) => sql.run(`INSERT INTO nonces VALUES ${expired.join(', ')}`));
      purgeOver(store);
      purgeOver(other);
      await expect.poll(() => rowsOf('nonces')).toEqual([]);
      await expect.poll(() => other.purgeBacklog.has('audit')).toBe(true);
      expect(faults).toEqual([]);
    });

    it('upgrades the tables by further steps, and keeps what they hold', async () => {
      await put(user('u1'));
      const steps = [
        ['ALTER TABLE users ADD COLUMN note TEXT'],
        ['CREATE INDEX users_by_note ON users (note)'],
      ];
      const next = { ...storeSchema, steps: [...storeSchema.steps, ...steps] };
      await expect(migrate(driver, next, { upgrade: false })).rejects.toMatchObject({
        code: 'OLD_SCHEMA',
        commands: ['userinfo admin migrate'],
      });
      const ran = await Promise.all([migrate(driver, next), migrate(await database.open(), next)]);
      expect(ran.map(({ to }) => to)).toEqual([3, 3]);
      expect(await migrate(driver, next)).toEqual({ from: 3, to: 3 });
      expect(await rowsOf('users')).toMatchObject([{ union_id: 'u1', note: null }]);
      expect(await rowsOf('userinfo_migrations')).toEqual([
        { version: 1 },
        { version: 2 },
        { version: 3 },
      ]);
      // A process of the version before runs on.
      expect(await find('u1')).toEqual(user('u1'));
    });

    it('is checked by a write that lasts, and tells of the last write that failed', async () => {
      const written = async () =>
        (await rowsOf('service_state')).find(({ name }) => name === 'health')?.value;
      await store.check();
      await store.check();
      expect(await written()).toBe(2);
      const full = new StoreUnavailableError('the disk of the database is full');
      await expect(store.write(() => Promise.reject(full))).rejects.toThrow(full);
      await expect(store.check()).rejects.toThrow(full);
      await store.check();
    });

    it('is empty after a reset', async () => {
      await put(user('u1', { extension_info: { level: 'gold' } }));
      await issue(code('c1'));
      await store.reset();
      for (const table of ['apps', 'users', 'user_values', 'codes', 'nonces']) {
        expect(await rowsOf(table)).toEqual([]);
      }
      await store.check();
    });
  });
}

function code(text: string, fields: Partial<Code> = {}): Omit<Code, 'expires_at'> {
  return {
    tenant_code: 'acme',
    code: text,
    union_id: 'u1',
    info_names: ['a', 'b'],
    uses_left: 1,
    ...fields,
  };
}

/**
 * Does something else once, right after a statement ran for the first time: what another process
 * might do.
 */
function afterFirst(sql: Sql, awaited: string, intrude: () => Promise<void>): Sql {
  let done = false;
  return {
    run: (statement, values) => sql.run(statement, values),
    each: (statement, rows) => sql.each(statement, rows),
    async all<Row>(statement: string, values?: readonly SqlParameter[]) {
      const rows = await sql.all<Row>(statement, values);
      if (statement === awaited && !done) {
        done = true;
        await intrude();
      }
      return rows;
    },
  };
}
