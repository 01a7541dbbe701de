import { describe, expect, it } from 'vitest';
import { TokenBucket } from '../../../src/service/http/token-bucket.js';
import { draftRead, fetchAnswer, send } from '../foreign-client.js';
import { runService } from '../running-service.js';

describe('the rate limit', () => {
  it('lets as many through at once as it allows a second, and then one after the other', () => {
    let now = 0;
    const bucket = new TokenBucket(4, () => now);
    expect([1, 2, 3, 4].map(() => bucket.take())).toEqual([0, 0, 0, 0]);
    expect(bucket.take()).toBe(1);
    now += 249;
    expect(bucket.take()).toBe(1);
    now += 1;
    expect(bucket.take()).toBe(0);
    expect(bucket.take()).toBe(1);
    now += 60_000;
    expect([1, 2, 3, 4].map(() => bucket.take())).toEqual([0, 0, 0, 0]);
    expect(bucket.take()).toBe(1);
  });

  it('tells how many seconds to wait where it allows less than one a second', () => {
    let now = 0;
    const bucket = new TokenBucket(0.1, () => now);
    expect(bucket.take()).toBe(0);
    expect(bucket.take()).toBe(10);
    now += 9001;
    expect(bucket.take()).toBe(1);
    now += 999;
    expect(bucket.take()).toBe(0);
  });

  it('loses nothing when the clock is set back', () => {
    let now = 10_000;
    const bucket = new TokenBucket(1, () => now);
    expect(bucket.take()).toBe(0);
    now = 0;
    expect(bucket.take()).toBe(1);
    now = 1000;
    expect(bucket.take()).toBe(0);
  });

  it('is answered with 42901 and Retry-After, and does not touch the health check', async () => {
    let now = Date.now();
    const { service, app } = await runService({ rateLimit: 2, now: () => now });
    const ask = () => send(service.url, draftRead(app, 'unknown'));
    expect((await ask()).envelope.code).toBe(40106);
    expect((await ask()).envelope.code).toBe(40106);
    const refused = await ask();
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.envelope).toEqual({ code: 42901, msg: 'too many requests', data: {} });
    expect((await fetchAnswer(`${service.url}/healthz`)).status).toBe(200);
    now += 500;
    expect((await ask()).envelope.code).toBe(40106);
    await service.close();
  });
});
