import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { fetchAnswer } from '../support/foreign-client.js';
import { PostgresServer } from '../support/postgres/postgres-server.js';
import { type RunningService, runService, tenant, user } from '../support/running-service.js';

let server: PostgresServer;
let running: RunningService;

beforeAll(async () => {
  server = await PostgresServer.create();
  const database = `${server.url}?statement_timeout=2000`;
  running = await runService({ database, poolSize: 4 });
  await running.service.admin.putUser(user('u1'));
});
afterAll(async () => {
  await running.service.close();
  await server.remove();
});

let serial = 0;
const passback = async () => {
  const key = `key${serial++}`;
  const { envelope } = await running.passback({ union_id: 'u1', user_info: `{"${key}":"x"}` });
  return { key, code: envelope.code };
};
const health = async () => (await fetchAnswer(`${running.service.url}/healthz`)).status;
const many = (count: number) => Promise.all(Array.from({ length: count }, passback));

describe('a service whose database is lost', () => {
  afterEach(async () => {
    // It resumes by itself.
    await expect.poll(health).toBe(200);
    expect((await passback()).code).toBe(200);
  });

  it('answers 50301 while the database is stopped, and keeps what it acknowledged before', async () => {
    const before = many(200);
    const stopped = server.stop();
    const answers = [...(await before), ...(await many(50))];
    await stopped;
    for (const { code } of answers) expect([200, 50301]).toContain(code);
    expect((await many(200)).every(({ code }) => code === 50301)).toBe(true);
    await expect.poll(health).toBe(503);
    const problem = 'the database cannot be reached: nothing is listening there';
    // Repeats are logged once a second.
    const logged = async () => {
      await passback();
      return running.log;
    };
    await expect
      .poll(logged)
      .toContainEqual(expect.objectContaining({ event: 'store_unavailable', problem }));

    await server.start();
    await expect.poll(health).toBe(200);
    const { extension_info } = await running.service.admin.getUser({
      tenantCode: tenant,
      unionId: 'u1',
    });
    const acknowledged = answers.filter(({ code }) => code === 200).map(({ key }) => key);
    expect(acknowledged.filter((key) => !(key in extension_info))).toEqual([]);
  });

  it('does not let requests pile up while the database hangs', async () => {
    await server.signal('SIGSTOP');
    try {
      const first = await many(50);
      expect(first.every(({ code }) => code === 50301)).toBe(true);
      // At once: if each met the time-out of the first ones, they would take longer than the test
      // may.
      for (let count = 0; count < 50; count += 1) expect((await passback()).code).toBe(50301);
      await expect.poll(health).toBe(503);
    } finally {
      await server.signal('SIGCONT');
    }
  });

  it('counts it for its metrics, also where nobody asks for anything else', async () => {
    const problems = async () => {
      const metrics = await (await fetch(`${running.service.url}/metrics`)).text();
      return Number(
        /^userinfo_problems_total\{event="store_unavailable"\} (\d+)/m.exec(metrics)?.[1],
      );
    };
    const before = await problems();
    await server.stop();
    await expect.poll(problems).toBeGreaterThan(before);
    await server.start();
  });
});
