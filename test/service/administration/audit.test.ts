import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SqlDriver } from '../../../src/service/database/sql-driver.js';
import { type Admin, openAdmin } from '../../../src/service/index.js';
import { createStore } from '../../../src/service/store/store.js';
import { draftPassback, draftRead, send } from '../../support/foreign-client.js';
import { createPostgresDatabase } from '../../support/postgres/postgres-database.js';
import {
  all,
  type RunningService,
  runService,
  tenant,
  user,
} from '../../support/running-service.js';
import { createSqliteDatabase } from '../../support/sqlite-database.js';

const onPostgres = process.env.USERINFO_TEST_STORE === 'postgres';

let database: Awaited<ReturnType<typeof createPostgresDatabase | typeof createSqliteDatabase>>;
/** Another program's way to the tables. */
let driver: SqlDriver;
let admin: Admin;
let beside: Admin;
let name: string;

beforeEach(async () => {
  database = await (onPostgres ? createPostgresDatabase() : createSqliteDatabase());
  name = 'url' in database ? database.url : database.file;
  driver = await database.open();
  admin = await openAdmin({ database: name, actor: 'anna' });
  beside = await openAdmin({ database: name, actor: 'ben' });
});
afterEach(async () => {
  await Promise.all([admin.close(), beside.close(), driver.close()]);
  await database.remove();
});

const u1 = { tenantCode: tenant, unionId: 'union-of-one' };
const u2 = { tenantCode: tenant, unionId: 'union-of-two' };
const mobile = { tenantCode: tenant, key: 'mobile', value: '13800138000' };
const short = ({ actor, action }: { actor: string; action: string }) => `${actor}: ${action}`;
const listed = async (filter: Parameters<Admin['listAudit']>[0]) =>
  (await all(admin.listAudit(filter))).map(short).sort();

describe('the audit', () => {
  it('has who saw, changed or deleted the record of a person', async () => {
    const basic_info = { mobile: mobile.value };
    await admin.putUser(user(u1.unionId, { basic_info }));
    await admin.putUser(user(u2.unionId, { basic_info: { mobile: '13900139000' } }));
    await admin.putUsers([{ ...user(u1.unionId), tenant_code: 'other' }]);
    await beside.getUser(u1);
    await beside.getUser(u2);
    await admin.getUser({ ...u1, tenantCode: 'other' });
    await all(beside.findUsers(mobile));
    await all(admin.findUsers({ ...mobile, value: 'of nobody' }));
    await all(beside.listUsers({ tenantCode: tenant }));
    await all(beside.listUsers({ tenantCode: 'other' }));
    await admin.issueCode(u1);
    const seen = ['ben: user find', 'ben: user list', 'ben: user show'];
    const ofOne = ['anna: code issue', 'anna: user put', ...seen];
    expect(await listed({ user: u1 })).toEqual(ofOne);
    expect(await listed({ user: { ...u1, tenantCode: 'other' } })).toEqual([
      'anna: user put',
      'anna: user show',
      'ben: user list',
    ]);
    expect(await listed({ user: u2 })).toEqual([
      'anna: user put',
      'ben: user list',
      'ben: user show',
    ]);
    // By a value: the search itself, too.
    expect(await listed({ user: mobile })).toEqual([...ofOne, 'ben: user find'].sort());
    await admin.deleteUser(u1);
    expect(await listed({ user: u1 })).toEqual([...ofOne, 'anna: user delete'].sort());
    expect(await listed({ user: mobile })).toEqual(['ben: user find', 'ben: user list']);
    await admin.putUser(user('another', { basic_info: { mobile: '13900139000' } }));
    await expect(listed({ user: { ...mobile, value: '13900139000' } })).rejects.toThrow(
      'several users',
    );
  });

  it('names a person by a digest that only this database can compute', async () => {
    await admin.putUser(user(u1.unionId));
    await admin.getUser(u1);
    const [line] = await all(admin.listAudit({ action: 'user show' }));
    expect(line).toMatchObject({ subject: 'uni****-one', user_digest: admin.digestUser(u1) });
    expect(line?.user_digest).toMatch(/^[\da-f]{32}$/);
    expect(beside.digestUser(u1)).toBe(line?.user_digest);
    const texts = [u1.unionId, `${tenant}${u1.unionId}`, JSON.stringify([tenant, u1.unionId])];
    for (const text of texts) {
      const plain = createHash('sha256').update(text).digest('hex');
      expect(plain).not.toContain(line?.user_digest);
    }
    const another = await openAdmin({ database: ':memory:' });
    expect(another.digestUser(u1)).not.toBe(line?.user_digest);
    await another.close();
    for (const change of [
      'UPDATE service_state SET digest_key = NULL',
      'DELETE FROM service_state',
    ]) {
      await driver.write((sql) => sql.run(`${change} WHERE name = 'digest_key'`));
      // Several at once agree on the new key.
      const opened = await Promise.all([1, 2, 3].map(() => openAdmin({ database: name })));
      const digests = new Set(opened.map((one) => one.digestUser(u1)));
      expect([digests.size, digests.has(line?.user_digest ?? '')]).toEqual([1, false]);
      for (const one of opened) await one.close();
    }
    expect(admin.digestUser({ tenantCode: 'other', unionId: u1.unionId })).not.toBe(
      line?.user_digest,
    );
    expect(admin.digestUser({ tenantCode: tenant, key: u1.unionId, value: '' })).not.toBe(
      line?.user_digest,
    );
  });

  it('is searched by what is given, page by page, newest first', async () => {
    const { app_key: appKey } = await admin.createApp({ tenantCode: tenant, channel: 'web' });
    await beside.createApp({ tenantCode: 'other', channel: 'web' });
    await beside.disableApp({ appKey });
    await driver.write(async (sql) => {
      for (let i = 0; i < 1203; i++) {
        const values = [
          1000 + (i >> 2),
          `${1000 + i}`,
          'carl',
          'user show',
          i % 3 === 0 ? 'rare' : tenant,
        ];
        await sql.run(
          "INSERT INTO audit (at, id, actor, action, tenant_code, subject) VALUES ($1, $2, $3, $4, $5, 'u')",
          values,
        );
      }
    });
    const lines = await all(admin.listAudit({ limit: 'unlimited' }));
    expect(lines).toHaveLength(1206);
    const times = lines.map(({ at }) => at);
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    expect(await all(admin.listAudit())).toEqual(lines.slice(0, 100));
    expect(await all(admin.listAudit({ limit: 503 }))).toEqual(lines.slice(0, 503));

    const some = (filter: Parameters<Admin['listAudit']>[0]) =>
      all(admin.listAudit({ ...filter, limit: 'unlimited' }));
    const where = (test: (line: (typeof lines)[number]) => boolean) => lines.filter(test);
    expect(await some({ since: 1200 })).toEqual(where(({ at }) => at >= 1200));
    expect(await some({ action: 'user show' })).toEqual(where(({ actor }) => actor === 'carl'));
    expect(await some({ tenantCode: 'rare' })).toEqual(
      where(({ tenant_code }) => tenant_code === 'rare'),
    );
    expect(await some({ tenantCode: 'rare', action: 'user show', since: 1100 })).toEqual(
      where(({ tenant_code, at }) => tenant_code === 'rare' && at >= 1100),
    );
    expect((await some({ appKey })).map(short).sort()).toEqual([
      'anna: app create',
      'ben: app disable',
    ]);
    expect((await some({ appKey, tenantCode: tenant, action: 'app disable' })).map(short)).toEqual([
      'ben: app disable',
    ]);
    // A subject of another action is no app key.
    expect(await some({ appKey: 'u' })).toEqual([]);
    expect(await some({ since: 99_999_999_999 })).toEqual([]);
    await expect(all(admin.listAudit({ limit: 0 }))).rejects.toThrow('the limit is 0');
  });

  it('has no code that somebody could still use', async () => {
    await admin.putUser(user(u1.unionId));
    const [kept, revoked] = [await admin.issueCode(u1), await admin.issueCode(u1)];
    await admin.revokeCode({ tenantCode: tenant, code: revoked.code });
    const lines = await all(admin.listAudit());
    expect(lines.map(short)).toContain('anna: code revoke');
    for (const { code } of [kept, revoked]) expect(JSON.stringify(lines)).not.toContain(code);
  });

  it('has no line of what did not happen', async () => {
    const app = { tenantCode: tenant, channel: 'web', appKey: 'app-1' };
    await admin.createApp(app);
    const before = await listed({});
    await expect(beside.createApp(app)).rejects.toThrow();
    await expect(beside.disableApp({ appKey: 'app-2' })).rejects.toThrow();
    await expect(beside.removeApp({ appKey: 'app-2' })).rejects.toThrow();
    await expect(beside.getUser(u1)).rejects.toThrow();
    await expect(beside.deleteUser(u1)).rejects.toThrow();
    await expect(beside.revokeCode({ tenantCode: tenant, code: 'c' })).rejects.toThrow();
    await expect(beside.putUser(user(''))).rejects.toThrow();
    expect(await listed({})).toEqual(before);
  });

  it('counts the codes of a minute in a line, whoever issues them at once', async () => {
    await admin.putUsers(['a', 'b'].map((unionId) => user(unionId)));
    const issue = (by: Admin, unionIds: string[]) =>
      by.issueCodes({ tenantCode: tenant, unionIds });
    await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        issue(i % 3 === 0 ? beside : admin, ['a', 'nobody', 'b']),
      ),
    );
    await issue(beside, ['nobody']);
    await admin.putUser({ ...user('a'), tenant_code: 'other' });
    await admin.issueCodes({ tenantCode: 'other', unionIds: ['a', 'a', 'a'] });
    const lines = await all(admin.listAudit({ action: 'code issue' }));
    const count = (wanted: string, of = tenant) => {
      const own = lines.filter(({ actor, tenant_code }) => actor === wanted && tenant_code === of);
      // A minute may have begun in between.
      expect(own.length).toBeLessThanOrEqual(2);
      return own.reduce((sum, { subject }) => sum + Number(/^(\d+) codes$/.exec(subject)?.[1]), 0);
    };
    expect([count('anna'), count('ben'), count('anna', 'other')]).toEqual([40, 20, 3]);
    for (const { at, user_digest } of lines) expect([at % 60, user_digest]).toEqual([0, null]);
  });

  it.runIf(onPostgres)(
    'lets nobody wait for another one that counts codes (needs PostgreSQL)',
    async () => {
      const store = await createStore(await database.open());
      let end: () => void = () => {};
      const ended = new Promise<void>((resolve) => {
        end = resolve;
      });
      let counted: () => void = () => {};
      const isCounted = new Promise<void>((resolve) => {
        counted = resolve;
      });
      const stuck = store.write(async ({ audit }) => {
        await audit.countCodes('anna', tenant, 1);
        counted();
        await ended;
      });
      await isCounted;
      await admin.putUser(user('a'));
      await admin.issueCodes({ tenantCode: tenant, unionIds: ['a'] });
      end();
      await stuck;
      const codes = await all(admin.listAudit({ action: 'code issue' }));
      expect(codes.map(({ subject }) => Number.parseInt(subject, 10)).reduce((a, b) => a + b)).toBe(
        2,
      );
      await store.close();
    },
  );
});

describe('the log', () => {
  let running: RunningService;
  beforeEach(async () => {
    running = await runService({ database: name });
  });
  afterEach(() => running.service.close());

  it('names the user of a request as the audit does, also of one that is refused', async () => {
    const { service, app, log } = running;
    await admin.putUser(user(u1.unionId, { basic_info: { mobile: mobile.value } }));
    const { code } = await admin.issueCode(u1);
    const user_info = JSON.stringify({ mobile: mobile.value, level: 'gold' });
    const unused = { mobile: '13000130000', level: 'gold' };
    const requests = [
      draftRead(app, code),
      draftRead(app, code),
      draftRead(app, 'no such code'),
      draftPassback(app, { union_id: u1.unionId, user_info }),
      draftPassback(app, { primary_key: 'mobile', user_info }),
      draftPassback(app, { primary_key: 'mobile', user_info: JSON.stringify(unused) }),
      draftPassback(app, { union_id: 'nobody', user_info }),
      { ...draftPassback(app, { union_id: u1.unionId, user_info }), spoilSign: true },
      { ...draftRead(app, code), spoilSign: true },
    ];
    for (const request of requests) await send(service.url, request);
    const answered = () => log.filter((event) => event.event === 'request');
    await expect.poll(() => answered().length).toBe(requests.length);
    const digest = admin.digestUser(u1);
    const ofValue = admin.digestUser({ tenantCode: tenant, key: 'mobile', value: unused.mobile });
    const ofNobody = admin.digestUser({ tenantCode: tenant, unionId: 'nobody' });
    expect(answered().map((event) => [event.code, event.user_digest])).toEqual([
      [200, digest],
      [40106, digest],
      [40106, undefined],
      [200, digest],
      [200, digest],
      [40401, ofValue],
      [40401, ofNobody],
      [40103, digest],
      [40103, undefined],
    ]);
    expect(JSON.stringify(log)).not.toMatch(/union-of-one|13800138000|13000130000/);
  });
});
