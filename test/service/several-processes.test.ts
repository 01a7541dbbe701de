import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Admin, createService, openAdmin } from '../../src/service/index.js';
import {
  type AppKeys,
  type Draft,
  draftPassback,
  draftRead,
  send,
} from '../support/foreign-client.js';
import { createSchema } from '../support/postgres/test-schema.js';
import { createAppKeys, tenant, user } from '../support/running-service.js';
import { type ServiceProcess, startServiceProcesses } from '../support/service-process.js';

const rounds = 8;

async function sqliteFile() {
  const folder = await mkdtemp(join(tmpdir(), 'userinfo-processes-'));
  return { database: join(folder, 'shared.db'), remove: () => rm(folder, { recursive: true }) };
}

async function postgresSchema() {
  const { url, remove } = await createSchema();
  return { database: url, remove };
}

describe.each([
  ['a SQLite file', sqliteFile],
  ['PostgreSQL', postgresSchema],
])('processes that share %s', (_, createDatabase) => {
  let database: Awaited<ReturnType<typeof createDatabase>>;
  let admin: Admin;
  let app: AppKeys;
  let processes: readonly ServiceProcess[] = [];

  beforeAll(async () => {
    database = await createDatabase();
    // The database is empty: all of them make its tables.
    processes = await startServiceProcesses(database.database, 3);
    admin = await openAdmin({ database: database.database });
    app = await createAppKeys({ admin }, tenant);
  });
  afterAll(async () => {
    for (const { child } of processes) child.kill('SIGKILL');
    await admin.close();
    await database.remove();
  });

  /** Sends each draft to a process of its own, all at once. */
  const sendAtOnce = async (...drafts: Draft[]) => {
    const answers = await Promise.all(
      drafts.map((draft, index) => send(processes[index]?.url ?? '', draft)),
    );
    return answers.map(({ envelope }) => envelope);
  };
  const codesOf = async (...drafts: Draft[]) =>
    (await sendAtOnce(...drafts)).map(({ code }) => code).sort();
  const passback = (form: Record<string, string>) => draftPassback(app, form);
  const issueCode = async (unionId: string) =>
    (await admin.issueCode({ tenantCode: tenant, unionId })).code;

  it('accept a request once that is sent to all of them', async () => {
    await admin.putUser(user('u1'));
    for (let round = 0; round < rounds; round++) {
      const draft = passback({ union_id: 'u1', user_info: `{"a":"${round}"}` });
      expect(await codesOf(draft, draft, draft)).toEqual([200, 40105, 40105]);
    }
  });

  it('accept a code once', async () => {
    await admin.putUser(user('u2'));
    for (let round = 0; round < rounds; round++) {
      const code = await issueCode('u2');
      const drafts = [1, 2, 3].map(() => draftRead(app, code));
      expect(await codesOf(...drafts)).toEqual([200, 40106, 40106]);
    }
  });

  it('find no user by a value that two users share', async () => {
    await admin.putUsers([user('u3'), user('u4')]);
    for (let round = 0; round < rounds; round++) {
      const user_info = `{"seat":"${round}"}`;
      const given = ['u3', 'u4'].map((union_id) => passback({ union_id, user_info }));
      expect(await codesOf(...given)).toEqual([200, 200]);
      const byKey = [1, 2, 3].map(() => passback({ primary_key: 'seat', user_info }));
      expect(await codesOf(...byKey)).toEqual([40901, 40901, 40901]);
    }
  });

  it('write to the only user of a value or to none, while another user gets the value', async () => {
    for (let round = 0; round < rounds; round++) {
      const [holder, taker] = [`holder${round}`, `taker${round}`];
      await admin.putUsers([user(holder, { extension_info: { desk: `${round}` } }), user(taker)]);
      const [byKey, byId] = await sendAtOnce(
        passback({ primary_key: 'desk', user_info: `{"desk":"${round}","written":"1"}` }),
        passback({ union_id: taker, user_info: `{"desk":"${round}"}` }),
      );
      expect(byId?.code).toBe(200);
      expect([200, 40901]).toContain(byKey?.code);
      const written = async (unionId: string) =>
        (await admin.getUser({ tenantCode: tenant, unionId })).extension_info.written;
      expect(await written(holder)).toBe(byKey?.code === 200 ? '1' : undefined);
      expect(await written(taker)).toBeUndefined();
    }
  });

  it('accept a request once with different clock windows', async () => {
    await admin.putUser(user('u7'));
    const then = Math.floor(Date.now() / 1000) - 60;
    await using strict = await createService({
      database: database.database,
      platform: { clock_window_seconds: 2 },
      now: () => then * 1000,
    });
    const draft = passback({ union_id: 'u7', user_info: '{"a":"1"}' });
    draft.query.set('timestamp', `${then}`);
    expect((await send(strict.url, draft)).envelope.code).toBe(200);
    expect(await codesOf(draft, draft, draft)).toEqual([40105, 40105, 40105]);
  });

  it('do not disturb each other if one clock is ahead', async () => {
    await admin.putUser(user('u8'));
    const late = passback({ union_id: 'u8', user_info: '{"a":"1"}' });
    late.query.set('timestamp', `${Math.floor(Date.now() / 1000) - 150}`);
    expect(await codesOf(late)).toEqual([200]);
    const issued = await admin.issueCode({ tenantCode: tenant, unionId: 'u8', ttlSeconds: 180 });
    await using ahead = await createService({
      database: database.database,
      faults: { skewSeconds: 240, seed: 1 },
    });
    const ordinary = passback({ union_id: 'u8', user_info: '{"a":"2"}' });
    expect((await send(ahead.url, ordinary)).envelope.code).toBe(200);
    // It has purged when it has stopped.
    await ahead.close();
    expect(await codesOf(late)).toEqual([40105]);
    expect(await codesOf(draftRead(app, issued.code))).toEqual([200]);
  });

  it('see what the others acknowledged', async () => {
    await admin.putUser(user('u5'));
    for (let round = 0; round < rounds; round++) {
      const [writer, reader] = round % 2 === 0 ? processes : [...processes].reverse();
      const user_info = `{"locker":"${round}"}`;
      const written = await send(writer?.url ?? '', passback({ union_id: 'u5', user_info }));
      expect(written.envelope.code).toBe(200);
      const draft = draftRead(app, await issueCode('u5'), { info_name: 'locker' });
      const { envelope } = await send(reader?.url ?? '', draft);
      expect(envelope.data).toEqual({ union_id: 'u5', locker: `${round}` });
      const byKey = await send(reader?.url ?? '', passback({ primary_key: 'locker', user_info }));
      expect(byKey.envelope.data).toEqual({ union_id: 'u5' });
    }
  });

  it('lose none of their changes to one user', async () => {
    await admin.putUser(user('u6'));
    const drafts = Array.from({ length: rounds }, (_, n) =>
      passback({ union_id: 'u6', user_info: `{"key${n}":"${n}"}` }),
    );
    const answers = await Promise.all(
      drafts.map((draft, n) => send(processes[n % processes.length]?.url ?? '', draft)),
    );
    expect(answers.map(({ envelope }) => envelope.code)).toEqual(Array(rounds).fill(200));
    const { extension_info } = await admin.getUser({ tenantCode: tenant, unionId: 'u6' });
    expect(Object.keys(extension_info)).toHaveLength(rounds);
  });
});
