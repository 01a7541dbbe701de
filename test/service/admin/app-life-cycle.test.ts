import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createService, openAdmin } from '../../../src/service/index.js';
import { draftPassback, send } from '../../support/foreign-client.js';
import { freshDatabase } from '../../support/fresh-database.js';
import { tenant, user } from '../../support/running-service.js';

/** A service, an admin of another process, and an app with one user. */
async function start() {
  const folder = await mkdtemp(join(tmpdir(), 'userinfo-apps-'));
  const fresh = await freshDatabase();
  // Two processes cannot share a database in memory.
  const database = fresh === ':memory:' ? join(folder, 'shared.db') : fresh;
  const service = await createService({ database });
  const admin = await openAdmin({ database });
  const { app_secret, ...app } = await admin.createApp({
    tenantCode: tenant,
    channel: 'web',
    appKey: 'app-1',
  });
  await admin.putUser(user('u1'));
  const passback = async (secret: string, channel = 'web') => {
    const keys = { ...app, secret, channel };
    return (await send(service.url, draftPassback(keys, { union_id: 'u1', user_info: '{"a":"b"}' })))
      .envelope;
  };
  return {
    admin,
    secret: app_secret.reveal(),
    passback,
    code: async (secret: string, channel?: string) => (await passback(secret, channel)).code,
    async [Symbol.asyncDispose]() {
      await admin.close();
      await service.close();
      await rm(folder, { recursive: true });
    },
  };
}

const app = { appKey: 'app-1' };

describe('an app', () => {
  it('has two secrets while it rotates them, until the old one is retired', async () => {
    await using stand = await start();
    const { admin, secret: first, code } = stand;
    const rotate = async (overlapSeconds?: number) =>
      (await admin.rotateSecret({ ...app, ...(overlapSeconds && { overlapSeconds }) })).app_secret.reveal();
    const second = await rotate(3600);
    expect([await code(first), await code(second)]).toEqual([200, 200]);
    expect(await code('another secret')).toBe(40102);
    for await (const { old_secret_until } of admin.listApps()) {
      expect(old_secret_until).toBeGreaterThan(Date.now() / 1000 + 3500);
    }
    // A third secret ends the first.
    const third = await rotate(3600);
    expect([await code(first), await code(second), await code(third)]).toEqual([40102, 200, 200]);
    await admin.retireSecret(app);
    expect([await code(second), await code(third)]).toEqual([40102, 200]);
    const fourth = await rotate(1);
    await expect.poll(() => code(third), { timeout: 5000 }).toBe(40102);
    expect(await code(fourth)).toBe(200);
    const fifth = await rotate();
    expect([await code(fourth), await code(fifth)]).toEqual([40102, 200]);
  });

  it('is refused while it is disabled', async () => {
    await using stand = await start();
    const { admin, secret, code, passback } = stand;
    expect(await code(secret)).toBe(200);
    await admin.disableApp(app);
    expect(await passback(secret)).toMatchObject({ code: 40301, msg: 'the app is disabled' });
    await admin.enableApp(app);
    expect(await code(secret)).toBe(200);
  });

  it('gets another channel and other recipes, with the same secret', async () => {
    await using stand = await start();
    const { admin, secret, code } = stand;
    expect(await code(secret)).toBe(200);
    await admin.setApp({ ...app, channel: 'shop' });
    expect([await code(secret), await code(secret, 'shop')]).toEqual([40301, 200]);
    const recipe = {
      params: { exclude: ['sign'] },
      message: ['$params', '$secret'],
      steps: ['sha256', 'slice:0:32'],
    };
    await admin.setApp({ ...app, recipes: { app_sign: recipe, sign: recipe } });
    expect(await code(secret, 'shop')).toBe(40102);
    await admin.setApp({ ...app, recipes: null });
    expect(await code(secret, 'shop')).toBe(200);
    await expect(admin.setApp(app)).rejects.toThrow('nothing to change');
  });
});

it('the audit has who did what, without secrets, codes and union IDs', async () => {
  await using stand = await start();
  const { admin } = stand;
  await admin.putUser(user('13800138000'));
  await admin.disableApp(app);
  const key = { tenantCode: tenant, unionId: '13800138000' };
  const { code } = await admin.issueCode(key);
  await admin.getUser(key);
  await admin.deleteUser(key);
  await expect(admin.removeApp({ appKey: 'nobody' })).rejects.toThrow();
  await admin.putUsers([user('u2'), user('u3')]);
  const audit = await admin.listAudit();
  expect(audit.map(({ action }) => action).sort()).toEqual(
    [
      'app create',
      'user put',
      'user put',
      'app disable',
      'code issue',
      'user get',
      'user delete',
      'user put',
    ].sort(),
  );
  expect(new Set(audit.map(({ actor }) => actor))).toEqual(new Set([userInfo().username]));
  expect(audit.find(({ action }) => action === 'app disable')).toMatchObject({ subject: 'app-1' });
  expect(audit.some(({ subject }) => subject === '2 users')).toBe(true);
  const text = JSON.stringify(audit);
  for (const word of ['13800138000', code, stand.secret]) expect(text).not.toContain(word);
  expect(await admin.listAudit({ limit: 2 })).toHaveLength(2);
});
