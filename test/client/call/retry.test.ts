import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  NoAnswerError,
  RejectedError,
  UserInfoClient,
  type UserInfoClientOptions,
} from '../../../src/index.js';
import type { Service } from '../../../src/service/index.js';
import {
  answerOf,
  changed,
  type Fault,
  FaultProxy,
  instead,
  passOn,
  toBytes,
} from '../../support/fault-proxy.js';
import { type ServiceWithApp, serviceWithApp } from '../../support/service-with-app.js';

const user = { tenant_code: 'acme', union_id: 'u1' };
const key = { tenantCode: 'acme', unionId: 'u1' };

let service: Service;
let credentials: ServiceWithApp['credentials'];
let proxy: FaultProxy;
/** How often a request was sent. */
let sent: number;

beforeAll(async () => {
  ({ service, credentials } = await serviceWithApp());
});

beforeEach(async () => {
  const record = { ...user, basic_info: {}, extension_info: {}, login_device_info: [] };
  await service.admin.putUsers([record]);
  proxy = await FaultProxy.before(service.url);
  sent = 0;
});

afterEach(() => proxy.close());

afterAll(() => service.close());

function clientWith(options: Partial<UserInfoClientOptions> = {}): UserInfoClient {
  return new UserInfoClient({
    baseUrl: proxy.url,
    ...credentials,
    timeoutMs: 30_000,
    onRequest: () => {
      sent += 1;
    },
    ...options,
  });
}

/** What an operation over a client of its own comes to: the envelope's code, or the error. */
async function call(operation: 'read' | 'passback', options: Partial<UserInfoClientOptions> = {}) {
  await using client = clientWith(options);
  const { code } = await service.admin.issueCode(key);
  const answer =
    operation === 'read'
      ? client.read({ code })
      : client.passback({ unionId: 'u1', userInfo: { a: 'x' } });
  return answer.then(
    ({ envelope }) => envelope.code,
    (error: unknown) => error,
  );
}

const envelope = (code: number, status: string, ...headers: string[]) =>
  instead(answerOf(`{"code":${code},"msg":"m","data":{}}`, headers, status));
const page = (status: string, ...headers: string[]) =>
  instead(answerOf('<title>x</title>', headers, status));
const lost: Fault = async ({ client, forward }) => {
  await forward();
  client.resetAndDestroy();
};

describe('whether a request is sent again', () => {
  it.each<[what: string, fault: Fault, read: number, passback: number]>([
    ['a success', passOn, 1, 1],
    ['no answer, though the service has acted', lost, 1, 2],
    ['no answer, and the service has not acted', ({ client }) => client.resetAndDestroy(), 1, 2],
    ['half an answer', changed(({ head, body }) => head + body.toString().slice(0, 9)), 1, 1],
    ['42901', envelope(42901, '429 Too Many Requests'), 2, 2],
    ['42901 under HTTP 200', envelope(42901, '200 OK'), 2, 2],
    ['HTTP 429 of what stands before the service', page('429 Too Many Requests'), 2, 2],
    ['50301', envelope(50301, '503 Service Unavailable'), 1, 2],
    ['50001 under HTTP 200', envelope(50001, '200 OK'), 1, 2],
    ['another code under HTTP 500', envelope(999, '500 Internal Server Error'), 1, 2],
    ['HTTP 502 of what stands before the service', page('502 Bad Gateway'), 1, 2],
    ['HTTP 404 of another site', page('404 Not Found'), 1, 1],
    ['a page under HTTP 200', page('200 OK'), 1, 1],
    ['a redirect', page('307 Temporary Redirect', 'Location: /elsewhere'), 1, 1],
    ['a code that is used', envelope(40106, '401 Unauthorized'), 1, 1],
    ['a signature that is refused', envelope(40103, '401 Unauthorized'), 1, 1],
    ['a code of another operator', envelope(12345, '200 OK'), 1, 1],
  ])('after %s', async (what, fault, read, passback) => {
    // Half an answer is waited for until the time is over; the others have all the time that they
    // need.
    const timeoutMs = what === 'half an answer' ? 1_000 : 30_000;
    proxy.faults.push(fault);
    const outcome = await call('read', { timeoutMs });
    expect(sent).toBe(read);
    expect(outcome === 200).toBe(read > 1 || fault === passOn);
    sent = 0;
    proxy.faults.push(fault);
    expect((await call('passback', { timeoutMs })) === 200).toBe(passback > 1 || fault === passOn);
    expect(sent).toBe(passback);
  });

  it('within ten seconds, unless another time is given', async () => {
    const outcomes: unknown[] = [];
    for (const seconds of [5, 11]) {
      const cancel = new AbortController();
      const onResponse = () => void setImmediate(() => cancel.abort());
      await using client = new UserInfoClient({ baseUrl: proxy.url, ...credentials, onResponse });
      proxy.faults.push(envelope(42901, '429 Too Many Requests', `Retry-After: ${seconds}`));
      const call = client.passback(
        { unionId: 'u1', userInfo: { a: 'x' } },
        { signal: cancel.signal },
      );
      outcomes.push(await call.catch(({ code }) => code));
    }
    // The first waits until it is cancelled.
    expect(outcomes).toEqual(['CANCELLED', 'REJECTED']);
  });

  it.each(['read', 'passback'] as const)('after a failed connection: a %s', async (operation) => {
    const { url } = proxy;
    await proxy.close();
    expect(await call(operation)).toMatchObject({ reason: 'connect', received: false });
    expect(sent).toBe(3);
    proxy = await FaultProxy.before(service.url);
    expect(await call(operation, { baseUrl: url, attempts: 1 })).toMatchObject({
      reason: 'connect',
    });
    expect(sent).toBe(4);
    const unknown = await call(operation, { baseUrl: 'https://nowhere.invalid', attempts: 2 });
    expect(unknown).toMatchObject({ reason: 'dns', received: false });
    expect(sent).toBe(6);
  });
});

describe('Retry-After', () => {
  const date = 'Date: Sat, 21 Nov 2026 08:00:00 GMT';
  const throttled = (...headers: string[]) => envelope(42901, '429 Too Many Requests', ...headers);

  it.each([
    ['seconds', ['Retry-After: 1'], 1_000],
    ["a date, by the service's clock", [date, 'Retry-After: Sat, 21 Nov 2026 08:00:01 GMT'], 1_000],
    ['a date that is past', [date, 'Retry-After: Sat, 21 Nov 2026 07:00:00 GMT'], 0],
    ['no seconds', ['Retry-After: 0'], 0],
  ])('is waited for: %s', async (_, headers, waitMs) => {
    proxy.faults.push(throttled(...headers));
    const started = performance.now();
    const delays: number[] = [];
    expect(await call('read', { onRetry: ({ delayMs }) => void delays.push(delayMs) })).toBe(200);
    expect(delays).toEqual([waitMs]);
    // The 20 ms are the accuracy of a timer; a pause beyond the deadline would have ended the call.
    expect(performance.now() - started).toBeGreaterThan(waitMs - 20);
  });

  it.each([
    ['seconds', ['Retry-After: 601']],
    ['very many seconds', [`Retry-After: ${'9'.repeat(400)}`]],
    ['a date', [date, 'Retry-After: Sat, 21 Nov 2026 09:00:00 GMT']],
    ['a date, by the clock of the client', ['Retry-After: Fri, 21 Nov 2099 09:00:00 GMT']],
    ['the first of two', ['Retry-After: 3600', 'Retry-After: 0']],
  ])(
    'beyond the deadline ends the call at once, with what the service said: %s',
    async (_, headers) => {
      proxy.faults.push(throttled(...headers));
      // The deadline is far beyond the time that the test has.
      const error = await call('passback', { timeoutMs: 600_000 });
      expect(error).toBeInstanceOf(RejectedError);
      expect(error).toMatchObject({ resultCode: 42901 });
      expect(sent).toBe(1);
    },
  );

  it.each(['-1', '1.5', '1e3', 'soon', 'Sat, 21 Nov 2099 08:00:00 CET', '2099-11-21T08:00:00Z'])(
    'that is invalid is not waited for: %s',
    async (text) => {
      proxy.faults.push(throttled(`Retry-After: ${text}`));
      expect(await call('read')).toBe(200);
      expect(sent).toBe(2);
    },
  );
});

describe('a call of several attempts', () => {
  it('ends with the last answer if the next pause would exceed the deadline', async () => {
    proxy.faults.push(
      ...Array.from({ length: 99 }, () => envelope(50301, '503 Service Unavailable')),
    );
    // No pause before attempts 2 to 6, and the longest one, of 3.2 s, before attempt 7.
    const random = vi.spyOn(Math, 'random').mockImplementation(() => (sent < 6 ? -1 : 1));
    const answer = await call('passback', { attempts: 99, timeoutMs: 3_000 });
    random.mockRestore();
    expect(answer).toBeInstanceOf(RejectedError);
    expect(sent).toBe(6);
  });

  it('reports that the service may have acted, even if the last attempt did not arrive', async () => {
    proxy.faults.push(async (exchange) => {
      await lost(exchange);
      await proxy.close();
    });
    const error = await call('passback');
    expect(error).toMatchObject({ reason: 'connect', received: true });
    expect((error as NoAnswerError).hint).toContain('an earlier attempt');
    proxy = await FaultProxy.before(service.url);
  });

  it('never reports that the service cannot have acted when it has', async () => {
    const bytes = async (exchange: Parameters<Fault>[0], share: number) => {
      const answer = toBytes(await exchange.forward());
      exchange.client.write(answer.subarray(0, answer.length * share), () =>
        exchange.client.resetAndDestroy(),
      );
    };
    const faults: readonly Fault[] = [
      passOn,
      lost,
      ({ client }) => client.resetAndDestroy(),
      ({ client }) => client.end(),
      (exchange) => bytes(exchange, 0.3),
      (exchange) => bytes(exchange, 0.9),
      envelope(42901, '429 Too Many Requests', 'Retry-After: 0'),
      envelope(50301, '503 Service Unavailable', 'Retry-After: 0'),
      page('502 Bad Gateway', 'Retry-After: 0'),
      async ({ client, forward }) => {
        await forward();
        client.write(answerOf('<title>x</title>', ['Retry-After: 0'], '504 Gateway Timeout'));
      },
    ];
    const way = fc.array(fc.constantFrom(...faults), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(way, fc.constantFrom('read', 'passback'), async (met, operation) => {
        proxy.faults.splice(0, proxy.faults.length, ...met);
        proxy.forwarded = 0;
        const outcome = await call(operation);
        if (outcome === 200) expect(proxy.forwarded).toBeGreaterThan(0);
        else if (outcome instanceof NoAnswerError)
          expect(outcome.received || proxy.forwarded === 0).toBe(true);
        else expect(outcome).toBeInstanceOf(RejectedError);
        if (operation === 'read') expect(proxy.forwarded).toBeLessThanOrEqual(1);
      }),
      { numRuns: 40 },
    );
  });
});
