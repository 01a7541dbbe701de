import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Span, SpanOptions, Tracer } from '@opentelemetry/api';
import pino from 'pino';
import { Registry } from 'prom-client';
import { UserInfoClient, type UserInfoClientOptions } from 'userinfo-exchange';
import { createTestService, useTestService } from 'userinfo-exchange/service';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { httpProxy } from '../test/support/http-proxy.js';
import { caFile, tlsServer } from '../test/support/tls-server.js';
import { linesOf, type Progress, passBackAll } from './bulk.js';
import { readData, recordPurchase, signIn, statusFor } from './calls.js';
import { behindProxy, shutDown } from './network.js';
import { logged, measured, traceCalls } from './observe.js';
import { platform } from './own-recipe.js';
import { hurried, patient, persist, readFor } from './time.js';

const users = [{ union_id: 'u001', basic_info: { mobile: '13800138000' } }];
const service = useTestService({ beforeEach, afterAll }, { users });
const purchase = { acme_level: 'gold', acme_total: 5 } as const;
const write = { unionId: 'u001', userInfo: { acme_level: 'gold' } };

const newClient = (options: Partial<UserInfoClientOptions> = {}) =>
  new UserInfoClient({ ...service.clientOptions, ...options });
const errorOf = (call: Promise<unknown>) =>
  call.then(
    () => expect.unreachable(),
    (error: unknown) => error,
  );

it('typed read, passback', async () => {
  await using client = newClient();
  expect(await recordPurchase(client, 'u001', purchase)).toMatchObject({ msg: 'ok' });
  const user = { user: 'u001', mobile: '13800138000', level: 'gold' };
  expect(await signIn(client, await service.issueCode('u001'))).toEqual(user);
  const { mobile } = await readData(client, await service.issueCode('u001'), ['mobile']);
  expect(mobile).toBe('13800138000');
});

it('errors in one switch', async () => {
  await using client = newClient({ attempts: 1 });
  const status = async (call: Promise<unknown>) => statusFor(await errorOf(call));
  expect(await status(client.read({ code: 'none' }))).toBe(403);
  expect(await status(client.passback({ ...write, unionId: 'u999' }))).toBe(502);
  service.failNext(1, { code: 42901 });
  expect(await status(client.passback(write))).toBe(503);
  service.failNext(1, { cut: 'after' });
  expect(await status(client.passback(write))).toBe(504);
  expect(await status(client.read({ code: 'c' }, { signal: AbortSignal.abort() }))).toBe(503);
  expect(await status(client.read({ code: '' }))).toBe(500);
  expect(() => statusFor(new TypeError('a bug'))).toThrow('a bug');
});

it('bulk with back-pressure and progress', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'userinfo-example-'));
  const path = join(folder, 'rows.ndjson');
  const rows = Array.from({ length: 600 }, (_, index) => ({
    unionId: `u${index}`,
    userInfo: { acme_n: index },
  }));
  await writeFile(path, rows.map((row) => JSON.stringify(row)).join('\n'));
  await using client = newClient();
  let [taken, most] = [0, 0];
  const seen: Progress[] = [];
  const counted = async function* () {
    for await (const row of linesOf(path)) {
      taken += 1;
      yield row;
    }
  };
  const report = (progress: Progress) => {
    most = Math.max(most, taken - progress.ok - progress.unknown);
    seen.push({ ...progress });
  };
  // Answers of its own: what is shown is the run, not the service.
  service.stub(({ parameters }) => ({
    body: { code: 200, msg: 'ok', data: { union_id: parameters.union_id } },
  }));
  service.failNext(1, { cut: 'after' });
  expect(await passBackAll(client, counted(), { report })).toEqual([]);
  expect(seen.at(-1)).toEqual({ ok: 600, failed: 0, invalid: 0, unknown: 0 });
  expect(seen.length).toBeGreaterThan(5);
  expect(most).toBeLessThan(300);
  await rm(folder, { recursive: true });
});

it('retry policy and time-outs', async () => {
  await using client = newClient();
  service.failNext(7, { code: 50301, retryAfter: 0 });
  expect(await patient(client).passback(write)).toMatchObject({ attempts: 8 });
  service.failNext(2, { delayMs: 60_000 });
  const late = await errorOf(hurried(client).passback(write));
  expect(late).toMatchObject({ reason: 'timeout', received: true, retryable: true });
  service.failNext(6, { code: 50301 });
  let calls = 0;
  const persisted = persist(() => {
    calls += 1;
    return client.passback(write, { attempts: 3 });
  }, [1, 1]);
  expect(await persisted).toMatchObject({ attempts: 1 });
  expect(calls).toBe(3);
  await expect(persist(() => client.read({ code: 'none' }))).rejects.toThrow('40106');
});

it('abort', async () => {
  await using client = newClient();
  service.failNext(1, { delayMs: 60_000 });
  const browser = new AbortController();
  const call = errorOf(readFor(browser.signal, client, await service.issueCode('u001')));
  await sleep(50);
  browser.abort();
  expect(await call).toMatchObject({ code: 'CANCELLED' });
});

it('own recipe', async () => {
  await using other = await createTestService({ platform, users });
  await using client = new UserInfoClient({ ...other.clientOptions, platform });
  await client.passback(write);
  expect(other.requests[0]?.parameters.sign).toMatch(/^[0-9A-F]{64}$/);
  expect(await errorOf(client.passback({ ...write, unionId: 'u999' }))).toMatchObject({
    resultCode: 2001,
    means: 'noSuchUser',
  });
});

it('proxy and CA', async () => {
  const server = await tlsServer('good', service.url);
  const proxy = await httpProxy(server.url);
  const options = { ...service.clientOptions, baseUrl: 'https://service.example' };
  await using client = behindProxy(options, proxy.url, caFile);
  await client.passback(write);
  expect(proxy.asked).toEqual(['CONNECT service.example:443']);
  await client.close();
  await proxy.close();
  await server.close();
});

it('pino', async () => {
  const lines: string[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) });
  await using client = logged(service.clientOptions, log);
  await client.read({ code: await service.issueCode('u001') });
  const error = await errorOf(client.read({ code: 'none' }));
  log.error({ err: error }, 'sign-in failed');
  const logs = lines.map((line) => JSON.parse(line));
  expect(logs.map(({ msg }) => msg)).toEqual([
    'request',
    'response',
    'request',
    'response',
    'sign-in failed',
  ]);
  expect(logs[1]).toMatchObject({
    module: 'userinfo',
    operation: 'read',
    httpStatus: 200,
    resultCode: 200,
  });
  expect(logs[4].err).toMatchObject({ type: 'RejectedError', means: 'codeNotValid' });
  expect(lines.join('')).not.toMatch(/13800138000|test-secret/);
});

it('OpenTelemetry', async () => {
  const spans: unknown[] = [];
  const startSpan = (name: string, { attributes }: SpanOptions) => {
    const told: Record<string, unknown> = { name, ...attributes };
    return {
      setAttribute: (key: string, value: unknown) => Object.assign(told, { [key]: value }),
      setStatus: ({ code }: { readonly code: number }) => Object.assign(told, { status: code }),
      end: () => void spans.push(told),
    } as unknown as Span;
  };
  const stop = traceCalls({ startSpan } as unknown as Tracer);
  await using client = newClient();
  service.failNext(1, { code: 50301 });
  await client.passback(write);
  await errorOf(client.read({ code: 'none' }));
  stop();
  await client.passback(write);
  const address = { 'server.address': '127.0.0.1' };
  expect(spans).toEqual([
    { name: 'userinfo passback', ...address, 'userinfo.attempts': 2 },
    { name: 'userinfo read', ...address, 'error.type': 'REJECTED', status: 2 },
  ]);
});

it('metrics', async () => {
  const register = new Registry();
  await using client = newClient(measured(register));
  service.failNext(1, { cut: 'after' });
  await client.passback(write);
  await errorOf(client.read({ code: 'none' }));
  const text = await register.metrics();
  for (const [operation, end] of [
    ['passback', 'reset'],
    ['passback', 200],
    ['read', 40106],
  ])
    expect(text).toContain(
      `userinfo_attempt_seconds_count{operation="${operation}",end="${end}"} 1`,
    );
});

it('close', async () => {
  const client = newClient();
  service.failNext(1, { delayMs: 100 });
  const inTime = client.passback(write);
  await shutDown(client, 20_000);
  await inTime;
  const other = newClient();
  service.failNext(1, { delayMs: 60_000 });
  const cancelled = errorOf(other.passback(write));
  await shutDown(other, 50);
  expect(await cancelled).toMatchObject({ code: 'CANCELLED' });
  expect(await errorOf(other.passback(write))).toMatchObject({ code: 'INVALID_INPUT' });
});
