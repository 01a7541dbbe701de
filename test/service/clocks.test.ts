import { afterEach, beforeEach, expect, it } from 'vitest';
import { createService, type ServiceOptions } from '../../src/service/index.js';
import { draftPassback, fetchAnswer, send } from '../support/foreign-client.js';
import { createSchema, execute, type TestSchema } from '../support/postgres/test-schema.js';
import { type RunningService, runService, user } from '../support/running-service.js';

let schema: TestSchema;
let database: string;
let running: RunningService;

/** The clock of the database is `now()`, which this schema has of its own. */
beforeEach(async () => {
  schema = await createSchema();
  database = `${schema.url},pg_catalog`;
  await execute(
    schema.url,
    `CREATE TABLE userinfo_clock (ahead INTERVAL);
     INSERT INTO userinfo_clock VALUES ('0');
     CREATE FUNCTION now() RETURNS TIMESTAMPTZ LANGUAGE SQL STABLE
       AS 'SELECT pg_catalog.now() + (SELECT ahead FROM userinfo_clock)'`,
  );
});
afterEach(async () => {
  await running.service.close();
  await schema.remove();
});

const start = async (options: ServiceOptions = {}) => {
  running = await runService({ database, ...options });
  await running.service.admin.putUser(user('u1'));
};
const setClock = (ahead: string) =>
  execute(schema.url, `UPDATE userinfo_clock SET ahead = '${ahead}'`);
const draft = () => draftPassback(running.app, { union_id: 'u1', user_info: '{"a":"b"}' });
const code = async (one: ReturnType<typeof draft>) =>
  (await send(running.service.url, one)).envelope.code;
const ready = async () => (await fetchAnswer(`${running.service.url}/readyz`)).status;

it('accepts a request once while the clock of the database steps', async () => {
  await start();
  const before = draft();
  expect(await code(before)).toBe(200);
  const seen = [before];
  // As a standby that is ahead and takes over, and its purge.
  for (const ahead of ['1 hour', '-1 hour', '2 hours', '0']) {
    await setClock(ahead);
    const purging = await createService({ database });
    await purging.close();
    const fresh = draft();
    expect(await code(fresh)).toBe(200);
    seen.push(fresh);
    for (const one of seen) expect(await code(one)).toBe(40105);
  }
});

it('is not ready while its clock and that of the database are too far apart', async () => {
  await using _beside = await createService({});
  await start({ platform: { clock_window_seconds: 60 } });
  const difference = async () => {
    const text = await (await fetch(`${running.service.url}/metrics`)).text();
    return Number(/^userinfo_clock_difference_seconds (\S+)$/m.exec(text)?.[1]);
  };
  const problems = () => running.log.filter(({ event }) => event === 'clock');
  expect([await ready(), await difference()]).toEqual([200, 0]);
  await setClock('10 minutes');
  await expect.poll(ready).toBe(503);
  expect(Math.abs((await difference()) + 600)).toBeLessThanOrEqual(2);
  expect(problems()).toEqual([
    {
      event: 'clock',
      problem: expect.stringMatching(/^the clock of this machine is \d+ s behind that of the data/),
    },
  ]);
  // Once, however many probes find it, each a second after the last.
  for (let probe = 0; probe < 2; probe++) {
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect(await ready()).toBe(503);
  }
  expect(problems()).toHaveLength(1);
  await setClock('50 seconds');
  await expect.poll(ready).toBe(200);
  await setClock('-10 minutes');
  await expect.poll(ready).toBe(503);
  expect(problems()[1]).toMatchObject({
    problem: expect.stringContaining(' s ahead of that of the database'),
  });
});

it('accepts an old secret as long as the database says, whatever the clock of the process', async () => {
  await start();
  const { app } = running;
  await running.service.close();
  running = await runService({
    database,
    now: () => Date.now() + 600_000,
    platform: { clock_window_seconds: 900 },
  });
  const old = { ...app };
  await running.service.admin.rotateSecret({ appKey: app.app_key, overlapSeconds: 300 });
  const byOld = () => draftPassback(old, { union_id: 'u1', user_info: '{"a":"b"}' });
  expect(await code(byOld())).toBe(200);
  await setClock('301 seconds');
  // Another process, which reads the app now.
  await using other = await createService({ database });
  expect((await send(other.url, byOld())).envelope.code).toBe(40102);
});
