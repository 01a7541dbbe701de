import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPostgresDriver } from '../../../src/database/postgres-driver.js';
import { openSqliteDriver } from '../../../src/database/sqlite-driver.js';
import { createService } from '../../../src/service/index.js';
import { valueDigest } from '../../../src/service/store/users.js';
import { freshDatabase } from '../../support/fresh-database.js';
import { type RunningService, runService, tenant, user } from '../../support/running-service.js';

const keys = (count: number, value: string | null = 'x', first = 0) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${first + index}`, value]));

let folder: string;
let running: RunningService;

/** Records as a version without these limits has stored them: written by SQL alone. */
const large = {
  manyKeys: user('many-keys', { extension_info: keys(3000) as Record<string, string> }),
  manyBytes: user('many-bytes', { extension_info: { a: 'x'.repeat(500_000), b: 'y'.repeat(400_000) } }),
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'userinfo-limits-'));
  const fresh = await freshDatabase();
  const database = fresh === ':memory:' ? join(folder, 'old.db') : fresh;
  await (await createService({ database })).close();
  const isPostgres = database.startsWith('postgres');
  const driver = await (isPostgres ? openPostgresDriver(database) : openSqliteDriver(database));
  await driver.write(async (sql) => {
    for (const record of Object.values(large)) {
      const key = [tenant, record.union_id];
      await sql.run('INSERT INTO users (tenant_code, union_id, record, revision) VALUES ($1, $2, $3, 1)', [
        ...key,
        JSON.stringify(record),
      ]);
      for (const [name, value] of Object.entries(record.extension_info)) {
        const values = [tenant, valueDigest(name, value), record.union_id];
        await sql.run('INSERT INTO user_values (tenant_code, digest, union_id) VALUES ($1, $2, $3)', values);
      }
    }
  });
  await driver.close();
  running = await runService({ database });
});
afterAll(async () => {
  await running.service.close();
  await rm(folder, { recursive: true });
});

const get = (unionId: string) => running.service.admin.getUser({ tenantCode: tenant, unionId });
const put = (...args: Parameters<typeof user>) => running.service.admin.putUser(user(...args));
const passBack = async (union_id: string, userInfo: object) =>
  (await running.passback({ union_id, user_info: JSON.stringify(userInfo) })).envelope;

const tooManyKeys = (count: number) => ({
  code: 41301,
  msg: `the user's record would have ${count} keys; the maximum is 1000`,
});

describe('a record', () => {
  it('has at most 1000 keys, in all its parts together: one more is refused, and nothing is written', async () => {
    await put('u1', {
      basic_info: { mobile: '1', chat_sex: '2' },
      extension_info: keys(992) as Record<string, string>,
      login_device_info: [{ brand: 'a', os: 'b' }, {}],
      gps: '1,2',
    });
    const before = await get('u1');
    expect(await passBack('u1', { new1: 1, new2: 2, new3: 3 })).toMatchObject(tooManyKeys(1001));
    expect(
      await passBack('u1', { k0: 'changed', id_card: '3', mobile_district_code: '86', x: 1 }),
    ).toMatchObject(tooManyKeys(1001));
    expect(await get('u1')).toEqual(before);
    expect(await passBack('u1', { new1: 1, new2: 2 })).toMatchObject({ code: 200 });
    expect(await passBack('u1', { device_token: 't' })).toMatchObject(tooManyKeys(1001));
    expect(await passBack('u1', { k0: null, new3: 3, k1: 'changed' })).toMatchObject({ code: 200 });
    expect(Object.keys((await get('u1')).extension_info)).toHaveLength(994);
  });

  it('of more than 1000 keys is refused by user put, alone and among others, which are stored', async () => {
    const extension_info = keys(1001) as Record<string, string>;
    const refused = { resultCode: 41301, message: tooManyKeys(1001).msg };
    await expect(put('u2', { extension_info })).rejects.toMatchObject(refused);
    await expect(put('u2', { login_device_info: Array(1001).fill({}) })).rejects.toMatchObject(refused);
    const records = [user('u3'), user('u2', { extension_info }), user('u4')];
    await expect(running.service.admin.putUsers(records)).rejects.toMatchObject(refused);
    expect(await get('u3')).toEqual(user('u3'));
    await expect(get('u2')).rejects.toMatchObject({ resultCode: 40401 });
  });
});

it('a user_info has at most 1000 keys, those that it removes among them', async () => {
  await put('u5');
  const refused = { code: 41301, msg: 'user_info has more than 1000 keys' };
  expect(await passBack('u5', keys(1001, null))).toMatchObject(refused);
  expect(await passBack('u5', keys(1001))).toMatchObject(refused);
  expect(await get('u5')).toEqual(user('u5'));
  expect(await passBack('u5', keys(1000))).toMatchObject({ code: 200 });
});

describe('a record that an earlier version stored', () => {
  it('with more keys is read, shown and found, takes what makes it smaller, and nothing else', async () => {
    const { union_id, extension_info } = large.manyKeys;
    expect(await get(union_id)).toEqual(large.manyKeys);
    const { envelope } = await running.read(union_id);
    expect(envelope).toMatchObject({ code: 200, data: { extension_info } });
    const byKey = await running.passback({ primary_key: 'k2999', user_info: '{"k2999":"x","k8":"x"}' });
    expect(byKey.envelope).toMatchObject(tooManyKeys(3000));
    expect(await passBack(union_id, { k0: 'y' })).toMatchObject(tooManyKeys(3000));
    expect(await passBack(union_id, { k0: null, more: 1 })).toMatchObject(tooManyKeys(3000));
    expect(await get(union_id)).toEqual(large.manyKeys);
    expect(await passBack(union_id, { k0: null })).toMatchObject({ code: 200 });
    expect(await passBack(union_id, keys(999, null, 1))).toMatchObject({ code: 200 });
    expect(await passBack(union_id, keys(1000, null, 1000))).toMatchObject({ code: 200 });
    expect(Object.keys((await get(union_id)).extension_info)).toHaveLength(1000);
    expect(await passBack(union_id, { more: 1 })).toMatchObject(tooManyKeys(1001));
    expect(await passBack(union_id, { k2000: 'y' })).toMatchObject({ code: 200 });
  });

  it('with more bytes is made smaller by shorter values, and deleted with all its rows', async () => {
    const { union_id } = large.manyBytes;
    const { envelope } = await running.read(union_id);
    expect(envelope).toMatchObject({ code: 200, data: { extension_info: large.manyBytes.extension_info } });
    const refused = { code: 41301, msg: expect.stringContaining('bytes; the maximum is 262144') };
    expect(await passBack(union_id, { c: '1' })).toMatchObject(refused);
    expect(await passBack(union_id, { b: `z${'y'.repeat(399_999)}` })).toMatchObject(refused);
    expect(await get(union_id)).toEqual(large.manyBytes);
    expect(await passBack(union_id, { b: 'z' })).toMatchObject({ code: 200 });
    expect((await get(union_id)).extension_info.b).toBe('z');
    const key = { tenantCode: tenant, unionId: union_id };
    expect(await running.service.admin.deleteUser(key)).toMatchObject({ records: 1, indexed_values: 2 });
    await expect(get(union_id)).rejects.toMatchObject({ resultCode: 40401 });
  });
});
