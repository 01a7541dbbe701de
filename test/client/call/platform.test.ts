import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type ClientHooks,
  InvalidInputError,
  RejectedError,
  type RequestEvent,
  Secret,
  UserInfoClient,
  type UserInfoClientOptions,
} from '../../../src/index.js';
import { httpServer } from '../../support/raw-server.js';
import { rejection } from '../../support/rejection.js';

/** The answers that the server gives, one for each request; then successes. */
const answers: { code: number; data?: unknown; status?: number }[] = [];
let held: (() => void)[] | null = null;
let server: Awaited<ReturnType<typeof httpServer>>;
const row = { unionId: 'u1', userInfo: { acme_level: 'gold' } };

beforeAll(async () => {
  server = await httpServer((_, response) => {
    const { code, status = 200, ...given } = answers.shift() ?? { code: 200 };
    const { data = code === 200 ? { union_id: 'u1' } : {} } = given;
    const answer = () => response.writeHead(status).end(JSON.stringify({ code, msg: 'm', data }));
    if (held === null) answer();
    else held.push(answer);
  });
});
beforeEach(() => {
  answers.splice(0);
  server.requests.splice(0);
  held = null;
});
afterAll(() => server.close());

function clientWith(options: Partial<UserInfoClientOptions> = {}): UserInfoClient {
  const app = { tenantCode: 'acme', channel: 'web', appKey: 'app-1', appSecret: 's1' };
  return new UserInfoClient({ baseUrl: server.url, ...app, ...options });
}

/** What a promise rejects with. */
const randoms = () => server.requests.map(({ query }) => new URLSearchParams(query).get('random'));

describe('an error of a call', () => {
  it('tells the operation, the attempts, the request, and whether to try again', async () => {
    await using client = clientWith();
    answers.push({ code: 50301, status: 503 }, { code: 50301, status: 503 });
    const refused = await rejection(client.passback(row, { attempts: 2 }));
    expect(refused).toBeInstanceOf(RejectedError);
    const shared = { operation: 'passback', attempts: 2, requestId: randoms()[1], httpStatus: 503 };
    expect(refused).toMatchObject({ ...shared, retryable: true, means: 'storeUnavailable' });
    expect(refused.stack).toContain('platform.test.ts');
    answers.push({ code: 40106 });
    expect(await rejection(client.read({ code: 'c' }))).toMatchObject({
      operation: 'read',
      attempts: 1,
      retryable: false,
      means: 'codeNotValid',
    });
  });

  it('does so where no answer came, and leads to the caller', async () => {
    await using gone = clientWith({ baseUrl: 'http://127.0.0.1:9', attempts: 1 });
    const unsent = await rejection(gone.read({ code: 'c' }));
    expect(unsent).toMatchObject({
      operation: 'read',
      attempts: 1,
      received: false,
      retryable: true,
    });
    expect(unsent.requestId).toHaveLength(20);
    expect(unsent.stack).toContain('platform.test.ts');
    await using client = clientWith();
    held = [];
    const late = await rejection(client.read({ code: 'c' }, { timeoutMs: 1_000 }));
    expect(late).toMatchObject({ reason: 'timeout', received: true, retryable: false });
    expect(late.stack).toContain('platform.test.ts');
    const cancelled = client.passback(row, { signal: AbortSignal.timeout(1_000) });
    expect(await rejection(cancelled)).toMatchObject({
      code: 'CANCELLED',
      attempts: 1,
      retryable: true,
    });
    expect(new InvalidInputError('x').retryable).toBe(false);
  });
});

describe("a platform's own result codes", () => {
  const result_codes = {
    1001: 'tooManyRequests',
    1003: { means: ['codeNotValid', 'wrongSign'] },
    1010: { retry: 'repeatable', hint: 'See the status page.' },
  } as const;

  it('decide on retries, hints and meaning in place of those of this project', async () => {
    await using client = clientWith({ platform: { result_codes } });
    answers.push({ code: 1001 }, { code: 200 });
    expect(await client.read({ code: 'c' })).toMatchObject({ attempts: 2 });
    answers.push({ code: 1003 });
    expect(await rejection(client.read({ code: 'c' }))).toMatchObject({
      means: 'codeNotValid',
      attempts: 1,
    });
    answers.push({ code: 1010 }, { code: 1010 });
    expect(await rejection(client.passback(row, { attempts: 2 }))).toMatchObject({
      attempts: 2,
      hint: expect.stringMatching(/not known\. .*See the status page\.$/),
      means: undefined,
    });
    answers.push({ code: 42901 });
    expect(await rejection(client.passback(row))).toMatchObject({ attempts: 1, means: undefined });
  });

  it.each<[unknown, string]>([
    [[], 'the option platform: result_codes is not an object'],
    [{ x: 'codeNotValid' }, '"x" is not a result code'],
    [{ 200: 'codeNotValid' }, '"200" is not a result code'],
    [{ 1: 'codeNotvalid' }, '"1": means is not valid'],
    [{ 1: { means: ['codeNotValid', 'ok'] } }, '"1": means is not valid'],
    [{ 1: { means: [] } }, '"1": means is not valid'],
    [{ 1: { again: 'any' } }, '"1" has the unknown field "again"'],
    [{ 1: { retry: 'often' } }, '"1": retry is not valid'],
    [{ 1: null }, '"1" is not an object'],
  ])('are checked: %j', (given, fault) => {
    expect(() => clientWith({ platform: { result_codes: given as never } })).toThrow(fault);
  });
});

describe('an app secret that a function returns', () => {
  const signatures = () =>
    server.requests.map(({ query }) => new URLSearchParams(query).get('app_sign') ?? '');

  it('is fetched anew when its life is over', async () => {
    const secrets = ['s1', Promise.resolve(new Secret('s2')), 's1'];
    const fixed = { random: () => 'a-random-text', now: () => 1_700_000_000_000 };
    await using client = clientWith({
      ...fixed,
      appSecret: { fetch: () => secrets.shift() ?? 'none', lifetimeMs: 1 },
    });
    answers.push({ code: 50301 });
    await client.passback(row);
    await sleep(2);
    await client.passback(row);
    const [first, second, third] = signatures();
    expect(first).toBe(third);
    expect(second).not.toBe(first);
    await using other = clientWith({ ...fixed, appSecret: 's2' });
    await other.passback(row);
    expect(signatures()[3]).toBe(second);
  });

  const leak = 's1-of-a-vault';
  it.each<[string, Pick<UserInfoClientOptions, 'appSecret' | 'headers'>]>([
    ['a header, both of texts', { appSecret: leak, headers: { 'X-Key': `Bearer ${leak}` } }],
    ['a header', { appSecret: async () => leak, headers: { 'X-Key': `Bearer ${leak}` } }],
    ['a function', { appSecret: leak, headers: { 'X-Key': async () => `Bearer ${leak}` } }],
    ['two functions', { appSecret: async () => leak, headers: { 'X-Key': async () => leak } }],
    ['an early header', { appSecret: async () => leak, headers: { 'X-Key': () => leak } }],
  ])('never goes out in %s', async (_, options) => {
    await using client = clientWith(options);
    expect(await rejection(client.passback(row))).toMatchObject({
      code: 'INVALID_INPUT',
      message: 'the header x-key would send the app secret',
    });
    expect(server.requests).toHaveLength(0);
  });

  it('names itself if it fails, returns none or hangs: the call can be made again, nothing was sent', async () => {
    const fault = {
      code: 'NO_ANSWER',
      reason: 'secret',
      received: false,
      retryable: true,
      attempts: 0,
    };
    await using failing = clientWith({ appSecret: () => Promise.reject(new Error('vault')) });
    expect(await rejection(failing.passback(row))).toMatchObject({
      ...fault,
      message: 'the function appSecret failed',
      operation: 'passback',
      cause: { message: 'vault' },
    });
    const broken = () => {
      throw new Error('no vault');
    };
    await using thrower = clientWith({ appSecret: broken });
    expect(() => thrower.signPassback(row)).toThrow('the function appSecret failed');
    await using empty = clientWith({ appSecret: () => '' });
    const message = 'the function appSecret returned no secret: it is empty';
    expect(await rejection(empty.passback(row))).toMatchObject({ ...fault, message });
    await using stuck = clientWith({ appSecret: () => new Promise(() => {}), timeoutMs: 50 });
    expect(await rejection(stuck.passback(row))).toMatchObject({
      ...fault,
      message: 'the function appSecret did not return within 50 ms',
    });
    expect(server.requests).toHaveLength(0);
    await using late = clientWith({ appSecret: async () => 's1' });
    expect(() => late.signPassback(row)).toThrow('returns a promise');
    await late.passback(row);
    expect(late.signPassback(row).method).toBe('PUT');
    expect(server.requests).toHaveLength(1);
  });

  it('that fails after an attempt was sent does not say that nothing was', async () => {
    const secrets: (() => string)[] = [() => 's1'];
    const appSecret = () => {
      const next = secrets.shift();
      if (next === undefined) throw new Error('vault');
      return next();
    };
    await using client = clientWith({ appSecret: { fetch: appSecret, lifetimeMs: 1 } });
    answers.push({ code: 50001 });
    expect(await rejection(client.passback(row))).toMatchObject({
      reason: 'secret',
      attempts: 1,
      received: true,
      retryable: true,
      requestId: expect.any(String),
      hint: expect.stringContaining('hether an earlier attempt was carried out is not known'),
    });
    secrets.push(() => 's1');
    answers.push({ code: 42901 });
    // Turned away unread: the read can be made again.
    expect(await rejection(client.read({ code: 'c' }))).toMatchObject({
      received: false,
      retryable: true,
    });
  });
});

describe('a derived client', () => {
  it('has other options and the same connections, and ends with its origin', async () => {
    const client = clientWith();
    const derived = client.withOptions({ tenantCode: 'other' });
    await derived.passback(row);
    expect(new URLSearchParams(server.requests[0]?.query).get('tenant_code')).toBe('other');
    await derived.close();
    await client.passback(row);
    const late = client.withOptions({ attempts: 1 });
    held = [];
    const call = late.passback(row);
    await vi.waitUntil(() => held?.length === 1);
    const closed = client.close();
    expect(await rejection(late.passback(row))).toMatchObject({
      message: expect.stringContaining('closed'),
    });
    for (const answer of held) answer();
    await expect(call).resolves.toMatchObject({ data: { union_id: 'u1' } });
    await closed;
    const fixed =
      'baseUrl allowHttp connectTimeoutMs connections extraCa cert key proxy dispatcher';
    for (const one of fixed.split(' '))
      expect(() => client.withOptions({ [one]: 'x' } as never)).toThrow(`"${one}" is unknown`);
  });
});

it('close with force ends the calls under way', async () => {
  const client = clientWith();
  held = [];
  const call = rejection(client.passback(row));
  await vi.waitUntil(() => held?.length === 1);
  await client.close({ force: true });
  expect(await call).toMatchObject({
    code: 'CANCELLED',
    received: true,
    cause: { message: 'the client was closed' },
  });
});

it('hooks and traces of a call have its context, and no secret, code or signature', async () => {
  const events: RequestEvent[] = [];
  const hooks: ClientHooks = {
    onRequest: (event) => events.push(event),
    onResponse: (e) => events.push(e),
  };
  const traces: [string, unknown][] = [];
  const channels = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'];
  const listeners = channels.map((name) => {
    const listener = (message: unknown) => void traces.push([name, structuredClone(message)]);
    subscribe(`tracing:userinfo:call:${name}`, listener);
    return () => unsubscribe(`tracing:userinfo:call:${name}`, listener);
  });
  await using client = clientWith(hooks);
  await client.read({ code: 'c-1234567890' }, { context: { job: 7 } });
  expect(events.map(({ context, requestId }) => [context, requestId])).toEqual([
    [{ job: 7 }, randoms()[0]],
    [{ job: 7 }, randoms()[0]],
  ]);
  answers.push({ code: 40106 });
  const error = await rejection(client.read({ code: 'c-1234567890' }));
  expect(error.stack).toContain('platform.test.ts');
  for (const stop of listeners) stop();
  const call = { operation: 'read', baseUrl: server.url };
  const ended = { ...call, result: { requestId: randoms()[0], attempts: 1, httpStatus: 200 } };
  expect(traces.slice(0, 4)).toMatchObject([
    ['start', { ...call, context: { job: 7 } }],
    ['end', call],
    ['asyncStart', ended],
    ['asyncEnd', ended],
  ]);
  expect(traces.slice(4).map(([name]) => name)).toEqual([
    'start',
    'end',
    'error',
    'asyncStart',
    'asyncEnd',
  ]);
  expect(JSON.stringify(traces)).not.toMatch(/1234567890|sign"/);
});
