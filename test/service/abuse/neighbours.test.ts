import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createService, openAdmin } from '../../../src/service/index.js';
import { type AppKeys, draftPassback, send, signDraft } from '../../support/foreign-client.js';
import { createSchema } from '../../support/postgres/test-schema.js';
import { openSocket } from '../../support/raw-exchange.js';
import { tenant, user } from '../../support/running-service.js';
import { startServiceProcesses } from '../../support/service-process.js';

/** Number of requests that the app with costly requests keeps unanswered. */
const outstanding = 32;

/** Number of requests that are asked while others flood the service. */
const turns = 8;

/** A service on a database of its own, apps of one tenant, and the users `a0` to `a31` and `b`. */
async function start(engine: string) {
  const folder = await mkdtemp(join(tmpdir(), 'userinfo-neighbours-'));
  const schema = engine === 'PostgreSQL' ? await createSchema() : null;
  const database = schema?.url ?? join(folder, 'shared.db');
  const admin = await openAdmin({ database });
  const newApp = async (): Promise<AppKeys> => {
    const { app_secret, ...app } = await admin.createApp({ tenantCode: tenant, channel: 'web' });
    return { ...app, secret: app_secret.reveal() };
  };
  const [costly, small] = [await newApp(), await newApp()];
  const unused: AppKeys[] = [];
  for (let turn = 0; turn < turns; turn += 1) unused.push(await newApp());
  await admin.putUsers([...Array.from({ length: outstanding }, (_, index) => user(`a${index}`)), user('b')]);
  await admin.close();
  const [service] = await startServiceProcesses(database, 1);
  onTestFinished(async () => {
    const ended = new Promise((resolve) => service?.child.once('exit', resolve));
    service?.child.kill();
    await ended;
    await rm(folder, { recursive: true });
    await schema?.remove();
  });
  return { url: service?.url ?? '', costly, small, unused };
}

const passBack = async (url: string, app: AppKeys, union_id: string, userInfo: object) =>
  (await send(url, draftPassback(app, { union_id, user_info: JSON.stringify(userInfo) }))).envelope.code;

/** The same on an open connection, at a tenth of the cost of `fetch`. */
async function passBackOn(socket: Socket, app: AppKeys): Promise<number> {
  const { target, body } = signDraft(draftPassback(app, { union_id: 'b', user_info: '{"a":"b"}' }));
  const type = 'Content-Type: application/x-www-form-urlencoded';
  socket.write(
    `PUT ${target} HTTP/1.1\r\nHost: x\r\n${type}\r\nContent-Length: ${body?.length}\r\n\r\n${body}`,
  );
  let answer = '';
  while (!answer.endsWith('}}')) answer += (await once(socket, 'data'))[0];
  return JSON.parse(answer.slice(answer.indexOf('{'))).code;
}

/**
 * Keeps requests of `flood` unanswered, each of which resolves to a result code, and asks `turns` times by `ask` once
 * the first is answered. Returns the codes of `flood`, and how many were answered during each but the first, in order.
 */
async function flooded(
  flood: (index: number) => Promise<number>,
  ask: (turn: number) => Promise<number>,
  unanswered = outstanding,
) {
  const codes = new Set<number>();
  const overtaken: number[] = [];
  let answered = 0;
  let isOver = false;
  const flooding = Array.from({ length: unanswered }, async (_, index) => {
    while (!isOver) {
      codes.add(await flood(index));
      answered += 1;
    }
  });
  const asking = async () => {
    // All of them wait.
    await expect.poll(() => answered).toBeGreaterThan(0);
    for (let turn = 0; turn < turns; turn += 1) {
      const before = answered;
      expect(await ask(turn)).toBe(200);
      if (turn > 0) overtaken.push(answered - before);
    }
  };
  await asking().finally(async () => {
    isOver = true;
    await Promise.all(flooding);
  });
  return { codes: [...codes], overtaken: overtaken.sort((one, other) => one - other) };
}

it.each(['SQLite', 'PostgreSQL'])(
  'an app with costly requests does not let those of another app wait for all of them: %s',
  async (engine) => {
    const { url, costly, small } = await start(engine);
    let serial = 0;
    /** Each replaces all values of a wide record. */
    const allValues = () => {
      serial += 1;
      return Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`k${index}`, `v${serial}`]));
    };
    const { codes, overtaken } = await flooded(
      (index) => passBack(url, costly, `a${index}`, allValues()),
      (turn) => passBack(url, small, 'b', { turn }),
    );
    // The app itself may ask for more than a slow database can do.
    expect([200, 50301]).toEqual(expect.arrayContaining(codes));
    // In the order of arrival it would be about as many as are unanswered, each time.
    expect(overtaken[1], `${overtaken}`).toBeLessThanOrEqual(outstanding / 2);
  },
);

it('requests that name keys no app can have fail alone: apps that are looked up with them are found', async () => {
  const { url, small, unused } = await start('PostgreSQL');
  const { codes } = await flooded(
    (index) => passBack(url, { ...small, app_key: index % 2 === 0 ? `nobody${index}` : `no\0body` }, 'b', {}),
    (turn) => passBack(url, unused[turn] ?? small, 'b', { turn }),
  );
  expect(codes.sort()).toEqual([40002, 40101]);
});

describe('requests without a right signature do not let an app wait for all of them', () => {
  const large = { long: 'x'.repeat(60_000) };

  it('if they name the app', async () => {
    // Each is cheap: the disk alone takes as long as few of them.
    const many = 256;
    const { url, small } = await start('SQLite');
    const { codes, overtaken } = await flooded(
      () => passBack(url, { ...small, secret: 'not-its-secret' }, 'b', large),
      (turn) => passBack(url, small, 'b', { turn }),
      many,
    );
    expect(codes).toEqual([40102]);
    expect(overtaken[1], `${overtaken}`).toBeLessThanOrEqual(many / 2);
  });

  it('if they name unknown apps, each another one: not even its first request', async () => {
    const many = 256;
    const { url, small, unused } = await start('PostgreSQL');
    const sockets = Array.from({ length: many + 1 }, () => openSocket(url));
    let serial = 0;
    const ask = (index: number, app: AppKeys) => passBackOn(sockets[index] as Socket, app);
    const { codes, overtaken } = await flooded(
      (index) => {
        serial += 1;
        return ask(index, { ...small, app_key: `nobody${serial}` });
      },
      (turn) => ask(many, unused[turn] ?? small),
      many,
    );
    for (const socket of sockets) socket.destroy();
    expect(codes).toEqual([40101]);
    expect(overtaken[1], `${overtaken}`).toBeLessThanOrEqual(many / 4);
  });

  it('if hundreds of them name unknown apps at once: one place at PostgreSQL is enough to look for these', async () => {
    const schema = await createSchema();
    {
      await using service = await createService({ database: schema.url, poolSize: 1 });
      const app = { tenant_code: tenant, channel: 'web', secret: 's' };
      const named = Array.from({ length: 300 }, (_, index) => ({ ...app, app_key: `nobody${index}` }));
      const codes = await Promise.all(named.map((one) => passBack(service.url, one, 'b', {})));
      expect([...new Set(codes)]).toEqual([40101]);
    }
    await schema.remove();
  });
});
