import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openAdmin } from '../../../src/service/index.js';
import { type AppKeys, draftPassback, send } from '../../support/foreign-client.js';
import { createSchema } from '../../support/postgres/test-schema.js';
import { tenant, user } from '../../support/running-service.js';
import { startServiceProcesses } from '../../support/service-process.js';

/** Number of requests that the app with costly requests keeps unanswered. */
const outstanding = 32;

/** A service on a database of its own, two apps of one tenant, and the users `a0` to `a31` and `b`. */
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
  return { url: service?.url ?? '', costly, small };
}

const passBack = async (url: string, app: AppKeys, union_id: string, userInfo: object) =>
  (await send(url, draftPassback(app, { union_id, user_info: JSON.stringify(userInfo) }))).envelope.code;

it.each(['SQLite', 'PostgreSQL'])(
  'an app with costly requests does not let those of another app wait for all of them: %s',
  async (engine) => {
    const { url, costly, small } = await start(engine);
    let serial = 0;
    /** Each replaces all values of a wide record. */
    const allValues = () => {
      serial += 1;
      return Object.fromEntries(Array.from({ length: 600 }, (_, index) => [`k${index}`, `v${serial}`]));
    };
    const codes = new Set<number>();
    let answered = 0;
    let isOver = false;
    const flood = Array.from({ length: outstanding }, async (_, index) => {
      while (!isOver) {
        codes.add(await passBack(url, costly, `a${index}`, allValues()));
        answered += 1;
      }
    });
    const overtaken: number[] = [];
    const ask = async () => {
      // All of them wait.
      await expect.poll(() => answered).toBeGreaterThan(0);
      await passBack(url, small, 'b', { first: 1 });
      for (let turn = 0; turn < 7; turn += 1) {
        const before = answered;
        expect(await passBack(url, small, 'b', { turn })).toBe(200);
        overtaken.push(answered - before);
      }
    };
    await ask().finally(async () => {
      isOver = true;
      await Promise.all(flood);
    });
    expect([...codes]).toEqual([200]);
    // In the order of arrival it would be about as many as are unanswered, each time.
    overtaken.sort((one, other) => one - other);
    expect(overtaken[1], `${overtaken}`).toBeLessThanOrEqual(outstanding / 2);
  },
);
