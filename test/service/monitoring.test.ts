import { DatabaseSync } from '@photostructure/sqlite';
import parsePrometheus from 'parse-prometheus-text-format';
import { afterEach, describe, expect, it } from 'vitest';
import { Secret } from '../../src/core/signing/secret.js';
import { createService, type LogEvent, openAdmin, type Service } from '../../src/service/index.js';
import { monitoringOf } from '../../src/service/monitoring.js';
import { draftPassback, draftRead, signDraft } from '../support/foreign-client.js';
import { createSchema } from '../support/postgres/test-schema.js';
import { exchange, openSocket } from '../support/raw-exchange.js';
import { all, createAppKeys, tenant, user, withApp } from '../support/running-service.js';
import { SlowRelay } from '../support/slow-relay.js';
import { temporaryFile } from '../support/temporary-file.js';

const monitoringPaths = [
  ...monitoringOf(
    async () => true,
    async () => '',
  ).keys(),
];

let service: Service | undefined;

afterEach(() => service?.close());

async function start(options: Parameters<typeof createService>[0] = {}) {
  const events: LogEvent[] = [];
  service = await createService({
    ...options,
    version: '9.8.7',
    log: (event) => void events.push(event),
  });
  const monitoring = events.find((event) => event.event === 'monitoring');
  return { service, events, url: service.url, adminUrl: monitoring?.url ?? '' };
}

const statusOf = async (url: string, headers = {}) => (await fetch(url, { headers })).status;

/** The values of a metric, by their labels. */
async function metric(url: string, name: string) {
  const families = parsePrometheus(await (await fetch(`${url}/metrics`)).text());
  return families.find((family: { name: string }) => family.name === name)?.metrics ?? [];
}

describe('monitoring', () => {
  it('counts requests by operation and result code, and times them', async () => {
    const { url, service } = await start();
    const { passback } = await withApp(service);
    await service.admin.putUser(user('u1'));
    const count = async () => await metric(url, 'userinfo_requests_total');
    const before = await count();
    await passback({ union_id: 'u1', user_info: '{"a":"b"}' });
    await passback({ union_id: 'nobody', user_info: '{"a":"b"}' });
    await fetch(`${url}/no-such-path/13800138000`);
    const countOf = (list: Awaited<ReturnType<typeof count>>, operation: string, code: string) =>
      Number(
        list.find(({ labels }) => labels?.operation === operation && labels.code === code)?.value ??
          0,
      );
    await expect
      .poll(
        async () => countOf(await count(), 'other', '40402') - countOf(before, 'other', '40402'),
      )
      .toBe(1);
    const after = await count();
    expect(countOf(after, 'passback', '200') - countOf(before, 'passback', '200')).toBe(1);
    expect(countOf(after, 'passback', '40401') - countOf(before, 'passback', '40401')).toBe(1);
    const builds = await metric(url, 'userinfo_build_info');
    expect(builds.map(({ labels }) => labels)).toContainEqual({
      version: '9.8.7',
      node: process.version,
    });
    expect(await metric(url, 'nodejs_eventloop_lag_seconds')).toHaveLength(1);
    const text = await (await fetch(`${url}/metrics`)).text();
    const bounds = new Set(text.match(/(?<=userinfo_request_duration_seconds_bucket\{le=")[^"]+/g));
    expect([...bounds].join(' ')).toBe(
      '0.001 0.002 0.005 0.01 0.02 0.05 0.1 0.2 0.5 1 2 5 10 +Inf',
    );
    expect(text).not.toContain('13800138000');
    const problems = (await metric(url, 'userinfo_problems_total')).map(
      ({ labels }) => labels?.event,
    );
    expect(problems.sort()).toEqual([
      'clock',
      'fault',
      'overload',
      'store_unavailable',
      'unreadable_secret',
    ]);
  });

  it('times requests by less than a millisecond: most take no longer', async () => {
    let ms = 0;
    const steadyNow = () => {
      ms += 0.123;
      return ms;
    };
    const { url, events } = await start({ steadyNow });
    await fetch(`${url}/no-such-path`);
    const logged = () => events.find(({ event }) => event === 'request');
    await expect.poll(logged).toBeDefined();
    expect(logged()).toMatchObject({ ms: expect.closeTo(0.123, 6) });
  });

  it('has the connections to PostgreSQL', async () => {
    const schema = await createSchema();
    const { url } = await start({ database: schema.url, poolSize: 3 });
    const states = (await metric(url, 'userinfo_database_connections')).map(
      ({ labels }) => labels?.state,
    );
    expect(states).toEqual(['in_use', 'idle', 'waiting']);
    await service?.close();
    expect(await metric((await start()).url, 'userinfo_database_connections')).toEqual([]);
    await schema.remove();
  });

  it.each(['SQLite', 'PostgreSQL'])('has the backlog of the purge: %s', async (engine) => {
    const schema = engine === 'PostgreSQL' ? await createSchema() : null;
    const { url, service } = await start(schema === null ? {} : { database: schema.url });
    const backlog = async () => {
      const found = await metric(url, 'userinfo_purge_backlog_seconds');
      return found.map(({ labels, value }) => [labels?.table, value]);
    };
    await expect.poll(backlog).toEqual([
      ['nonces', '0'],
      ['codes', '0'],
      ['audit', '0'],
    ]);
    await service.close();
    await schema?.remove();
  });

  it('answers on the port of the service, metrics to this machine alone', async () => {
    const { url } = await start({ host: 'localhost' });
    for (const path of monitoringPaths) {
      expect(await statusOf(url + path)).toBe(200);
      const forwarded = path === '/metrics' ? 404 : 200;
      expect(await statusOf(url + path, { 'x-forwarded-for': '203.0.113.7' })).toBe(forwarded);
      expect((await fetch(url + path, { method: 'POST' })).status).toBe(405);
      expect((await fetch(url + path, { method: 'HEAD' })).status).toBe(200);
    }
  });

  it.each([{}, { adminPort: 0 }])(
    'answers the checks of a load balancer, with %j',
    async (options) => {
      const { url, service } = await start({ ...options, drainDelayMs: 60_000 });
      // HAProxy: "option httpchk GET /readyz", and "http-check send ver HTTP/1.1 hdr Host lb".
      const statuses = async (path: string) => {
        const requests = [
          `GET ${path} HTTP/1.0\r\n\r\n`,
          `GET ${path} HTTP/1.1\r\nHost: lb\r\nConnection: close\r\n\r\n`,
        ];
        return await Promise.all(
          requests.map(async (request) => (await exchange(url, request))[0]?.status),
        );
      };
      expect([await statuses('/livez'), await statuses('/readyz')]).toEqual([
        [200, 200],
        [200, 200],
      ]);
      expect(await statuses('/metrics')).toEqual([404, 404]);
      const closed = service.close();
      expect(await statuses('/readyz')).toEqual([503, 503]);
      // A second call ends the delay.
      void service.close();
      await closed;
    },
  );

  it('has metrics on a port of its own, and no longer on that of the service', async () => {
    const { url, adminUrl } = await start({ adminPort: 0 });
    for (const path of monitoringPaths) {
      expect(await statusOf(url + path)).toBe(path === '/metrics' ? 404 : 200);
      const { status, headers } = await fetch(adminUrl + path);
      const type = path === '/metrics' ? 'text/plain; version=0.0.4' : 'application/json';
      expect([status, headers.get('content-type')]).toEqual([200, `${type}; charset=utf-8`]);
    }
    expect(await statusOf(`${adminUrl}/other`)).toBe(404);
    const port = Number(new URL(adminUrl).port);
    await expect(createService({ adminPort: port })).rejects.toThrow(
      `port ${port} of 127.0.0.1 is in use`,
    );
  });

  it.each([
    ['', 200],
    ['Host: localhost:9090\r\n', 200],
    ['Host: 192.0.2.7\r\n', 200],
    ['Host: attacker.example\r\n', 404],
    ['Host: localhost\r\nHost: attacker.example\r\n', 404],
  ])(
    'on a port of its own at a loopback address answers no other name: %j',
    async (host, status) => {
      const { adminUrl } = await start({ adminPort: 0 });
      for (const path of monitoringPaths) {
        const request = `GET ${path} HTTP/1.1\r\n${host}Connection: close\r\n\r\n`;
        const [answer] = await exchange(adminUrl, request);
        expect(answer?.status).toBe(status);
        expect(answer?.body.includes('userinfo_requests_total')).toBe(
          status === 200 && path === '/metrics',
        );
      }
    },
  );

  it('on a port of its own at an address of the network answers the names that lead there', async () => {
    const { adminUrl } = await start({ host: '0.0.0.0', adminPort: 0 });
    const url = adminUrl.replace('0.0.0.0', '127.0.0.1');
    const request =
      'GET /metrics HTTP/1.1\r\nHost: userinfo.internal:9090\r\nConnection: close\r\n\r\n';
    expect((await exchange(url, request))[0]?.status).toBe(200);
  });

  it('on a port of its own closes connections past the limit, says so, and the service answers meanwhile', async () => {
    const { url, adminUrl, events } = await start({ maxConnections: 4, adminPort: 0 });
    const sockets = Array.from({ length: 4 }, () => openSocket(adminUrl));
    await Promise.all(
      sockets.map((socket) => new Promise((resolve) => socket.once('connect', resolve))),
    );
    const live = 'GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n';
    expect(await exchange(adminUrl, live)).toEqual([]);
    expect(events.filter(({ event }) => event === 'overload')).toEqual([
      {
        event: 'overload',
        problem: 'admin port: 4 connections are open; further ones are closed',
      },
    ]);
    expect(await statusOf(`${url}/healthz`)).toBe(200);
    for (const socket of sockets) socket.destroy();
    await expect.poll(async () => (await exchange(adminUrl, live))[0]?.status).toBe(200);
  });

  it.each([
    ['nothing', ''],
    ['half a line', 'G'],
    ['half a header', 'GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: '],
    [
      'half a body',
      'POST /codes HTTP/1.1\r\nAuthorization: Bearer a token of an operator\r\nContent-Length: 9\r\n\r\n{',
    ],
  ])('on a port of its own gives up on who sends %s', async (_, bytes) => {
    const adminTokens = [new Secret('a token of an operator')];
    const { adminUrl } = await start({ requestTimeoutMs: 300, adminPort: 0, adminTokens });
    const socket = openSocket(adminUrl);
    let received = '';
    socket.on('data', (chunk: Buffer) => {
      received += chunk;
    });
    socket.write(bytes);
    await new Promise((resolve) => socket.once('close', resolve));
    expect(received).toMatch(/^(HTTP\/1\.1 408 Request Timeout\r\n|$)/);
  });

  it('asks the database once a second whether it can write, however many ask whether it is ready', async () => {
    const database = await temporaryFile('test.db');
    let now = 0;
    const { url, service } = await start({ database, steadyNow: () => now });
    const other = new DatabaseSync(database);
    /** It changes when another connection writes. */
    const version = () => other.prepare('PRAGMA data_version').get();
    const ready = async () => expect(await statusOf(`${url}/readyz`)).toBe(200);
    const atFirst = version();
    await ready();
    const once = version();
    expect(once).not.toEqual(atFirst);
    await Promise.all(Array.from({ length: 20 }, ready));
    expect(version()).toEqual(once);
    now = 1001;
    await ready();
    expect(version()).not.toEqual(once);
    other.close();
    await service.close();
  });

  it('answers whether it is ready by the last probe while the next one is slow', async () => {
    const schema = await createSchema();
    const relay = await SlowRelay.before(schema.url);
    let now = 0;
    const { url, service } = await start({ database: relay.url, steadyNow: () => now });
    expect(await statusOf(`${url}/readyz`)).toBe(200);
    // Whoever waits for the next probe waits for ever.
    relay.delayMs = Number.POSITIVE_INFINITY;
    for (now = 1001; now < 10_000; now += 1001) {
      for (const path of ['/readyz', '/healthz']) expect(await statusOf(url + path)).toBe(200);
    }
    // Then both are too old.
    now = 11_002;
    expect(await statusOf(`${url}/readyz`)).toBe(503);
    relay.close();
    await service.close();
    await schema.remove();
  });

  it('is not ready before the service stops, which serves meanwhile', async () => {
    const { url, adminUrl, service } = await start({ adminPort: 0, drainDelayMs: 600 });
    const { passback } = await withApp(service);
    await service.admin.putUser(user('u1'));
    const closed = service.close();
    expect(await statusOf(`${adminUrl}/readyz`)).toBe(503);
    expect(await statusOf(`${adminUrl}/livez`)).toBe(200);
    expect((await passback({ union_id: 'u1', user_info: '{"a":"b"}' })).envelope.code).toBe(200);
    await closed;
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
    await expect(fetch(`${adminUrl}/livez`)).rejects.toThrow();
  });
});

it('a read whose client is gone before its app is known uses no code', async () => {
  const schema = await createSchema();
  const relay = await SlowRelay.before(schema.url);
  const admin = await openAdmin({ database: schema.url });
  await admin.putUser(user('u1'));
  const app = await createAppKeys({ admin }, tenant);
  const { code } = await admin.issueCode({ tenantCode: tenant, unionId: 'u1' });
  const { url, events } = await start({ database: relay.url });
  relay.delayMs = 200;
  const { target } = signDraft(draftRead(app, code));
  const socket = openSocket(url);
  socket.write(`GET ${target} HTTP/1.1\r\n\r\n`);
  await new Promise((resolve) => setTimeout(resolve, 100));
  socket.destroy();
  relay.delayMs = 0;
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(events.filter(({ event }) => event === 'request')).toEqual([]);
  expect((await all(admin.listCodes({ tenantCode: tenant })))[0]).toMatchObject({ uses_left: 1 });
  relay.close();
  await Promise.all([admin.close(), service?.close()]);
  await schema.remove();
});

describe('a request', () => {
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;

  async function exchange(
    headers: Record<string, string>,
    options: { trustProxy?: string[] } = {},
  ) {
    const { url, service, events } = await start(options);
    const { app } = await withApp(service);
    const draft = signDraft(draftPassback(app, { union_id: 'u1', user_info: '{"a":"b"}' }));
    const answer = await fetch(url + draft.target, {
      method: 'PUT',
      body: draft.body,
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    });
    const logged = () => events.find(({ event }) => event === 'request');
    await expect.poll(logged).toBeDefined();
    return { answer, logged: logged() };
  }

  it('keeps its ID, which is answered and logged', async () => {
    const { answer, logged } = await exchange({ 'x-request-id': 'order-4711' });
    expect(answer.headers.get('x-request-id')).toBe('order-4711');
    expect(logged).toMatchObject({ request_id: 'order-4711', client: '127.0.0.1' });
    expect(logged).not.toHaveProperty('trace_id');
  });

  it('is named by its trace', async () => {
    const { answer, logged } = await exchange({ traceparent });
    expect(answer.headers.get('x-request-id')).toBe(traceId);
    expect(answer.headers.get('traceparent')).toBe(traceparent);
    expect(logged).toMatchObject({ request_id: traceId, trace_id: traceId });
  });

  it.each([
    [`cc-${traceId}-00f067aa0ba902b7-01`],
    [`01-${traceId}-00f067aa0ba902b7-01-what-later-versions-add`],
  ])('is named by a trace of a later version: %s', async (later) => {
    const { answer, logged } = await exchange({ traceparent: later });
    expect(answer.headers.get('traceparent')).toBe(traceparent);
    expect(logged).toMatchObject({ request_id: traceId, trace_id: traceId });
  });

  it.each([
    [{ 'x-request-id': 'two words' }],
    [{ traceparent: '00-zz-1-01' }],
    [{ traceparent: `${traceparent}-more` }],
    [{ traceparent: `ff${traceparent.slice(2)}` }],
    [{}],
  ])('gets an ID where it has none that is valid: %j', async (headers) => {
    const { answer, logged } = await exchange(headers);
    const id = answer.headers.get('x-request-id');
    expect(id).toMatch(/^[\da-f]{8}-[\da-f-]{27}$/);
    expect(answer.headers.get('traceparent')).toBeNull();
    expect(logged).toMatchObject({ request_id: id });
  });

  it.each([
    ['203.0.113.7:4711', '203.0.113.7'],
    ['[2001:db8::7]:443', '2001:db8::7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['13800138000', '127.0.0.1'],
  ])('has an address alone where a proxy forwards %s', async (forwarded, client) => {
    const { logged } = await exchange(
      { 'x-forwarded-for': forwarded },
      { trustProxy: ['127.0.0.1'] },
    );
    expect(logged).toMatchObject({ client });
  });

  it('has the address that a trusted proxy forwards, and no other', async () => {
    const forwarded = { 'x-forwarded-for': '198.51.100.1, 203.0.113.7' };
    expect((await exchange(forwarded, { trustProxy: ['127.0.0.0/8'] })).logged).toMatchObject({
      client: '203.0.113.7',
    });
    for (const options of [{}, { trustProxy: ['10.0.0.0/8'] }]) {
      await service?.close();
      expect((await exchange(forwarded, options)).logged).toMatchObject({ client: '127.0.0.1' });
    }
    await expect(createService({ trustProxy: ['10.0.0.0/33'] })).rejects.toThrow(
      '"10.0.0.0/33" is not an address or a range of addresses',
    );
  });
});
