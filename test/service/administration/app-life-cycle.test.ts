import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/core/signing/secret.js';
import { openPostgresDriver } from '../../../src/service/database/postgres-driver.js';
import { openSqliteDriver } from '../../../src/service/database/sqlite-driver.js';
import { createService, type LogEvent, openAdmin } from '../../../src/service/index.js';
import { SecretCipher } from '../../../src/service/store/secret-cipher.js';
import {
  type Answer,
  type AppKeys,
  draftPassback,
  fetchAnswer,
  send,
  signDraft,
} from '../../support/foreign-client.js';
import { freshDatabase } from '../../support/fresh-database.js';
import { all, tenant, user } from '../../support/running-service.js';
import { temporaryFile } from '../../support/temporary-file.js';

/** A service, an admin of another process, and an app with one user. */
async function start() {
  const fresh = await freshDatabase();
  // Two processes cannot share a database in memory.
  const database = fresh === ':memory:' ? await temporaryFile('shared.db') : fresh;
  const service = await createService({ database });
  const admin = await openAdmin({ database });
  const { app_secret, ...app } = await admin.createApp({
    tenantCode: tenant,
    channel: 'web',
    appKey: 'app-1',
  });
  await admin.putUser(user('u1'));
  const passback = (secret: string, channel = 'web') =>
    passbackTo(service.url, { ...app, secret, channel });
  return {
    database,
    url: service.url,
    app,
    admin,
    secret: app_secret.reveal(),
    passback,
    code: async (secret: string, channel?: string) => (await passback(secret, channel)).code,
    async [Symbol.asyncDispose]() {
      await admin.close();
      await service.close();
    },
  };
}

/** The envelope with which a service answers a passback of an app. */
async function passbackTo(url: string, keys: AppKeys): Promise<Answer['envelope']> {
  const draft = draftPassback(keys, { union_id: 'u1', user_info: '{"a":"b"}' });
  return (await send(url, draft)).envelope;
}

const app = { appKey: 'app-1' };

const openDriver = (database: string) =>
  database.startsWith('postgres')
    ? openPostgresDriver(database, { probe: 'SELECT 1' })
    : openSqliteDriver(database);

describe('an app', () => {
  it.each(['', new Secret('')])('has no empty secret: %j', async (appSecret) => {
    await using stand = await start();
    const created = stand.admin.createApp({ tenantCode: tenant, channel: 'web', appSecret });
    await expect(created).rejects.toThrow('app_secret is empty');
  });

  it('has two secrets while it rotates them, until the old one is retired', async () => {
    await using stand = await start();
    const { admin, secret: first, code } = stand;
    const rotate = async (overlapSeconds?: number) =>
      (
        await admin.rotateSecret({ ...app, ...(overlapSeconds && { overlapSeconds }) })
      ).app_secret.reveal();
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
    await expect.poll(() => code(third)).toBe(40102);
    expect(await code(fourth)).toBe(200);
    const fifth = await rotate();
    expect([await code(fourth), await code(fifth)]).toEqual([40102, 200]);
    // The old one is not even stored.
    expect((await all(admin.listApps()))[0]).not.toHaveProperty('old_secret_until');
  });

  it('signs both signatures by the same secret while it rotates: a half of the old one opens nothing', async () => {
    await using stand = await start();
    const { admin, secret: first } = stand;
    const { app_secret } = await admin.rotateSecret({ ...app, overlapSeconds: 3600 });
    const second = app_secret.reveal();
    const form = { union_id: 'u1', user_info: '{"stolen":"1"}' };
    const draft = (secret: string, spoiled = {}) => ({
      ...draftPassback({ ...stand.app, secret }, form),
      ...spoiled,
    });
    /** `sign` covers `app_sign`, whatever secret that is by. */
    const mixed = async (appSignBy: string, signBy: string) => {
      const target = new URL(signDraft(draft(appSignBy)).target, stand.url);
      target.searchParams.delete('sign');
      const pairs = [...target.searchParams, ...Object.entries(form)].sort(([a], [b]) =>
        a < b ? -1 : 1,
      );
      const message = `${pairs.map(([name, value]) => `${name}=${value}`).join('&')}&key=${signBy}`;
      target.searchParams.set('sign', createHash('md5').update(message).digest('hex'));
      const body = new URLSearchParams(form);
      return (await fetchAnswer(String(target), { method: 'PUT', body })).envelope.code;
    };
    const code = async (one: ReturnType<typeof draft>) =>
      (await send(stand.url, one)).envelope.code;
    expect(await code(draft(first, { spoilSign: true }))).toBe(40102);
    expect(await code(draft(first, { spoilAppSign: true }))).toBe(40102);
    expect(await code(draft(second, { spoilSign: true }))).toBe(40103);
    expect(await mixed(first, second)).toBe(40102);
    expect(await mixed(second, first)).toBe(40103);
    const { extension_info } = await admin.getUser({ tenantCode: tenant, unionId: 'u1' });
    expect(extension_info).toEqual({});
    expect([await mixed(first, first), await mixed(second, second)]).toEqual([200, 200]);
  });

  it('is refused while it is disabled, and once it is removed', async () => {
    await using stand = await start();
    const { admin, secret, code, passback } = stand;
    expect(await code(secret)).toBe(200);
    await admin.disableApp(app);
    expect(await passback(secret)).toMatchObject({ code: 40301, msg: 'the app is disabled' });
    await admin.enableApp(app);
    expect(await code(secret)).toBe(200);
    await admin.removeApp(app);
    expect(await code(secret)).toBe(40101);
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

describe('secrets in the database', () => {
  const newKey = () => new Secret(randomBytes(32).toString('base64'));
  const [old, newer] = [newKey(), newKey()];

  it('are encrypted with a master key, and again with another while the service serves', async () => {
    await using stand = await start();
    const { database, admin, secret } = stand;
    const stored = async () => {
      const driver = await openDriver(database);
      const [row] = await driver.read((sql) => sql.all('SELECT app_secret FROM apps'));
      await driver.close();
      return String(row?.app_secret);
    };
    expect(await stored()).toBe(secret);
    const encrypt = async (masterKeys: Secret[]) => {
      const other = await openAdmin({ database, masterKeys });
      const count = await other.encryptSecrets();
      await other.close();
      return count;
    };
    const service = await createService({ database, masterKeys: [old, newer] });
    const asked = async () => (await passbackTo(service.url, { ...stand.app, secret })).code;
    expect(await asked()).toBe(200);
    expect([await encrypt([old]), await encrypt([old])]).toEqual([1, 0]);
    const first = await stored();
    expect(first).not.toContain(secret);
    expect(await asked()).toBe(200);
    // Its new secret is encrypted with the newer key at once, that before it is not yet.
    const both = await openAdmin({ database, masterKeys: [newer, old] });
    await both.rotateSecret({ appKey: stand.app.app_key, overlapSeconds: 3600 });
    await both.close();
    expect(await encrypt([newer, old])).toBe(1);
    expect(await stored()).not.toBe(first);
    expect([await asked(), await encrypt([newer])]).toEqual([200, 0]);
    const keyed = await openAdmin({ database, masterKeys: [newer] });
    const rotated = await keyed.rotateSecret({ appKey: stand.app.app_key });
    await keyed.close();
    expect(await stored()).not.toContain(rotated.app_secret.reveal());
    await expect(createService({ database })).rejects.toThrow('and no master key is set');
    await expect(createService({ database, masterKeys: [old] })).rejects.toThrow(
      'with another key',
    );
    await expect(admin.createApp({ tenantCode: tenant, channel: 'web' })).resolves.toBeDefined();
    await service.close();
  });

  it('concern their app alone where one was changed in the database', async () => {
    await using stand = await start();
    const { database, admin, secret } = stand;
    for (const appKey of ['app-2', 'app-3']) {
      await admin.createApp({
        tenantCode: tenant,
        channel: 'web',
        appKey,
        appSecret: `secret of ${appKey}`,
      });
    }
    const keys = { database, masterKeys: [old] };
    const keyed = await openAdmin(keys);
    expect(await keyed.encryptSecrets()).toBe(3);
    await keyed.close();
    const spoil = async (column: string, to: string) => {
      const driver = await openDriver(database);
      await driver.write((sql) =>
        sql.run(`UPDATE apps SET ${column} = ${to} WHERE app_key = 'app-2'`),
      );
      await driver.close();
    };
    const log: LogEvent[] = [];
    const codeOf = async (url: string, appKey: string, by: string) =>
      (await passbackTo(url, { ...stand.app, app_key: appKey, secret: by })).code;
    const shortened = 'substr(app_secret, 1, 30)';
    for (const to of [
      "substr(app_secret, 1, length(app_secret) - 8) || 'AAAAAAA='",
      shortened,
      "'aes256gcm.zz'",
    ]) {
      await spoil('app_secret', to);
      const service = await createService({ ...keys, log: (event) => log.push(event) });
      expect(await codeOf(service.url, 'app-2', 'secret of app-2')).toBe(50301);
      expect(await codeOf(service.url, 'app-3', 'secret of app-3')).toBe(200);
      expect(await codeOf(service.url, 'app-1', secret)).toBe(200);
      expect((await fetchAnswer(`${service.url}/readyz`)).status).toBe(200);
      await service.close();
    }
    const problem = 'the encrypted secret of app "app-2" was changed';
    expect(log).toContainEqual(expect.objectContaining({ event: 'unreadable_secret', problem }));

    const other = await openAdmin({ database, masterKeys: [newer, old] });
    await expect(other.encryptSecrets()).rejects.toThrow('secret of app "app-2" was changed');
    const listed = [];
    for await (const { app_key } of other.listApps()) listed.push(app_key);
    expect(listed).toEqual(['app-1', 'app-2', 'app-3']);
    const rotated = await other.rotateSecret({ appKey: 'app-2', overlapSeconds: 60 });
    await using service = await createService({ database, masterKeys: [newer] });
    // All others were encrypted with the newer key.
    expect(await codeOf(service.url, 'app-3', 'secret of app-3')).toBe(200);
    expect(await codeOf(service.url, 'app-2', rotated.app_secret.reveal())).toBe(200);
    await spoil('app_secret', "'aes256gcm.zz'");
    await other.removeApp({ appKey: 'app-2' });
    await other.close();
  });

  it('need their key at the start, however many apps there are', async () => {
    await using stand = await start();
    const { database, admin } = stand;
    for (let count = 0; count < 120; count += 20) {
      const names = Array.from({ length: 20 }, (_, index) => `many-${count + index}`);
      await Promise.all(
        names.map((appKey) => admin.createApp({ tenantCode: tenant, channel: 'web', appKey })),
      );
    }
    const last = await openAdmin({ database, masterKeys: [old] });
    await last.createApp({ tenantCode: tenant, channel: 'web', appKey: 'the last' });
    await last.close();
    await expect(createService({ database })).rejects.toThrow('and no master key is set');
    await expect(openAdmin({ database, masterKeys: [newer] })).rejects.toThrow('with another key');
    await (await openAdmin({ database, masterKeys: [newer, old] })).close();
  });

  it('are all encrypted where there are more apps than are read at once', async () => {
    await using stand = await start();
    const { database, admin } = stand;
    const create = (appKey: string) =>
      admin.createApp({ tenantCode: tenant, channel: 'web', appKey });
    for (let count = 0; count < 500; count += 10) {
      await Promise.all(Array.from({ length: 10 }, (_, index) => create(`many-${count + index}`)));
    }
    const other = await openAdmin({ database, masterKeys: [old] });
    expect([await other.encryptSecrets(), await other.encryptSecrets()]).toEqual([501, 0]);
    const driver = await openDriver(database);
    const stored = await driver.read((sql) => sql.all('SELECT app_secret FROM apps'));
    await driver.close();
    await other.close();
    const cipher = new SecretCipher([old]);
    expect(stored).toHaveLength(501);
    expect(stored.filter(({ app_secret }) => !cipher.isCurrent(String(app_secret)))).toEqual([]);
  });

  it('of a key that the service does not have are refused as unavailable, and the log says why', async () => {
    await using stand = await start();
    const events: LogEvent[] = [];
    const service = await createService({
      database: stand.database,
      log: (event) => events.push(event),
    });
    const other = await openAdmin({ database: stand.database, masterKeys: [old] });
    await other.encryptSecrets();
    await other.close();
    const keys = { ...stand.app, secret: stand.secret };
    expect(await passbackTo(service.url, keys)).toMatchObject({ code: 50301 });
    await service.close();
    const problem = 'the secrets of the database are encrypted, and no master key is set';
    expect(events).toContainEqual(expect.objectContaining({ event: 'unreadable_secret', problem }));
  });

  it('are bound to their app, and refused when they were changed', () => {
    const cipher = new SecretCipher([old]);
    const stored = cipher.encrypt('app-1', new Secret('s3cret'));
    expect(cipher.decrypt('app-1', stored).reveal()).toBe('s3cret');
    expect(cipher.encrypt('app-1', new Secret('s3cret'))).not.toBe(stored);
    expect(() => cipher.decrypt('app-2', stored)).toThrow('was changed');
    const at = stored.length - 6;
    const changed = stored.slice(0, at) + (stored[at] === 'A' ? 'B' : 'A') + stored.slice(at + 1);
    expect(() => cipher.decrypt('app-1', changed)).toThrow('secret of app "app-1" was changed');
    expect(() => new SecretCipher([new Secret('short')])).toThrow('not 32 bytes');
  });
});
