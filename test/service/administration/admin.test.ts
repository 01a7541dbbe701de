import { userInfo } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { InvalidInputError } from '../../../src/core/contract/errors.js';
import type { UserRecord } from '../../../src/core/contract/user-record.js';
import { defaultRecipes } from '../../../src/core/signing/presets.js';
import { type Admin, NotFoundError, openAdmin } from '../../../src/service/index.js';
import { freshDatabase } from '../../support/fresh-database.js';
import { all, tenant, user } from '../../support/running-service.js';
import { temporaryFile } from '../../support/temporary-file.js';

const now = Date.UTC(2026, 0, 1);
let admin: Admin;

beforeEach(async () => {
  admin = await openAdmin({ database: await freshDatabase(), now: () => now });
});
afterEach(() => admin.close());

describe('the apps', () => {
  it('are created with a key and a secret of their own', async () => {
    const made = await admin.createApp({ tenantCode: 'acme', channel: 'web' });
    expect(made).toMatchObject({ tenant_code: 'acme', channel: 'web' });
    expect(made.app_key).toMatch(/^app_[0-9a-f]{16}$/);
    expect(made.app_secret.reveal()).toMatch(/^[0-9a-f]{32}$/);
    expect(JSON.stringify(made)).not.toContain(made.app_secret.reveal());
    const second = await admin.createApp({ tenantCode: 'acme', channel: 'web' });
    expect([second.app_key, second.app_secret.reveal()]).not.toEqual([
      made.app_key,
      made.app_secret.reveal(),
    ]);
  });

  it('are listed without their secrets, with their recipes', async () => {
    await admin.createApp({ tenantCode: 'acme', channel: 'web', appKey: 'b' });
    const sha256 = { message: ['$params', '$secret'], steps: ['sha256'] };
    const recipes = { app_sign: sha256, sign: sha256 };
    await admin.createApp({ tenantCode: 'other', channel: 'app', appKey: 'a', recipes });
    const whole = {
      ...defaultRecipes.sign,
      ...sha256,
      params: { ...defaultRecipes.sign.params, empty: 'keep' },
    };
    expect(await all(admin.listApps())).toEqual([
      {
        tenant_code: 'other',
        channel: 'app',
        app_key: 'a',
        created_at: now / 1000,
        disabled: false,
        recipes: { app_sign: whole, sign: whole },
      },
      {
        tenant_code: 'acme',
        channel: 'web',
        app_key: 'b',
        created_at: now / 1000,
        disabled: false,
      },
    ]);
  });

  it.each([
    [{ tenantCode: '', channel: 'web' }, 'tenant_code is missing'],
    [{ tenantCode: 'acme', channel: 'we\0b' }, 'channel "we\\u0000b" holds U+0000'],
    [{ tenantCode: 'acme', channel: 'web', appKey: 'x'.repeat(256) }, 'app_key has 256 characters'],
    [
      { tenantCode: 'acme', channel: 'web', recipes: { app_sign: {}, sign: {} } },
      'app_sign.message',
    ],
  ])('are refused with the reason: %j', async (input, reason) => {
    await expect(admin.createApp(input as never)).rejects.toThrow(reason);
    expect(await all(admin.listApps())).toEqual([]);
  });

  it('cannot share a key', async () => {
    await admin.createApp({ tenantCode: 'acme', channel: 'web', appKey: 'k' });
    const again = admin.createApp({ tenantCode: 'other', channel: 'web', appKey: 'k' });
    await expect(again).rejects.toThrow(InvalidInputError);
    expect(await all(admin.listApps())).toMatchObject([{ tenant_code: 'acme' }]);
  });
});

describe('the users', () => {
  it('are stored and returned completely', async () => {
    const record = user('u1', {
      basic_info: { mobile: '138' },
      extension_info: { a: '1' },
      gps: '1,2',
    });
    await admin.putUser(record);
    expect(await admin.getUser({ tenantCode: tenant, unionId: 'u1' })).toEqual(record);
  });

  it('are validated and converted to text, for untyped callers', async () => {
    const loose = {
      tenant_code: tenant,
      union_id: 'u1',
      extension_info: { age: 28, vip: true, none: null },
    };
    await admin.putUser(loose as unknown as UserRecord);
    expect(await admin.getUser({ tenantCode: tenant, unionId: 'u1' })).toEqual(
      user('u1', { extension_info: { age: '28', vip: 'true' } }),
    );
    const odd = { ...loose, surname: 'x' } as unknown as UserRecord;
    await expect(admin.putUser(odd)).rejects.toThrow('unknown field "surname"');
    await expect(admin.putUser(user('x'.repeat(256)))).rejects.toThrow(InvalidInputError);
  });

  it('are imported by the thousand, and listed in order as a stream', async () => {
    async function* records() {
      for (let i = 1200; i > 0; i--) yield user(`u${String(i).padStart(5, '0')}`);
    }
    expect(await admin.putUsers(records())).toBe(1200);
    await admin.putUser({ ...user('u1'), tenant_code: 'other' });
    const ids = (await all(admin.listUsers({ tenantCode: tenant }))).map(
      ({ union_id }) => union_id,
    );
    expect(ids).toHaveLength(1200);
    expect(ids).toEqual([...ids].sort());
    expect(await admin.putUsers([])).toBe(0);
  });

  it('before a refused record are stored, as records or as JSON', async () => {
    const records = [user('u1'), JSON.stringify(user('u2')), user(''), user('u3')];
    await expect(admin.putUsers(records)).rejects.toThrow('the record has no union_id');
    expect(await all(admin.listUsers({ tenantCode: tenant }))).toEqual([user('u1'), user('u2')]);
    expect((await all(admin.listAudit())).map(({ subject }) => subject)).toContain('2 users');
  });

  it('replace what is there as a whole, and of several of one user in a file the last stays', async () => {
    const withLevel = (level: string) => user('u1', { extension_info: { level } });
    await admin.putUsers([withLevel('gold'), user('u2', { extension_info: { level: 'gold' } })]);
    await admin.putUsers([withLevel('silver'), user('u3'), withLevel('lead')]);
    const found = async (value: string) =>
      (await all(admin.findUsers({ tenantCode: tenant, key: 'level', value }))).map(
        ({ union_id }) => union_id,
      );
    expect([await found('gold'), await found('silver'), await found('lead')]).toEqual([
      ['u2'],
      [],
      ['u1'],
    ]);
  });

  it('are counted in the audit as they are stored, also if the database is lost in between', async () => {
    const fresh = await freshDatabase();
    const shared = fresh === ':memory:' ? await temporaryFile('u.db') : fresh;
    const lost = await openAdmin({ database: shared });
    const beside = await openAdmin({ database: shared });
    async function* records() {
      for (let i = 0; i < 10_001; i++) {
        // The first 5000 are stored then, and further ones are not yet.
        if (i === 9000) await lost.close();
        yield user(`u${i}`);
      }
    }
    await expect(lost.putUsers(records())).rejects.toThrow('the database is closed');
    expect(await all(beside.listUsers({ tenantCode: tenant }))).toHaveLength(5000);
    expect(await all(beside.listAudit())).toMatchObject([
      { action: 'user list', actor: userInfo().username },
      { subject: '5000 users' },
    ]);
    await beside.close();
  });
});

describe('the codes', () => {
  beforeEach(() => admin.putUser(user('u1')));

  it('are issued for one use and five minutes', async () => {
    const code = await admin.issueCode({ tenantCode: tenant, unionId: 'u1' });
    expect(code).toEqual({
      tenant_code: tenant,
      union_id: 'u1',
      code: expect.stringMatching(/^[0-9a-f]{32}$/),
      expires_at: expect.closeTo(Date.now() / 1000 + 300, -2),
      info_names: null,
      uses_left: 1,
    });
    expect(await all(admin.listCodes({ tenantCode: tenant }))).toEqual([code]);
  });

  it('are issued with names, a validity and a number of uses', async () => {
    const issued = await admin.issueCode({
      tenantCode: tenant,
      unionId: 'u1',
      infoNames: ['a', ' b', 'a'],
      ttlSeconds: 60,
      uses: 'unlimited',
    });
    expect(issued).toMatchObject({
      info_names: ['a', 'b'],
      expires_at: expect.closeTo(Date.now() / 1000 + 60, -2),
      uses_left: null,
    });
  });

  it.each([
    [{ infoNames: [] }, 'the list of info names is empty'],
    [{ infoNames: ['a,b'] }, 'holds a comma'],
    [{ ttlSeconds: 0 }, 'the ttl in seconds is 0'],
    [{ ttlSeconds: 1.5 }, 'the ttl in seconds is 1.5'],
    [{ ttlSeconds: 2 ** 53 - 1 }, 'the maximum is 2147483647'],
    [{ uses: 0 }, 'the number of uses is 0'],
  ])('are refused with the reason: %j', async (input, reason) => {
    const issuing = admin.issueCode({ tenantCode: tenant, unionId: 'u1', ...input });
    await expect(issuing).rejects.toThrow(reason);
    expect(await all(admin.listCodes({ tenantCode: tenant }))).toEqual([]);
  });
});

it('finds users by a value, all that have it', async () => {
  const withMobile = (id: string, mobile: string) => user(id, { basic_info: { mobile } });
  // More than a page of 500.
  const ids = Array.from({ length: 520 }, (_, i) => `shared${String(i).padStart(3, '0')}`);
  await admin.putUsers([
    ...ids.map((id) => withMobile(id, '13900139000')),
    withMobile('u1', '13800138000'),
  ]);
  const found = async (value: string, key = 'mobile') =>
    (await all(admin.findUsers({ tenantCode: tenant, key, value }))).map(
      ({ union_id }) => union_id,
    );
  expect(await found('13800138000')).toEqual(['u1']);
  expect(await found('13900139000')).toEqual(ids);
  expect(await found('13800138000', 'id_card')).toEqual([]);
  expect(
    await all(admin.findUsers({ tenantCode: 'other', key: 'mobile', value: '13800138000' })),
  ).toEqual([]);
  const [line] = await all(admin.listAudit({ limit: 1 }));
  expect(line?.action).toBe('user find');
  await admin.deleteUser({ tenantCode: tenant, unionId: 'u1' });
  expect(await found('13800138000')).toEqual([]);
});

describe('missing apps, users and codes', () => {
  it.each([
    [40401, () => admin.getUser({ tenantCode: tenant, unionId: 'nobody' })],
    [40401, () => admin.deleteUser({ tenantCode: tenant, unionId: 'nobody' })],
    [40401, () => admin.issueCode({ tenantCode: tenant, unionId: 'nobody' })],
    [40101, () => admin.rotateSecret({ appKey: 'nobody' })],
    [40101, () => admin.removeApp({ appKey: 'nobody' })],
    [40101, () => admin.retireSecret({ appKey: 'nobody' })],
    [40101, () => admin.disableApp({ appKey: 'nobody' })],
    [40101, () => admin.setApp({ appKey: 'nobody', channel: 'web' })],
    [40106, () => admin.revokeCode({ tenantCode: tenant, code: 'nothing' })],
  ])('is said to be missing, with the code %i', async (resultCode, ask) => {
    await expect(ask()).rejects.toThrow(NotFoundError);
    await expect(ask()).rejects.toMatchObject({ resultCode });
  });
});
