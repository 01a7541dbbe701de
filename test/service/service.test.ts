import { createHmac } from 'node:crypto';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { InvalidInputError } from '../../src/core/contract/errors.js';
import { Secret } from '../../src/core/signing/secret.js';
import {
  type AdminOptions,
  createService,
  createTestService,
  openAdmin,
  type ServiceOptions,
  StartError,
} from '../../src/service/index.js';
import {
  draftPassback,
  draftRead,
  fetchAnswer,
  send,
  signDraft,
} from '../support/foreign-client.js';
import { nextAnswer, openSocket, parseAnswers } from '../support/raw-exchange.js';
import { runService, tenant, user, withApp } from '../support/running-service.js';
import { temporaryFile } from '../support/temporary-file.js';

describe('a service', () => {
  it('starts on a free local port, in memory, without output', async () => {
    const service = await createService();
    const another = await createService();
    expect(service.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(another.url).not.toBe(service.url);
    const { app } = await withApp(service);
    expect((await send(another.url, draftRead(app, 'x'))).envelope.code).toBe(40101);
    expect((await send(service.url, draftRead(app, 'x'))).envelope.code).toBe(40106);
    await Promise.all([service.close(), another.close()]);
  });

  it.each(['localhost', '::1', '[::1]'])('is reachable at its url for %s', async (host) => {
    const service = await createService({ host });
    expect((await fetchAnswer(`${service.url}/healthz`)).status).toBe(200);
    await service.close();
  });

  it('is closed at the end of the block that used it', async () => {
    const service = await createService();
    await service[Symbol.asyncDispose]();
    await expect(fetch(`${service.url}/healthz`)).rejects.toThrow();
  });

  it('is empty after a reset, and continues', async () => {
    const { service, app, passback } = await runService();
    await service.admin.putUser(user('u1'));
    expect((await passback({ union_id: 'u1', user_info: '{"a":"b"}' })).envelope.code).toBe(200);
    await service.reset();
    expect((await send(service.url, draftRead(app, 'x'))).envelope.code).toBe(40101);
    const fresh = await withApp(service);
    const answer = await fresh.passback({ union_id: 'u1', user_info: '{"a":"b"}' });
    expect(answer.envelope.code).toBe(40401);
    await service.close();
  });

  it('keeps its data in its file', async () => {
    const database = await temporaryFile('kept.db');
    const { service, app, passback } = await runService({ database });
    await service.admin.putUser(user('u1'));
    const draft = draftPassback(app, { union_id: 'u1', user_info: '{"a":"b"}' });
    expect((await send(service.url, draft)).envelope.code).toBe(200);
    await passback({ union_id: 'u1', user_info: '{"c":"d"}' });
    await service.close();
    const again = await createService({ database });
    expect((await send(again.url, draft)).envelope.code).toBe(40105);
    expect(await again.admin.getUser({ tenantCode: tenant, unionId: 'u1' })).toEqual(
      user('u1', { extension_info: { a: 'b', c: 'd' } }),
    );
    await again.close();
  });

  it.each([
    ['its own address', undefined],
    ['the address of its proxy', 'https://api.example.com/platform/'],
  ])('verifies an app by the recipes it was created with, over %s', async (_, publicUrl) => {
    const service = await createService(publicUrl === undefined ? {} : { publicUrl });
    const { app_secret, ...app } = await service.admin.createApp({
      tenantCode: tenant,
      channel: 'web',
      recipes: {
        app_sign: {
          message: ['$method', ' ', '$url', ' ', '$param:random'],
          steps: ['hmac-sha256'],
        },
        sign: {
          params: { order: 'name', encode: 'rfc3986' },
          message: ['$params', '|', '$body'],
          steps: ['hmac-sha1'],
          output: 'base64',
        },
      },
    });
    await service.admin.putUser(user('u1'));
    const secret = app_secret.reveal();
    const draft = draftPassback(
      { ...app, secret },
      { union_id: 'u1', user_info: '{"name":"张 三"}' },
    );
    const { body } = signDraft(draft);
    const query = new Map(draft.query);
    const url = `${service.url}${draft.path}`;
    const hmac = (algorithm: string, text: string) => createHmac(algorithm, secret).update(text);
    const signedUrl =
      publicUrl === undefined ? url : `https://api.example.com/platform${draft.path}`;
    query.set('app_sign', hmac('sha256', `PUT ${signedUrl} ${query.get('random')}`).digest('hex'));
    const params = [...query, ...(draft.form ?? [])]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
      .join('&');
    const sign = hmac('sha1', `${params}|${body}`).digest('base64');
    const put = (signature: string) =>
      fetchAnswer(`${url}?${new URLSearchParams([...query, ['sign', signature]])}`, {
        method: 'PUT',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body,
      });
    const wrong = `${sign.slice(0, -2)}${sign.at(-2) === 'A' ? 'B' : 'A'}=`;
    expect((await put(wrong)).envelope.code).toBe(40103);
    expect((await put(sign.slice(1))).envelope.code).toBe(40002);
    expect((await put(sign)).envelope.code).toBe(200);
    await service.close();
  });
});

const passbackPath = '/api/v1/server/user/passback_user_info';

describe('a service that is closed', () => {
  it('answers the requests in flight first', async () => {
    const { service, app } = await runService();
    await service.admin.putUser(user('u1'));
    const open = connect(Number(new URL(service.url).port), '127.0.0.1');
    let received = '';
    open.setEncoding('utf8').on('data', (chunk: string) => {
      received += chunk;
    });
    const ended = new Promise((resolve) => open.on('close', resolve));
    const { target, body } = signDraft(
      draftPassback(app, { union_id: 'u1', user_info: '{"a":"b"}' }),
    );
    const bytes = body ?? '';
    open.write(
      `PUT ${target} HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: ${bytes.length}\r\n\r\n`,
    );
    await expect.poll(() => received).toContain('100 Continue');
    const closed = service.close();
    await new Promise((resolve) => setTimeout(resolve, 50));
    open.write(bytes);
    await closed;
    await ended;
    expect(received).toContain('"code":200');
    await expect(fetch(`${service.url}/healthz`)).rejects.toThrow();
  });

  it('resets no busy connection, nor any that replaces one', async () => {
    const { service, app } = await runService({ drainMs: 60_000 });
    await service.admin.putUser(user('u1'));
    const signed = () => signDraft(draftPassback(app, { union_id: 'u1', user_info: '{"a":"b"}' }));
    let answered = 0;
    const ask = async () => {
      let socket = openSocket(service.url);
      let isConnected = false;
      const onConnect = () => {
        isConnected = true;
      };
      socket.on('connect', onConnect);
      for (;;) {
        const { target, body } = signed();
        socket.write(`PUT ${target} HTTP/1.1\r\nContent-Length: ${body?.length}\r\n\r\n${body}`);
        const answer = await nextAnswer(socket);
        if (answer === null) return isConnected ? 'cut off' : 'refused';
        answered += 1;
        expect(answer).toContain('"code":200');
        if (!/^connection: close/im.test(answer)) continue;
        isConnected = false;
        socket = openSocket(service.url).on('connect', onConnect);
      }
    };
    const ends = Array.from({ length: 64 }, ask);
    await expect.poll(() => answered).toBeGreaterThan(200);
    await service.close();
    expect(await Promise.all(ends)).toEqual(Array(64).fill('refused'));
  });

  it('answers what comes on idle connections, the last with "Connection: close", and accepts no new ones', async () => {
    const service = await createService({ drainMs: 60_000 });
    const socket = openSocket(service.url);
    const get = 'GET /healthz HTTP/1.1\r\n\r\n';
    socket.write(get);
    expect(await nextAnswer(socket)).not.toMatch(/^connection: close/im);
    const closed = service.close();
    const isOpen = () => fetch(`${service.url}/healthz`).then(Boolean, () => false);
    await expect.poll(isOpen).toBe(false);
    const received: Buffer[] = [];
    const ended = new Promise((resolve) => socket.on('close', resolve));
    socket.on('data', (chunk: Buffer) => received.push(chunk)).write(get.repeat(5));
    await Promise.all([closed, ended]);
    const answers = parseAnswers(Buffer.concat(received));
    expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(200));
    expect(answers.map(({ head }) => /^connection: close/im.test(head)).indexOf(true)).toBe(4);
  });

  it('waits a few seconds, and no longer, for an incomplete request', async () => {
    const service = await createService();
    const parts = [
      'GET /healthz HTTP/1.1\r\nHost',
      `PUT ${passbackPath} HTTP/1.1\r\nContent-Length: 9\r\n\r\nunion`,
    ];
    const sockets = parts.map((part) => {
      const socket = openSocket(service.url);
      socket.write(part);
      return socket;
    });
    const ends = Promise.all(sockets.map(nextAnswer));
    await service.close();
    const [headers, body] = await ends;
    // Headers have about as much time.
    expect(headers ?? '"code":40801').toContain('"code":40801');
    expect(body).toBeNull();
  });

  it('does not wait for connections on which nothing is asked', async () => {
    const service = await createService();
    const begun = openSocket(service.url);
    begun.write('GET /healthz HTTP/1.1\r\nHost');
    const silent = openSocket(service.url);
    const silentClosed = new Promise((resolve) => silent.on('close', resolve));
    await new Promise((resolve) => silent.on('connect', resolve));
    await fetchAnswer(`${service.url}/healthz`);
    const closed = service.close();
    await silentClosed;
    // The service still waits for the request that has begun.
    begun.write(': a\r\n\r\n');
    expect(await nextAnswer(begun)).toMatch(/^HTTP\/1.1 200 /);
    await closed;
  });

  it('may be closed twice', async () => {
    const service = await createService();
    await Promise.all([service.close(), service.close()]);
    await service.close();
  });
});

describe('a service that cannot start', () => {
  it('says that its port is in use, and leaves no database open', async () => {
    const first = await createService();
    const port = Number(new URL(first.url).port);
    const database = await temporaryFile('x.db');
    const second = createService({ port, database });
    await expect(second).rejects.toThrow(StartError);
    await expect(second).rejects.toMatchObject({
      code: 'PORT_IN_USE',
      message: `port ${port} of 127.0.0.1 is in use`,
    });
    await first.close();
    await (await createService({ port, database })).close();
  });

  it.each(['host.invalid', '192.0.2.1'])('says that it cannot listen on %s', async (host) => {
    await expect(createService({ host })).rejects.toMatchObject({ code: 'CANNOT_LISTEN' });
  });

  it('says that its database cannot be opened', async () => {
    const database = '/nonexistent/folder/x.db';
    const fault = { code: 'CANNOT_OPEN_DATABASE', message: expect.stringContaining(database) };
    await expect(createService({ database })).rejects.toMatchObject(fault);
    await expect(openAdmin({ database })).rejects.toMatchObject(fault);
  });

  it.each([
    { platform: { clock_window_seconds: -1 } },
    { faults: { error: 5, seed: 1 } },
    { faults: { error: 0.6, reset: 0.6, seed: 1 } },
    { faults: { latencyMs: { min: 2, max: 1 }, seed: 1 } },
    { faults: { skewSeconds: Number.NaN, seed: 1 } },
    { faults: { error: '0.1' as never, seed: 1 } },
    { faults: { latencyMs: { min: '1', max: '2' } as never, seed: 1 } },
    { faults: { seed: 0.5 } },
    { faults: { errors: 1, seed: 1 } as never },
  ] satisfies ServiceOptions[])('says that %j makes no sense', async (options) => {
    await expect(createService(options)).rejects.toThrow(InvalidInputError);
  });

  // As a caller without TypeScript gives them.
  const wrong: Record<string, readonly unknown[]> = {
    database: [5, null, new URL('file:///x.db')],
    masterKeys: ['1'.repeat(64), new Secret('1'.repeat(64)), ['1'.repeat(64)], [null]],
    poolSize: [0, 'x', Number.NaN],
    create: ['yes', 0],
    upgrade: [null],
    now: [0],
    masterKey: ['unknown'],
    port: [65_536, -1],
    adminPort: ['x', 70_000],
    maxBodyBytes: [0],
    requestTimeoutMs: [0.5],
    maxConnections: [0],
    adminTokens: ['t'.repeat(16), ['t'.repeat(16)]],
    trustProxy: ['10.0.0.0/8', [5], [null]],
    rateLimit: [0, Number.NaN, 'x'],
    actor: [7],
    users: [[null], [5], {}],
  };
  const cells = Object.entries(wrong).flatMap(([name, values]) =>
    values.map((value) => ({ name, value })),
  );
  it.each(cells)('names the option: %j', async ({ name, value }) => {
    const fault = { code: 'INVALID_INPUT', message: expect.stringContaining(name) };
    const given: object = { database: ':memory:', [name]: value };
    await expect(openAdmin(given as AdminOptions)).rejects.toMatchObject(fault);
    await expect(createService(given)).rejects.toMatchObject(fault);
    await expect(createTestService(given)).rejects.toMatchObject(fault);
  });

  it.each([openAdmin, createService, createTestService])(
    'that null is no options: %o',
    async (open) => {
      await expect(open(null as never)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
      await expect(openAdmin({} as never)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    },
  );
});
