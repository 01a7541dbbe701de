import { runInNewContext } from 'node:vm';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  type ClientHooks,
  type Logger,
  UserInfoClient,
  type UserInfoClientOptions,
} from '../../../src/index.js';
import { passbackAll, readAll } from '../../support/all-rows.js';
import { credentials } from '../../support/credentials.js';
import { httpServer, type TestServer, tcpServer } from '../../support/raw-server.js';

const ok = '{"code":200,"msg":"ok","data":{"union_id":"u1"}}';
const row = { unionId: 'u1', userInfo: { a: 'x' } };

let server: TestServer;
let silent: TestServer;
let nowhere: string;
const warnings: Error[] = [];
const keep = (warning: Error) => void warnings.push(warning);

beforeAll(async () => {
  server = await httpServer((_, response) => response.end(ok));
  silent = await tcpServer(() => {});
  const gone = await tcpServer(() => {});
  await gone.close();
  nowhere = gone.url;
  process.on('warning', keep);
});

afterEach(() => void warnings.splice(0));

afterAll(async () => {
  process.off('warning', keep);
  await server.close();
  await silent.close();
});

function clientFor(baseUrl: string, options: Partial<UserInfoClientOptions>): UserInfoClient {
  return new UserInfoClient({
    baseUrl,
    ...credentials,
    timeoutMs: 30_000,
    attempts: 1,
    ...options,
  });
}

const outcomeOf = (call: Promise<unknown>) =>
  call.then(
    () => 'ok',
    (error: { reason?: unknown }) => error.reason ?? error,
  );

const throws = () => {
  throw new Error('metrics\nare down');
};
const rejects = () => Promise.reject(new Error('metrics\nare down'));
const rejectsElsewhere = () => runInNewContext("Promise.reject(new Error('metrics\\nare down'))");
const odd = () => Object.defineProperty({}, 'then', { get: throws });
/** What is thrown has no text that could be reported. */
const textless = { message: { toString: throws } };

it('the headers of an answer that a hook is shown are four, a Location without its parameters', async () => {
  const headers = {
    location: 'https://login.example/x?sign=abc',
    'set-cookie': 'a=b',
    'retry-after': '3',
  };
  const redirecting = await httpServer((_, response) => response.writeHead(302, headers).end());
  const shown: unknown[] = [];
  await using client = clientFor(redirecting.url, {
    onResponse: (event) => void shown.push(event.headers),
  });
  await outcomeOf(client.passback(row));
  await redirecting.close();
  const date = ['date', expect.any(String)];
  expect(shown).toEqual([[date, ['retry-after', '3'], ['location', 'https://login.example/x']]]);
});

describe.each([
  ['throws', throws],
  ['rejects', rejects],
  ['rejects in another realm', rejectsElsewhere],
  ['returns what cannot be awaited', odd],
])('a hook that %s', (_, hook) => {
  const all = { onRequest: hook, onResponse: hook, onNoAnswer: hook };

  it('changes nothing for a call, and is reported once per client', async () => {
    await using client = clientFor(server.url, all);
    expect(await outcomeOf(client.passback(row))).toBe('ok');
    expect(await outcomeOf(client.read({ code: 'c' }))).toBe('ok');
    await using other = clientFor(nowhere, all);
    expect(await outcomeOf(other.passback(row))).toBe('connect');
    await expect.poll(() => warnings.length).toBe(2);
    expect(warnings).toMatchObject(
      Array(2).fill({
        name: 'UserInfoHookWarning',
        code: 'USERINFO_HOOK',
        message:
          'the hook onRequest of a UserInfoClient failed: "metrics\\nare down"; its calls are not affected',
      }),
    );
  });

  it('changes nothing for many rows', async () => {
    const options = { ...credentials, baseUrl: server.url, ...all };
    const told: string[] = [];
    for await (const { outcome } of passbackAll([row, row, row], options)) told.push(outcome);
    for await (const { outcome } of readAll([{ code: 'c' }], options)) told.push(outcome);
    expect(told).toEqual(Array(4).fill('ok'));
  });
});

it.each([
  [
    'throws',
    () => {
      throw textless;
    },
  ],
  ['rejects with', () => Promise.reject(textless)],
])('a hook that %s something without a text changes nothing either', async (_, hook) => {
  await using client = clientFor(server.url, { onRequest: hook, onResponse: hook });
  expect(await outcomeOf(client.passback(row))).toBe('ok');
  await expect.poll(() => warnings.length).toBe(1);
});

describe('every started attempt calls one more hook at its end', () => {
  /** The hooks that were called, with the reason where there is one. */
  function hooksInto(told: string[]): ClientHooks {
    return {
      onRequest: ({ attempt }) => told.push(`request ${attempt}`),
      onResponse: ({ attempt }) => told.push(`response ${attempt}`),
      onNoAnswer: ({ attempt, reason, received }) =>
        told.push(`${reason} ${attempt} ${received ? 'received' : 'not received'}`),
    };
  }

  it('when its time is over', async () => {
    const told: string[] = [];
    await using client = clientFor(silent.url, {
      ...hooksInto(told),
      timeoutMs: 1_000,
      attempts: 3,
    });
    expect(await outcomeOf(client.passback(row))).toBe('timeout');
    expect(told).toEqual(['request 1', 'timeout 1 received']);
  });

  it('when there is no connection in time', async () => {
    const told: string[] = [];
    const proxy = silent.url;
    await using client = clientFor('https://service.example', {
      ...hooksInto(told),
      proxy,
      timeoutMs: 500,
    });
    expect(await outcomeOf(client.passback(row))).toBe('timeout');
    expect(told).toEqual(['request 1', 'timeout 1 not received']);
  });

  it('when the caller cancels it', async () => {
    const told: string[] = [];
    const asked = new AbortController();
    const busy = await tcpServer(() => asked.abort(new Error('enough')));
    await using client = clientFor(busy.url, { ...hooksInto(told), attempts: 3 });
    const call = client.passback(row, { signal: asked.signal });
    await expect(call).rejects.toMatchObject({ code: 'CANCELLED', cause: { message: 'enough' } });
    await busy.close();
    expect(told).toEqual(['request 1', 'cancelled 1 received']);
  });

  it('in a run of many rows', async () => {
    const told: string[] = [];
    const options = {
      ...credentials,
      baseUrl: silent.url,
      ...hooksInto(told),
      timeoutMs: 1_000,
      attempts: 2,
    };
    for await (const { outcome } of passbackAll([row], options)) expect(outcome).toBe('unknown');
    expect(told).toEqual(['request 1', 'timeout 1 received', 'request 2', 'timeout 2 received']);
  });
});

describe('a logger', () => {
  /** What a real pino writes, line by line. */
  const pinoAt = (level: string) => {
    const lines: Record<string, unknown>[] = [];
    const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
    return { lines, logger: pino({ level, base: null }, destination) };
  };

  it('of pino receives each attempt, and what is a warning of the process otherwise; nothing secret', async () => {
    const { lines, logger } = pinoAt('debug');
    await using client = clientFor(server.url, { logger, onRequest: throws });
    await client.read({ code: 'do-not-show-my-code' }, { context: { job: 7 } });
    await client.passback({ primaryKey: 'mobile', userInfo: { mobile: '13812345678' } });
    await using other = clientFor(nowhere, { logger });
    expect(await outcomeOf(other.passback(row))).toBe('connect');
    expect(lines.filter(({ level }) => level === 20)).toMatchObject([
      { msg: 'request', operation: 'read', attempt: 1, context: { job: 7 } },
      { msg: 'response', operation: 'read', httpStatus: 200, resultCode: 200 },
      { msg: 'request', operation: 'passback' },
      { msg: 'response', operation: 'passback' },
      { msg: 'request', operation: 'passback' },
      { msg: 'no answer', reason: 'connect', received: false },
    ]);
    expect(lines.filter(({ level }) => level === 40)).toMatchObject([
      {
        code: 'USERINFO_HOOK',
        msg: expect.stringContaining('the hook onRequest of a UserInfoClient failed'),
      },
    ]);
    expect(JSON.stringify(lines)).not.toMatch(/do-not-show|13812345678/);
    expect(warnings).toEqual([]);
  });

  it('that does not log at this level costs no event', async () => {
    const { lines, logger } = pinoAt('info');
    const debug = vi.spyOn(logger, 'debug');
    await using client = clientFor(server.url, { logger });
    await client.passback(row);
    expect([debug.mock.calls, lines]).toEqual([[], []]);
  });

  it('is the console', async () => {
    const [debug, warn] = [vi.spyOn(console, 'debug'), vi.spyOn(console, 'warn')].map((spy) =>
      spy.mockReturnValue(),
    );
    await using client = clientFor(server.url, { logger: console });
    await client.passback(row);
    expect(debug?.mock.calls.map(([, message]) => message)).toEqual(['request', 'response']);
    expect(warn).not.toHaveBeenCalled();
    vi.restoreAllMocks();
  });

  it.each([
    ['throws', throws],
    ['rejects', rejects],
  ])(
    'that %s changes nothing for a call, and is reported once by the process',
    async (_, fails) => {
      await using client = clientFor(server.url, { logger: { debug: fails, warn: fails } });
      expect(await outcomeOf(client.passback(row))).toBe('ok');
      expect(await outcomeOf(client.passback(row))).toBe('ok');
      await expect.poll(() => warnings.length).toBe(1);
      expect(warnings[0]).toMatchObject({
        code: 'USERINFO_HOOK',
        message: expect.stringContaining('the logger of'),
      });
    },
  );

  it('without its methods is refused', () => {
    expect(() => clientFor(server.url, { logger: { debug() {} } as unknown as Logger })).toThrow(
      'logger is an object, not a logger with debug and warn',
    );
  });
});

it('the duration of an attempt comes from a monotonic clock, whatever `now` returns', async () => {
  const slow = await httpServer((_, response) => void setTimeout(() => response.end(ok), 20));
  const durations: number[] = [];
  const onResponse: ClientHooks['onResponse'] = ({ durationMs }) => durations.push(durationMs);
  await using client = clientFor(slow.url, { now: () => 1_700_000_000_000, onResponse });
  await client.passback(row);
  await slow.close();
  expect(durations[0]).toBeGreaterThan(0);
});

it('a failure while reading an answer ends its call with the cause', async () => {
  let asked = 0;
  const now = () => {
    asked += 1;
    if (asked > 1) throw new Error('no clock');
    return 1_700_000_000_000;
  };
  await using client = clientFor(server.url, { now });
  await expect(client.passback(row)).rejects.toMatchObject({
    code: 'NO_ANSWER',
    reason: 'not-envelope',
    received: true,
    cause: { message: 'no clock' },
  });
});
