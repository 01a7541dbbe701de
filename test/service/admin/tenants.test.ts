import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createService } from '../../../src/service/index.js';
import { createSchema, query, type TestSchema } from '../../support/postgres/test-schema.js';
import {
  all,
  type RunningService,
  runService,
  tenant,
  user,
  withApp,
} from '../../support/running-service.js';

const onPostgres = process.env.USERINFO_TEST_STORE === 'postgres';

let folder: string;
let schema: TestSchema | undefined;
let database: string;
let running: RunningService;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'userinfo-tenants-'));
  schema = onPostgres ? await createSchema() : undefined;
  database = schema?.url ?? join(folder, 'users.db');
  running = await runService({ database });
});
afterEach(async () => {
  await running.service.close();
  await schema?.remove();
  await rm(folder, { recursive: true });
});

/** What another program reads in the database. */
async function rowsOf(statement: string): Promise<Record<string, unknown>[]> {
  if (schema !== undefined) return await query(schema.url, statement);
  const file = new DatabaseSync(database, { readOnly: true });
  const rows = file.prepare(statement).all();
  file.close();
  return rows as Record<string, unknown>[];
}

const digestOf = (name: string, value: string) =>
  createHash('sha256').update(`${name}\0${value}`).digest('base64url');

/** Compares the index with the records and the keys by which users are found. */
async function expectIndexed(isKey: (name: string) => boolean): Promise<number> {
  const records = await rowsOf(`SELECT union_id, record FROM users WHERE tenant_code = '${tenant}'`);
  const expected = records.flatMap(({ union_id, record }) => {
    const { basic_info, extension_info } = JSON.parse(String(record));
    const values = Object.entries({ ...extension_info, ...basic_info }).filter(([name]) => isKey(name));
    return values.map(([name, value]) => `${union_id} ${digestOf(name, String(value))}`);
  });
  const values = await rowsOf(`SELECT union_id, digest FROM user_values WHERE tenant_code = '${tenant}'`);
  const found = values.map(({ union_id, digest }) => `${union_id} ${digest}`);
  expect(found.toSorted()).toEqual(expected.toSorted());
  return found.length;
}

const set = (findBy: readonly string[] | 'all') =>
  running.service.admin.setTenant({ tenantCode: tenant, findBy });
const passBackBy = async (key: string, value: string) => {
  const { envelope } = await running.passback({ primary_key: key, user_info: `{"${key}":"${value}","x":1}` });
  return envelope;
};

it('finds users by the keys that are set, whatever was stored before', async () => {
  const { admin } = running.service;
  const person = (id: string, mobile: string) =>
    user(id, { basic_info: { mobile, id_card: `card ${id}` }, extension_info: { level: `of ${id}` } });
  await admin.putUsers([person('u1', '1381'), person('u2', '1382')]);
  await admin.putUser({ ...person('u1', '1381'), tenant_code: 'other' });

  expect(await set(['mobile', 'mob'])).toBe(2);
  expect(await expectIndexed((name) => name === 'mobile')).toBe(2);
  expect(await rowsOf("SELECT digest FROM user_values WHERE tenant_code = 'other'")).toHaveLength(3);
  expect(await passBackBy('mobile', '1381')).toMatchObject({ code: 200, data: { union_id: 'u1' } });
  expect(await passBackBy('level', 'of u1')).toEqual({
    code: 40002,
    msg: 'primary_key "level" is no key by which users of the tenant are found',
    data: {},
  });
  const byLevel = all(admin.findUsers({ tenantCode: tenant, key: 'level', value: 'of u1' }));
  await expect(byLevel).rejects.toThrow('users of tenant "acme" are not found by the key "level"');
  expect(await all(admin.findUsers({ tenantCode: 'other', key: 'level', value: 'of u1' }))).toHaveLength(1);
  // What comes later follows the setting.
  await admin.putUsers([person('u2', '1383'), person('u3', '1384')]);
  await running.passback({ union_id: 'u3', user_info: '{"mobile":"1385","level":"new"}' });
  expect(await expectIndexed((name) => name === 'mobile')).toBe(3);
  expect(await passBackBy('mobile', '1384')).toMatchObject({ code: 40401 });

  expect(await set(['level', 'id_card'])).toBe(3);
  expect(await expectIndexed((name) => name === 'level' || name === 'id_card')).toBe(6);
  expect(await passBackBy('level', 'new')).toMatchObject({ code: 200, data: { union_id: 'u3' } });
  expect(await passBackBy('mobile', '1385')).toMatchObject({ code: 40002 });
  await set([]);
  expect(await expectIndexed(() => false)).toBe(0);
  expect(await all(admin.listTenants())).toEqual([{ tenant_code: tenant, find_by: [], ready: true }]);
  await set('all');
  await expectIndexed(() => true);
  expect(await passBackBy('level', 'of u1')).toMatchObject({ code: 200, data: { union_id: 'u1' } });
  expect(await admin.deleteUser({ tenantCode: tenant, unionId: 'u1' })).toMatchObject({ indexed_values: 4 });
  expect(await all(admin.listTenants())).toEqual([{ tenant_code: tenant, find_by: 'all', ready: true }]);
  const audit = await all(admin.listAudit({ action: 'tenant set', limit: 10 }));
  expect(audit.map(({ subject }) => subject)).toEqual([
    'find by all',
    'find by none',
    'find by level,id_card',
    'find by mobile,mob',
  ]);
});

it('adds nobody for a passback whose key finds nobody', async () => {
  await running.service.close();
  const service = await createService({ database, platform: { unknown_user: 'create' } });
  running = { ...(await withApp(service)), log: [] };
  await set(['mobile']);
  expect(await passBackBy('level', 'gold')).toMatchObject({ code: 40002 });
  expect(await passBackBy('mobile', '1381')).toMatchObject({ code: 200 });
  expect(await rowsOf('SELECT union_id FROM users')).toHaveLength(1);
});

it('indexes every user by the last keys while others are stored and changed', async () => {
  const other = onPostgres ? await createService({ database }) : running.service;
  const services = [running.service, other];
  await running.service.admin.putUsers(
    Array.from({ length: 600 }, (_, n) => user(`u${n}`, { extension_info: { a: `${n}`, b: `${n}` } })),
  );
  let isOver = false;
  let serial = 600;
  const change = async (by: number) => {
    for (let turn = by; !isOver; turn += 2) {
      const fields = { extension_info: { a: `${turn}`, c: `${turn}` } };
      await services[by]?.admin.putUsers([user(`u${serial++}`, fields), user(`u${turn % 600}`, fields)]);
    }
  };
  const passBack = async () => {
    for (let turn = 0; !isOver; turn++) {
      const form = {
        union_id: `u${(7 * turn) % 600}`,
        user_info: `{"b":"${turn}","c":${turn % 3 === 0 ? null : turn}}`,
      };
      expect((await running.passback(form)).envelope.code).toBe(200);
    }
  };
  const changing = Promise.all([change(0), change(1), ...Array.from({ length: 8 }, passBack)]);
  changing.catch(() => {});
  for (const keys of [['a'], ['b', 'c'], 'all', [], ['c']] as const) await set(keys);
  isOver = true;
  await changing;
  expect(await expectIndexed((name) => name === 'c')).toBeGreaterThan(0);
  if (other !== running.service) await other.close();
});

it('refuses a key that cannot be one, and sets nothing', async () => {
  await expect(set(['mobile', ''])).rejects.toThrow('a key is missing');
  await expect(set(['mo,bile'])).rejects.toThrow('the key "mo,bile" has a comma');
  await expect(set(['a\u0000b'])).rejects.toThrow('a key');
  expect(await all(running.service.admin.listTenants())).toEqual([]);
});
