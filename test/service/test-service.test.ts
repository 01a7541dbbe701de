import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { InvalidInputError, UserInfoClient } from '../../src/index.js';
import { createTestService, useTestService } from '../../src/service/index.js';

const users = [{ union_id: 'u1', basic_info: { mobile: '13800001111' } }];
const service = useTestService({ beforeEach, afterAll }, { users });
const write = { unionId: 'u1', userInfo: { acme_level: 'gold', acme_n: 5 } };

/** A client that waits as short as a test wants. */
async function withClient<T>(use: (client: UserInfoClient) => Promise<T>): Promise<T> {
  await using client = new UserInfoClient({ ...service.clientOptions, timeoutMs: 5_000 });
  return await use(client);
}
const errorOf = (call: Promise<unknown>) =>
  call.then(
    () => null,
    (error: unknown) => error,
  );

describe('the test service', () => {
  it('does what the service does, and keeps the requests with their signatures', async () => {
    await withClient(async (client) => {
      await client.passback(write);
      const code = await service.issueCode('u1', { infoNames: ['mobile', 'acme_level'] });
      const { data } = await client.read({ code, infoNames: ['mobile', 'acme_level'] });
      expect(data).toEqual({ union_id: 'u1', mobile: '13800001111', acme_level: 'gold' });
      expect(await errorOf(client.read({ code }))).toMatchObject({ means: 'codeNotValid' });
    });
    const [passback, read, again] = service.requests;
    expect(passback).toMatchObject({
      operation: 'passback',
      parameters: { union_id: 'u1', tenant_code: 'acme' },
      userInfo: { acme_level: 'gold', acme_n: 5 },
      answer: { httpStatus: 200, body: expect.stringContaining('"ok"') },
    });
    expect(read?.parameters).toMatchObject({ info_name: 'mobile,acme_level' });
    expect(read?.signatures?.app_sign).toMatchObject({ isRight: true, received: read?.parameters.app_sign });
    expect(again?.answer?.httpStatus).toBe(401);
  });

  it('says how a wrong signature should have been computed', async () => {
    const options = { ...service.clientOptions, appSecret: 'another', attempts: 1 };
    await using client = new UserInfoClient(options);
    expect(await errorOf(client.passback(write))).toMatchObject({ means: 'wrongAppSign' });
    expect(service.requests[0]?.signatures?.app_sign).toMatchObject({
      isRight: false,
      message: expect.stringContaining('&key=<secret>'),
    });
  });

  it('starts each test afresh, for the same client', async () => {
    expect(service.requests).toEqual([]);
    await withClient((client) => client.passback(write));
    await service.reset();
    expect(service.requests).toEqual([]);
    const code = await service.issueCode('u1');
    const { data } = await withClient((client) => client.read({ code }));
    expect(data).toMatchObject({ extension_info: {} });
  });

  it('fails the next requests of an operation, and then no more', async () => {
    service.failNext(2, { operation: 'passback', code: 50301 });
    const code = await service.issueCode('u1');
    await withClient(async (client) => {
      await client.read({ code });
      expect(await client.passback(write)).toMatchObject({ attempts: 3 });
    });
    expect(service.requests.map(({ answer }) => answer?.httpStatus)).toEqual([200, 503, 503, 200]);
  });

  it("fails with a platform's own code, after a while, or by cutting the connection", async () => {
    await withClient(async (client) => {
      service.failNext(1, { code: 1001, httpStatus: 429, retryAfter: 0, msg: 'slow down' });
      expect(await client.passback(write)).toMatchObject({ attempts: 2 });
      service.failNext(1, { code: 1002 });
      expect(await errorOf(client.passback(write))).toMatchObject({ resultCode: 1002, httpStatus: 200 });
      service.failNext(1, { cut: 'before' });
      const lost = client.passback({ unionId: 'u1', userInfo: { lost: 1 } }, { attempts: 1 });
      expect(await errorOf(lost)).toMatchObject({ reason: 'reset', received: true });
      service.failNext(1, { cut: 'after' });
      const kept = client.passback({ unionId: 'u1', userInfo: { kept: 1 } }, { attempts: 1 });
      expect(await errorOf(kept)).toMatchObject({ reason: 'reset', received: true });
      service.failNext(1, { delayMs: 10_000, operation: 'read' });
      const code = await service.issueCode('u1');
      expect(await errorOf(client.read({ code }, { timeoutMs: 300 }))).toMatchObject({ reason: 'timeout' });
      const { data } = await client.read({ code });
      expect(data.extension_info).toEqual({ acme_level: 'gold', acme_n: '5', kept: '1' });
    });
    expect(service.requests.map(({ answer }) => answer)).toContain(null);
  });

  it('answers as a stub says, for good or a number of times', async () => {
    service.stub(({ parameters }) => ({
      body: { code: 200, msg: 'ok', data: { union_id: parameters.union_id } },
    }));
    service.stub(
      { httpStatus: 502, body: '<title>Bad Gateway</title>' },
      { times: 1, operation: 'passback' },
    );
    await withClient(async (client) => {
      const failed = client.passback({ ...write, unionId: 'nobody' }, { attempts: 1 });
      expect(await errorOf(failed)).toMatchObject({ reason: 'not-envelope', httpStatus: 502 });
      const { data } = await client.passback({ ...write, unionId: 'nobody' });
      expect(data.union_id).toBe('nobody');
    });
  });

  it('has a clock: codes expire, and timestamps are late', async () => {
    const [code, lasting] = [
      await service.issueCode('u1'),
      await service.issueCode('u1', { ttlSeconds: 900 }),
    ];
    await service.advanceClock(301_000);
    await withClient(async (client) => {
      expect(await errorOf(client.read({ code: lasting }))).toMatchObject({
        means: 'timestampOutsideWindow',
      });
    });
    const later = { ...service.clientOptions, now: () => Date.now() + 301_000 };
    await using client = new UserInfoClient(later);
    expect(await errorOf(client.read({ code }))).toMatchObject({ means: 'codeNotValid' });
    await client.read({ code: lasting });
  });

  it('has random faults that a test sets, checked', async () => {
    service.faults = { error: 1, seed: 1 };
    await withClient(async (client) => {
      expect(await errorOf(client.passback(write, { attempts: 1 }))).toMatchObject({ means: 'internal' });
      service.faults = null;
      await client.passback(write);
    });
    expect(() => {
      service.faults = { error: 7, seed: 1 };
    }).toThrow(InvalidInputError);
    expect(() => service.failNext(0)).toThrow('not a number of requests');
  });

  it('has the app that a test wants, several at once, and none outside of tests', async () => {
    await using other = await createTestService({
      tenantCode: 't',
      appKey: 'k',
      appSecret: 'from .env.test',
    });
    expect(other.clientOptions).toMatchObject({ tenantCode: 't', appKey: 'k', appSecret: 'from .env.test' });
    await using client = new UserInfoClient(other.clientOptions);
    expect(await errorOf(client.passback(write))).toMatchObject({ means: 'noSuchUser' });
    await expect(createTestService({ appSecret: '' })).rejects.toThrow('app_secret is empty');
    const early = useTestService({ beforeEach: () => {} });
    expect(() => early.url).toThrow('use it inside of a test');
  });
});
