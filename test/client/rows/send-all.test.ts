import { getEventListeners } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type BulkRunOptions,
  CancelledError,
  InvalidInputError,
  type PassbackInput,
  type ReadInput,
  RejectedError,
  RetryLaterError,
  UserInfoClient,
} from '../../../src/index.js';
import { passbackAll, type RunOptions, readAll } from '../../support/all-rows.js';
import { credentials } from '../../support/credentials.js';
import { httpServer, type ReceivedRequest, writtenBy } from '../../support/raw-server.js';

const cleanups: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const cleanup of cleanups) await cleanup();
});

/** A service that answers as `answer` says; `user` is the union ID that a request names. */
async function service(
  answer: (response: ServerResponse, user: string, request: ReceivedRequest, count: number) => void,
) {
  const server = await httpServer((request, response, count) => {
    const user = new URLSearchParams(request.body).get('union_id') ?? '';
    users.set(response, user);
    answer(response, user, request, count);
  });
  cleanups.push(() => server.close());
  return server;
}

/** The users that the answered requests name. */
const users = new WeakMap<ServerResponse, string>();

const ok = (response: ServerResponse) =>
  response.end(`{"code":200,"msg":"ok","data":{"union_id":"${users.get(response) || 'u'}"}}`);

function refuse(response: ServerResponse, status: number, code: number, headers = {}): void {
  response.writeHead(status, headers).end(`{"code":${code},"msg":"no","data":{}}`);
}

function optionsFor(baseUrl: string, options: Partial<RunOptions> = {}): RunOptions {
  return { baseUrl, ...credentials, ...options };
}

const row = (unionId: string, n = 1): PassbackInput => ({ unionId, userInfo: { n } });
const rows = (count: number) => Array.from({ length: count }, (_, i) => row(`u${i}`));

async function outcomesOf(
  from: Iterable<PassbackInput> | AsyncIterable<PassbackInput>,
  options: RunOptions,
) {
  const outcomes = new Map<string, { outcome: string; attempts: number }>();
  for await (const { row: one, outcome, attempts } of passbackAll(from, options)) {
    outcomes.set(one.unionId ?? '', { outcome, attempts });
  }
  return outcomes;
}

// Most of them wait.
describe.concurrent('many rows', () => {
  it('get the outcome invalid if they are not rows', async () => {
    const server = await service((response) => ok(response));
    const broken = {
      get userInfo() {
        throw new Error('not loaded');
      },
      unionId: 'u',
    };
    const given = [row('u0'), undefined, null, 5, 'row', {}, { unionId: 'u' }, broken, row('u1')];
    const outcomes = [];
    for await (const outcome of passbackAll(given as PassbackInput[], optionsFor(server.url))) {
      outcomes.push(outcome);
    }
    const seen = outcomes.toSorted((a, b) => a.index - b.index);
    expect(seen.map(({ index, outcome }) => [index, outcome])).toEqual(
      given.map((_, index) => [index, index === 0 || index === 8 ? 'ok' : 'invalid']),
    );
    expect(seen.map((outcome) => outcome.row)).toEqual(given);
    for (const outcome of seen) {
      if (outcome.outcome === 'invalid') expect(outcome.error).toBeInstanceOf(InvalidInputError);
    }
    expect(server.requests).toHaveLength(2);
    const reads = [];
    for await (const outcome of readAll(
      [null, { code: 5 }] as unknown as ReadInput[],
      optionsFor(server.url),
    ))
      reads.push(outcome.outcome);
    expect(reads).toEqual(['invalid', 'invalid']);
  });

  it('that are retried are signed again', async () => {
    const server = await service((response, _, __, count) => {
      if (count < 3) refuse(response, 500, 50001);
      else ok(response);
    });
    expect(await outcomesOf([row('u0')], optionsFor(server.url))).toEqual(
      new Map([['u0', { outcome: 'ok', attempts: 3 }]]),
    );
    const sent = server.requests.map(({ query }) => new URLSearchParams(query));
    for (const name of ['random', 'sign', 'app_sign']) {
      expect(new Set(sent.map((query) => query.get(name))).size).toBe(3);
    }
  });

  it('are unknown if no answer arrived after they were sent', async () => {
    const server = await service((response, user) => {
      if (user === 'u0') response.destroy();
      else if (user === 'u1') refuse(response, 500, 50001);
    });
    const options = optionsFor(server.url, { timeoutMs: 1_000, attempts: 2 });
    const outcomes = await outcomesOf(rows(3), options);
    expect(Object.fromEntries(outcomes)).toEqual({
      u0: { outcome: 'unknown', attempts: 2 },
      u1: { outcome: 'unknown', attempts: 2 },
      u2: { outcome: 'unknown', attempts: 2 },
    });
  });

  it('wait for a service that is down, even if they are few', async () => {
    const before = await httpServer(() => {});
    await before.close();
    const outcomes = outcomesOf(rows(2), optionsFor(before.url, { attempts: 2 }));
    await wait(1_500);
    const answer = (request: ReceivedRequest, response: ServerResponse) =>
      response.end(writtenBy(request));
    const server = await httpServer(answer, Number(new URL(before.url).port));
    cleanups.push(() => server.close());
    expect(await outcomes).toEqual(
      new Map(['u0', 'u1'].map((user) => [user, { outcome: 'ok', attempts: expect.any(Number) }])),
    );
  });

  it('all wait for the Retry-After of the service', async () => {
    const sentAt: number[] = [];
    const server = await service((response, _, __, count) => {
      sentAt.push(performance.now());
      if (count === 1) refuse(response, 429, 42901, { 'Retry-After': '1' });
      else ok(response);
    });
    await outcomesOf(rows(20), optionsFor(server.url, { concurrency: 1 }));
    expect((sentAt[1] ?? 0) - (sentAt[0] ?? 0)).toBeGreaterThan(950);
    expect(sentAt).toHaveLength(21);
  });

  it.each([
    ['an hour', 429, 42901, { 'Retry-After': '3600' }, 3_600_000],
    ['more than a timer can', 429, 42901, { 'Retry-After': '9'.repeat(400) }, 2 ** 31 - 1],
    [
      'until a date',
      429,
      42901,
      { Date: 'Sat, 21 Nov 2026 08:00:00 GMT', 'Retry-After': 'Sat, 21 Nov 2026 09:00:00 GMT' },
      3_600_000,
    ],
    ['an hour after a fault of its own', 503, 50301, { 'Retry-After': '3600' }, 3_600_000],
  ])('stop where the service asks to wait %s', async (_, status, code, headers, retryAfterMs) => {
    const server = await service((response, user) => {
      if (user === 'u1') refuse(response, status, code, headers);
      else ok(response);
    });
    const seen = new Set<number>();
    const run = async () => {
      for await (const { index } of passbackAll(
        rows(500),
        optionsFor(server.url, { concurrency: 1 }),
      ))
        seen.add(index);
    };
    const error = await run().catch((thrown) => thrown);
    expect(error).toBeInstanceOf(RetryLaterError);
    expect(error).toMatchObject({ code: 'RETRY_LATER', retryAfterMs, cause: { resultCode: code } });
    expect([...seen]).toEqual([0]);
    expect(server.requests).toHaveLength(2);
  });

  it('wait longer than 5 minutes if their time-out is longer', async () => {
    const abort = new AbortController();
    const server = await service((response) => {
      refuse(response, 429, 42901, { 'Retry-After': '301' });
      setTimeout(() => abort.abort(), 100);
    });
    const options = optionsFor(server.url, { timeoutMs: 302_000, signal: abort.signal });
    await expect(outcomesOf(rows(1), options)).rejects.toMatchObject({
      code: 'CANCELLED',
      received: false,
    });
  });

  it('do not wait forever if the service throttles all of them, and were not carried out then', async () => {
    const server = await service((response) => refuse(response, 429, 42901));
    const [outcome] = await outcomesOf([row('u0')], optionsFor(server.url));
    expect(outcome?.[1]).toMatchObject({ outcome: 'failed' });
  });

  it('are unknown if an earlier attempt may have been carried out, and the last one was not', async () => {
    const server = await service((response, _, __, count) => {
      if (count === 1) response.destroy();
      else refuse(response, 429, 42901);
    });
    for await (const one of passbackAll([row('u0')], optionsFor(server.url, { attempts: 2 })))
      expect(one).toMatchObject({
        outcome: 'unknown',
        error: {
          hint: expect.stringContaining('Whether an earlier attempt was carried out is not known.'),
        },
      });
  });

  it('are sent at the given rate and concurrency', async () => {
    let now = 0;
    let most = 0;
    const server = await service((response) => {
      now += 1;
      most = Math.max(most, now);
      setTimeout(() => {
        now -= 1;
        ok(response);
      }, 10);
    });
    const startedAt = performance.now();
    await outcomesOf(rows(60), optionsFor(server.url, { concurrency: 7, ratePerSecond: 100 }));
    const seconds = (performance.now() - startedAt) / 1000;
    expect(60 / seconds).toBeLessThan(120);
    await outcomesOf(rows(200), optionsFor(server.url, { concurrency: 7 }));
    expect(most).toBeLessThanOrEqual(7);
  });

  it('are not begun while no connection is free, and leave no listener on their signal', async () => {
    const server = await service((response) => ok(response));
    const { signal } = new AbortController();
    let [begun, most] = [0, 0];
    const onRequest = () => {
      begun += 1;
      most = Math.max(most, begun - server.requests.length);
    };
    await outcomesOf(rows(20), optionsFor(server.url, { connections: 2, signal, onRequest }));
    expect(most).toBeLessThanOrEqual(2);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('of one user are sent one after another, in order', async () => {
    const got = new Map<string, string[]>();
    let busy = new Set<string>();
    const server = await service((response, user, request) => {
      expect(busy.has(user)).toBe(false);
      busy.add(user);
      const { n } = JSON.parse(new URLSearchParams(request.body).get('user_info') ?? '');
      got.set(user, [...(got.get(user) ?? []), n]);
      setTimeout(() => {
        busy.delete(user);
        if (n === 3 && got.get(user)?.filter((one) => String(one) === '3').length === 1)
          refuse(response, 500, 50001);
        else ok(response);
      }, 2);
    });
    const given = Array.from({ length: 60 }, (_, i) => row(`u${i % 3}`, Math.floor(i / 3)));
    for await (const { outcome } of passbackAll(given, optionsFor(server.url)))
      expect(outcome).toBe('ok');
    const order = Array.from({ length: 20 }, (_, n) => (n === 3 ? [3, 3] : [n])).flat();
    expect([...got.values()]).toEqual([order, order, order]);
    busy = new Set();
  });
});

describe('options that are out of range', () => {
  it.each([
    { concurrency: 0 },
    { concurrency: 1.5 },
    { concurrency: Number.POSITIVE_INFINITY },
    { ratePerSecond: 0 },
    { ratePerSecond: Number.NaN },
    { ratePerSecond: Number.POSITIVE_INFINITY },
    { ratePerSecond: '5' },
    { ratePerSecond: null },
    { timeoutMs: 0 },
    { attempts: 0 },
  ])('are refused at the call: %j', (options) => {
    const given = { ...optionsFor('http://127.0.0.1:1'), ...options } as RunOptions;
    expect(() => passbackAll(rows(1), given)).toThrow(InvalidInputError);
    expect(() => readAll([{ code: 'c' }], given)).toThrow(Object.keys(options)[0]);
  });

  it('are refused at the call if they are missing or unknown', () => {
    const client = new UserInfoClient(optionsFor('http://127.0.0.1:1'));
    const call = (options: unknown) => () => client.passbackAll(rows(1), options as BulkRunOptions);
    expect(call(5)).toThrow('the options of many rows: 5 was given');
    expect(call({ concurency: 4 })).toThrow(
      expect.objectContaining({
        code: 'INVALID_INPUT',
        message: 'the options of many rows: "concurency" is unknown',
        hint: expect.stringMatching(
          / concurrency, ratePerSecond, signal, attemptTimeoutMs, attempts, headers, context\.$/,
        ),
      }),
    );
  });

  it('are refused at the call if the rows are not iterable or the base URL is invalid', () => {
    const options = optionsFor('http://127.0.0.1:1');
    expect(() => passbackAll(5 as unknown as PassbackInput[], options)).toThrow(InvalidInputError);
    expect(() => passbackAll(rows(1), { ...options, baseUrl: 'nowhere' })).toThrow(
      InvalidInputError,
    );
  });

  it('are limited by the time of an attempt, not by that of a call', async () => {
    const server = await service((response, user) => {
      if (user === 'u0') setTimeout(() => ok(response), 150);
    });
    const options = { timeoutMs: 20, attemptTimeoutMs: 5_000, signal: AbortSignal.timeout(60_000) };
    expect((await outcomesOf(rows(1), optionsFor(server.url, options))).get('u0')).toMatchObject({
      outcome: 'ok',
    });
    const hasty = outcomesOf(
      [row('u1')],
      optionsFor(server.url, { attemptTimeoutMs: 20, attempts: 1 }),
    );
    // On a busy machine the time is over before the request is sent: then it is not carried out.
    expect((await hasty).get('u1')?.outcome).toMatch(/^(?:unknown|failed)$/);
  });

  it('do not overflow a timer at a very low rate', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on('warning', onWarning);
    cleanups.push(async () => void process.off('warning', onWarning));
    const server = await service((response) => ok(response));
    const abort = new AbortController();
    const options = optionsFor(server.url, { ratePerSecond: 1e-7, signal: abort.signal });
    const run = async () => {
      for await (const _outcome of passbackAll(rows(2), options))
        setTimeout(() => abort.abort(), 50);
    };
    await expect(run()).rejects.toBeInstanceOf(CancelledError);
    expect(warnings).toEqual([]);
  });
});

describe('all rows', () => {
  it.each([40101, 40102, 40103, 40104, 40301])(
    'stop where the service refuses the caller with %i',
    async (code) => {
      const server = await service((response, _, __, count) => {
        if (count <= 5) ok(response);
        else refuse(response, 401, code);
      });
      const seen: string[] = [];
      const run = async () => {
        for await (const { outcome } of passbackAll(rows(1000), optionsFor(server.url)))
          seen.push(outcome);
      };
      const error = await run().catch((thrown) => thrown);
      expect(error).toBeInstanceOf(RejectedError);
      expect(error).toMatchObject({ code: 'REJECTED', resultCode: code });
      expect(seen).toEqual(Array.from({ length: 5 }, () => 'ok'));
      expect(server.requests.length).toBeLessThan(5 + 2 * 32);
    },
  );

  it('are not read faster than their outcomes are consumed', async () => {
    const server = await service((response) => ok(response));
    let taken = 0;
    async function* source() {
      for (const one of rows(5000)) {
        taken += 1;
        yield one;
      }
    }
    const outcomes = passbackAll(source(), optionsFor(server.url));
    for (let i = 0; i < 10; i += 1) await outcomes.next();
    for (let before = -1; before !== taken; await wait(200)) before = taken;
    await outcomes.return();
    expect(taken).toBeLessThan(2500);
  });

  it('end with a CancelledError when aborted, after the outcomes of the rows in flight', async () => {
    const server = await service((response) => setTimeout(() => ok(response), 5));
    const abort = new AbortController();
    let count = 0;
    const run = async () => {
      for await (const { outcome } of passbackAll(
        rows(5000),
        optionsFor(server.url, { signal: abort.signal }),
      )) {
        expect(outcome).toBe('ok');
        count += 1;
        if (count === 50) abort.abort('enough');
      }
    };
    const error = await run().catch((thrown) => thrown);
    expect(error).toBeInstanceOf(CancelledError);
    expect(error).toMatchObject({ cause: 'enough', received: false });
    expect(count).toBe(server.requests.length);
    expect(count).toBeLessThan(200);
  });

  it('report, when aborted, that a row without an outcome may have been written', async () => {
    const abort = new AbortController();
    const server = await service((response) => {
      refuse(response, 500, 50001);
      abort.abort();
    });
    const run = outcomesOf(rows(1), optionsFor(server.url, { signal: abort.signal, attempts: 5 }));
    await expect(run).rejects.toMatchObject({ code: 'CANCELLED', received: true });
  });

  it('end normally if aborted after the last outcome', async () => {
    const server = await service((response) => ok(response));
    const abort = new AbortController();
    for await (const { index } of passbackAll(
      rows(3),
      optionsFor(server.url, { signal: abort.signal }),
    )) {
      if (index === 2) setTimeout(() => abort.abort(), 50);
      await wait(100);
    }
  });

  describe('close their source', () => {
    let closed: number;
    function* source() {
      try {
        for (let n = 0; ; n += 1) yield row(`u${n}`);
      } finally {
        closed += 1;
      }
    }
    async function* asyncSource() {
      yield* source();
    }
    beforeEach(() => {
      closed = 0;
    });

    it.each([
      ['an iterable', source],
      ['an async iterable', asyncSource],
    ])('%s, however the run ends', async (_, open) => {
      const server = await service((response, __, ___, count) => {
        if (count <= 100) ok(response);
        else refuse(response, 401, 40101);
      });
      for await (const _outcome of passbackAll(open(), optionsFor(server.url))) break;
      expect(closed).toBe(1);
      const throwing = async () => {
        for await (const _outcome of passbackAll(open(), optionsFor(server.url)))
          throw new Error('no more');
      };
      await expect(throwing()).rejects.toThrow('no more');
      expect(closed).toBe(2);
      const abort = new AbortController();
      const aborted = async () => {
        for await (const _outcome of passbackAll(
          open(),
          optionsFor(server.url, { signal: abort.signal }),
        ))
          abort.abort();
      };
      await expect(aborted()).rejects.toBeInstanceOf(CancelledError);
      expect(closed).toBe(3);
      await expect(outcomesOf(open(), optionsFor(server.url))).rejects.toMatchObject({
        resultCode: 40101,
      });
      expect(closed).toBe(4);
    });

    it('a stream of Node.js', async () => {
      const server = await service((response) => ok(response));
      const stream = Readable.from(asyncSource());
      for await (const _outcome of passbackAll(stream, optionsFor(server.url))) break;
      expect(stream.destroyed).toBe(true);
    });

    it('one whose next row never arrives, without waiting for it', async () => {
      const server = await service((response) => ok(response));
      let given = 0;
      const endless: AsyncIterable<PassbackInput> = {
        [Symbol.asyncIterator]: () => ({
          next: () => {
            given += 1;
            return given === 1
              ? Promise.resolve({ done: false, value: row('u0') })
              : new Promise(() => {});
          },
          return: async () => {
            closed += 1;
            return { done: true, value: undefined };
          },
        }),
      };
      for await (const { outcome } of passbackAll(endless, optionsFor(server.url))) {
        expect(outcome).toBe('ok');
        break;
      }
      expect(closed).toBe(1);
    });
  });

  it('can reuse one object for all rows', async () => {
    const server = await service((response) => ok(response));
    function* source() {
      const reused = { unionId: '', userInfo: { n: 0 } };
      for (let n = 0; n < 100; n += 1) {
        reused.unionId = `u${n}`;
        reused.userInfo.n = n;
        yield reused;
      }
    }
    async function* asyncSource() {
      yield* source();
    }
    for (const from of [source(), asyncSource()]) {
      server.requests.length = 0;
      const indexes: number[] = [];
      for await (const { index } of passbackAll(from, optionsFor(server.url))) indexes.push(index);
      const written = server.requests.map(({ body }) =>
        Object.fromEntries(new URLSearchParams(body)),
      );
      expect(new Set(written.map(({ union_id, user_info }) => `${union_id} ${user_info}`))).toEqual(
        new Set(Array.from({ length: 100 }, (_, n) => `u${n} {"n":${n}}`)),
      );
      expect(indexes.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, n) => n));
    }
  });

  it('are not sent if that function fails, or the run is aborted before it returns', async () => {
    const server = await service((response) => ok(response));
    const failing = () => Promise.reject(new Error('the vault is sealed'));
    const options = optionsFor(server.url, { appSecret: failing, attempts: 2 });
    await expect(outcomesOf(rows(3), options)).rejects.toMatchObject({
      message: 'the function appSecret failed',
      reason: 'secret',
      received: false,
      retryable: true,
      cause: { message: 'the vault is sealed' },
    });
    const signal = AbortSignal.timeout(20);
    const hanging = () => new Promise<string>(() => {});
    await expect(
      outcomesOf(rows(3), optionsFor(server.url, { appSecret: hanging, signal })),
    ).rejects.toBeInstanceOf(CancelledError);
    expect(server.requests).toHaveLength(0);
  });

  it('are sent with the secret that the function returned before it failed', async () => {
    const server = await service((response) => ok(response));
    let calls = 0;
    const appSecret = async () => {
      calls += 1;
      if (calls === 2) throw new Error('a blip');
      return 'from-a-vault';
    };
    const warned = new Promise<Error>((resolve) => {
      process.once('warning', resolve);
    });
    // The second call is due 1 s after the first.
    const source = async function* () {
      while (calls < 2) {
        yield row(`before-${server.requests.length}`);
        await wait(50);
      }
      yield* rows(3);
    };
    const outcomes = await outcomesOf(source(), optionsFor(server.url, { appSecret }));
    expect(new Set([...outcomes.values()].map(({ outcome }) => outcome))).toEqual(new Set(['ok']));
    expect(await warned).toMatchObject({
      name: 'UserInfoSecretWarning',
      message: 'the function appSecret failed; its last value stays in use',
    });
  });

  it('use the connections of their client, whose close ends the run', async () => {
    const held: ServerResponse[] = [];
    let isClosing = false;
    const server = await service((response) =>
      isClosing ? ok(response) : void held.push(response),
    );
    const client = new UserInfoClient(optionsFor(server.url));
    const outcomes: string[] = [];
    const run = async () => {
      for await (const { outcome } of client.passbackAll(rows(100), { concurrency: 4 }))
        outcomes.push(outcome);
    };
    const ended = run();
    await expect.poll(() => held.length).toBeGreaterThan(0);
    const late = client.passbackAll(rows(1));
    const closed = client.close();
    isClosing = true;
    for (const response of held) ok(response);
    await expect(ended).rejects.toMatchObject({
      code: 'CANCELLED',
      received: false,
      ...{ operation: 'passback', attempts: 0, retryable: true },
    });
    await closed;
    expect(outcomes).toEqual(server.requests.map(() => 'ok'));
    expect(outcomes.length).toBeLessThanOrEqual(4);
    expect(() => client.passbackAll(rows(1))).toThrow('the client is closed');
    await expect(late.next()).rejects.toThrow('the client is closed');
  });

  it('are abandoned by a close with force, also of the client that theirs is derived from', async () => {
    const held: ServerResponse[] = [];
    const server = await service((response) => void held.push(response));
    const client = new UserInfoClient(optionsFor(server.url));
    const run = async () => {
      for await (const _ of client.withOptions({ attempts: 1 }).passbackAll(rows(100)))
        expect.unreachable();
    };
    const ended = expect(run()).rejects.toMatchObject({
      code: 'CANCELLED',
      received: true,
      ...{ operation: 'passback', attempts: expect.any(Number), retryable: true },
      cause: { message: 'the client was closed' },
    });
    await expect.poll(() => held.length).toBeGreaterThan(0);
    await client.close({ force: true });
    await ended;
  });

  it('have errors whose stacks lead to the caller', async () => {
    const server = await service((response, user) => {
      if (user === 'fatal') refuse(response, 401, 40102);
      else refuse(response, 404, 40401);
    });
    await using client = new UserInfoClient(optionsFor(server.url));
    async function theCaller() {
      for await (const one of client.passbackAll([row('u0'), row('fatal')]))
        if (one.outcome === 'failed') stacks.push(one.error.stack ?? '');
    }
    const stacks: string[] = [];
    await theCaller().catch((error: Error) => stacks.push(error.stack ?? ''));
    expect(stacks).toHaveLength(2);
    for (const stack of stacks)
      expect(stack).toMatch(/^RejectedError: .*\n(.*\n)*? +at .*theCaller/);
  });

  it('end with an error if their source throws undefined', async () => {
    const server = await service((response) => ok(response));
    const failing = (function* (): Generator<PassbackInput> {
      yield row('u0');
      throw undefined;
    })();
    await expect(outcomesOf(failing, optionsFor(server.url))).rejects.toThrow(
      'the source of rows failed',
    );
    expect(server.requests).toHaveLength(1);
  });

  it('throw the error of their source, once the rows in flight are answered', async () => {
    const server = await service((response) => ok(response));
    async function* source() {
      yield row('u0');
      throw new Error('the database went away');
    }
    const outcomes: string[] = [];
    const run = async () => {
      for await (const { outcome } of passbackAll(source(), optionsFor(server.url)))
        outcomes.push(outcome);
    };
    await expect(run()).rejects.toThrow('the database went away');
    expect(outcomes).toEqual(['ok']);
  });
});

describe('many codes', () => {
  it('are never sent again if they may have been used', async () => {
    const server = await service((response, _, { query }) => {
      const code = new URLSearchParams(query).get('code');
      if (code === 'dropped') response.destroy();
      else if (code === 'faulty') refuse(response, 500, 50001);
      else ok(response);
    });
    const outcomes = new Map<string, string>();
    const codes = ['dropped', 'faulty', 'good'].map((code) => ({ code, infoNames: ['mobile'] }));
    for await (const { row: one, outcome } of readAll(codes, optionsFor(server.url))) {
      outcomes.set(one.code, outcome);
    }
    expect(Object.fromEntries(outcomes)).toEqual({
      dropped: 'unknown',
      faulty: 'unknown',
      good: 'ok',
    });
    expect(server.requests).toHaveLength(3);
  });
});
