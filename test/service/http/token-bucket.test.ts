import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { limitRate } from '../../../src/service/http/token-bucket.js';
import {
  type AppKeys,
  type Draft,
  draftPassback,
  draftRead,
  fetchAnswer,
  send,
} from '../../support/foreign-client.js';
import {
  createAppKeys,
  type RunningService,
  runService,
  tenant,
  user,
} from '../../support/running-service.js';

describe('a token bucket', () => {
  it('allows a burst of one second, then a steady rate', () => {
    let now = 0;
    const take = limitRate(4, () => now);
    expect([1, 2, 3, 4].map(() => take('a'))).toEqual([0, 0, 0, 0]);
    expect(take('a')).toBe(1);
    now += 249;
    expect(take('a')).toBe(1);
    now += 1;
    expect(take('a')).toBe(0);
    expect(take('a')).toBe(1);
    now += 60_000;
    expect([1, 2, 3, 4].map(() => take('a'))).toEqual([0, 0, 0, 0]);
    expect(take('a')).toBe(1);
  });

  it('reports the seconds to wait if it allows less than one a second', () => {
    let now = 0;
    const take = limitRate(0.1, () => now);
    expect(take('a')).toBe(0);
    expect(take('a')).toBe(10);
    now += 9001;
    expect(take('a')).toBe(1);
    now += 999;
    expect(take('a')).toBe(0);
  });

  it('counts each key separately, and fills none early, however many there are', () => {
    let now = 0;
    const take = limitRate(1, () => now);
    expect(['a', 'b', 'a'].map((key) => take(key))).toEqual([0, 0, 1]);
    for (let index = 0; index < 20_000; index++) take(`other ${index}`);
    expect(['a', 'b', 'other 0'].map((key) => take(key))).toEqual([1, 1, 1]);
    // Those for which there is no room share a bucket.
    expect([take('new'), take('newer')]).toEqual([1, 1]);
    now += 1000;
    expect(['a', 'new', 'newer', 'b'].map((key) => take(key))).toEqual([0, 0, 0, 0]);
  });
});

describe('the rate limit of a service', () => {
  let now: number;
  let running: RunningService;

  beforeEach(async () => {
    now = 0;
    running = await runService({ rateLimit: 2, steadyNow: () => now });
    await running.service.admin.putUser(user('u1'));
  });
  afterEach(() => running.service.close());

  const codesOf = async (drafts: readonly Draft[]) => {
    const codes: number[] = [];
    for (const draft of drafts) codes.push((await send(running.service.url, draft)).envelope.code);
    return codes;
  };
  const passback = (app: AppKeys) => draftPassback(app, { union_id: 'u1', user_info: '{"a":"b"}' });

  it('applies per app, answers 42901 and Retry-After, and exempts the health check', async () => {
    const { service, app } = running;
    const other = await createAppKeys(service, tenant);
    expect(await codesOf([passback(app), passback(app)])).toEqual([200, 200]);
    const late = passback(app);
    const refused = await send(service.url, late);
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.envelope).toEqual({ code: 42901, msg: 'too many requests', data: {} });
    expect(await codesOf([passback(other)])).toEqual([200]);
    expect((await fetchAnswer(`${service.url}/healthz`)).status).toBe(200);
    now += 500;
    // It was not carried out: its `random` is not used.
    expect(await codesOf([late, passback(app)])).toEqual([200, 42901]);
  });

  it('counts no refusal of an authenticated app for the address that all apps of a proxy share', async () => {
    const { service, app } = running;
    const others = [
      app,
      await createAppKeys(service, tenant),
      await createAppKeys(service, tenant),
    ];
    const toNobody = (keys: AppKeys) =>
      draftPassback(keys, { union_id: 'nobody', user_info: '{"a":"b"}' });
    // Each app within its own limit.
    for (const keys of others)
      expect(await codesOf([toNobody(keys), toNobody(keys)])).toEqual([40401, 40401]);
    // Nor its requests above that limit.
    expect(await codesOf([toNobody(app), toNobody(app), toNobody(app)])).toEqual([
      42901, 42901, 42901,
    ]);
    const forged = () => ({ ...passback(app), spoilSign: true });
    expect(await codesOf([forged(), forged(), forged()])).toEqual([40103, 40103, 42901]);
  });

  it('counts the refusal of an app whose secret was replaced since it was last read', async () => {
    const { service, app } = running;
    expect(await codesOf([passback(app)])).toEqual([200]);
    await service.admin.rotateSecret({ appKey: app.app_key });
    expect(await codesOf([passback(app), passback(app), passback(app)])).toEqual([
      40102, 40102, 42901,
    ]);
  });

  it('counts no failure of the service for the address: a client that is told to wait would not see it', async () => {
    const failing = await runService({
      rateLimit: 1,
      steadyNow: () => now,
      faults: { error: 1, seed: 1 },
    });
    const { app, service } = failing;
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => send(service.url, passback(app))),
    );
    await service.close();
    expect(answers.every(({ status }) => status >= 500)).toBe(true);
  });

  it('counts the 64 bits of an IPv6 client as one address', async () => {
    const behind = await runService({
      rateLimit: 2,
      steadyNow: () => now,
      trustProxy: ['127.0.0.1'],
    });
    const statusOf = async (address: string) => {
      const headers = { 'x-forwarded-for': address };
      return (await fetch(`${behind.service.url}/nothing`, { headers })).status;
    };
    const statuses: number[] = [];
    for (const address of [
      '2001:db8:0:7::1',
      '2001:db8::7:1:2:3:4',
      '2001:0db8:0:0007:ffff::',
      '2001:db8:0:8::1',
    ])
      statuses.push(await statusOf(address));
    for (const address of ['::1', '2001:db8::8', '203.0.113.7', '203.0.113.8'])
      statuses.push(await statusOf(address));
    await behind.service.close();
    expect(statuses).toEqual([404, 404, 429, 404, 404, 404, 404, 404]);
  });

  it('does not delay apps because of unauthenticated requests, and limits explanations', async () => {
    const { service, app, log } = running;
    const forged = () => ({ ...passback(app), spoilSign: true });
    const unknown = () => draftRead({ ...app, app_key: 'nobody' }, 'c');
    const nothing = () => ({ ...passback(app), path: '/nothing' });
    expect(await codesOf([forged(), unknown(), forged(), unknown(), nothing()])).toEqual([
      40103, 40101, 42901, 42901, 42901,
    ]);
    expect(log.filter(({ event }) => event === 'signature_rejected')).toHaveLength(1);
    expect(await codesOf([passback(app), passback(app)])).toEqual([200, 200]);
    const again = await send(service.url, forged());
    expect([again.envelope.code, again.headers.get('retry-after')]).toEqual([42901, '1']);
    now += 1000;
    expect(await codesOf([forged()])).toEqual([40103]);
  });
});
