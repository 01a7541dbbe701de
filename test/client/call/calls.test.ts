import { getEventListeners } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { UserInfoClient, type UserInfoClientOptions } from '../../../src/index.js';
import { credentials } from '../../support/credentials.js';
import { httpServer, type TestServer, tcpServer } from '../../support/raw-server.js';
import { serviceWithApp } from '../../support/service-with-app.js';

const ok = '{"code":200,"msg":"ok","data":{"union_id":"u1"}}';
const row = { unionId: 'u1', userInfo: { a: 'x' } };

/** Closes something at the end of its test. */
function keep<T extends TestServer | UserInfoClient>(thing: T): T {
  onTestFinished(() => thing.close());
  return thing;
}

function clientFor(baseUrl: string, options: Partial<UserInfoClientOptions> = {}): UserInfoClient {
  return keep(new UserInfoClient({ baseUrl, ...credentials, attempts: 1, ...options }));
}

describe('many calls at once', () => {
  it('share connections: 500 reads of the service all succeed', async () => {
    const { service, credentials } = await serviceWithApp();
    onTestFinished(() => service.close());
    const { code } = await service.admin.issueCode({
      tenantCode: 'acme',
      unionId: 'u1',
      uses: 'unlimited',
    });
    const client = clientFor(service.url, { ...credentials, timeoutMs: 60_000 });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 500 }, () => client.read({ code })),
    );
    expect(outcomes.filter(({ status }) => status === 'rejected')).toEqual([]);
  });

  it('that end while they wait for a connection are not sent', async () => {
    let arrive = (_answer: () => void) => {};
    const arrived = new Promise<() => void>((resolve) => {
      arrive = resolve;
    });
    const server = keep(
      await httpServer((_, response, count) => {
        if (count > 1) response.end(ok);
        else arrive(() => response.end(ok));
      }),
    );
    const client = clientFor(server.url, { connections: 1, timeoutMs: 60_000 });
    const first = client.passback(row);
    const answer = await arrived;
    await expect(client.passback(row, { timeoutMs: 100 })).rejects.toMatchObject({
      received: false,
    });
    answer();
    await first;
    await client.passback(row);
    expect(server.requests).toHaveLength(2);
  });

  it.each([
    [undefined, 128],
    [3, 3],
  ])('with `connections` %s take %s of them', async (connections, expected) => {
    const sockets = new Set<unknown>();
    const server = keep(
      await httpServer((_, response) => {
        sockets.add(response.socket);
        setTimeout(() => response.end(ok), 5);
      }),
    );
    const client = clientFor(server.url, connections === undefined ? {} : { connections });
    await Promise.all(Array.from({ length: 200 }, () => client.passback(row)));
    expect(sockets.size).toBe(expected);
  });
});

describe('a signal', () => {
  it('may be shared by many calls, and has no listener afterwards', async () => {
    const warnings: unknown[] = [];
    const keepWarning = (warning: unknown) => void warnings.push(warning);
    process.on('warning', keepWarning);
    const server = keep(await httpServer((_, response) => response.end(ok)));
    const client = clientFor(server.url);
    const { signal } = new AbortController();
    const calls = Array.from({ length: 50 }, () => client.passback(row, { signal }));
    await Promise.all(calls);
    await new Promise(setImmediate);
    process.off('warning', keepWarning);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    expect(warnings).toEqual([]);
  });

  it('ends all its calls, and no others', async () => {
    const silent = keep(await tcpServer(() => {}));
    const client = clientFor(silent.url, { timeoutMs: 300 });
    const asked = new AbortController();
    const calls = [1, 2].map(() => client.passback(row, { signal: asked.signal }));
    const other = client.passback(row);
    asked.abort();
    for (const call of calls) await expect(call).rejects.toMatchObject({ code: 'CANCELLED' });
    await expect(other).rejects.toMatchObject({ reason: 'timeout' });
  });

  it('reports by `received` whether the service may have acted', async () => {
    const asked = new AbortController();
    const acting = keep(await httpServer(() => asked.abort()));
    const acted = clientFor(acting.url).passback(row, { signal: asked.signal });
    await expect(acted).rejects.toMatchObject({
      code: 'CANCELLED',
      received: true,
      hint: expect.stringContaining('Whether the request was carried out is not known. Try again'),
    });
    const before = clientFor(acting.url).passback(row, { signal: asked.signal });
    await expect(before).rejects.toMatchObject({
      code: 'CANCELLED',
      received: false,
      hint: 'The request was not carried out.',
    });
    expect(acting.requests).toHaveLength(1);
  });

  it('aborted by a hook ends the attempt that called the hook', async () => {
    const asked = new AbortController();
    const silent = keep(await tcpServer(() => {}));
    const client = clientFor(silent.url, { onRequest: () => asked.abort() });
    const call = client.passback(row, { signal: asked.signal });
    await expect(call).rejects.toMatchObject({ code: 'CANCELLED' });
  });

  it('ends a pause between attempts, and keeps `received` of earlier attempts', async () => {
    const asked = new AbortController();
    const server = keep(
      await httpServer((_, response) => {
        response.statusCode = 503;
        response.setHeader('retry-after', '3');
        response.end('{"code":50001,"msg":"internal","data":{}}');
      }),
    );
    const onResponse = () => void setTimeout(() => asked.abort(), 20);
    const client = clientFor(server.url, { attempts: 2, onResponse });
    const call = client.passback(row, { signal: asked.signal });
    await expect(call).rejects.toMatchObject({ code: 'CANCELLED', received: true });
    expect(server.requests).toHaveLength(1);
  });
});

const kinds: Readonly<Record<string, (client: UserInfoClient) => Promise<unknown>>> = {
  call: (client) => client.passback(row),
  'call with a secret of a vault': (client) =>
    client.withOptions({ appSecret: async () => 's' }).passback(row, { attemptTimeoutMs: 60_000 }),
  run: async (client) => {
    for await (const { outcome } of client.passbackAll([row])) expect(outcome).toBe('ok');
  },
};
it.each(Object.entries(kinds))('a %s leaves no timer behind', async (_, send) => {
  const server = keep(await httpServer((_, response) => response.end(ok)));
  const client = clientFor(server.url, { timeoutMs: 3_600_000 });
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  await send(client);
  const before = timers();
  await Promise.all(Array.from({ length: 20 }, () => send(client)));
  expect(timers() - before).toBeLessThan(10);
});

describe('a client that is closed', () => {
  it('rejects further calls at once with a clear error', async () => {
    const server = keep(await httpServer((_, response) => response.end(ok)));
    const client = clientFor(server.url);
    await client.passback(row);
    const closed = client.close();
    await expect(client.passback(row)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: 'the client is closed: nothing was sent',
    });
    await closed;
    await expect(client.read({ code: 'c' })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    await client.close();
    expect(server.requests).toHaveLength(1);
  });

  it('waits for the calls in flight', async () => {
    const server = keep(
      await httpServer((_, response) => void setTimeout(() => response.end(ok), 30)),
    );
    const client = clientFor(server.url);
    const calls = [1, 2, 3].map(() => client.passback(row));
    await client.close();
    expect(await Promise.all(calls)).toHaveLength(3);
  });
});

describe('the time of an attempt', () => {
  it('ends it, and leaves time for another, in the option of a client or of a call', async () => {
    const server = keep(
      await httpServer((_, response, count) => {
        if (count % 2 === 0) response.end(ok);
      }),
    );
    const client = clientFor(server.url, {
      connections: 1,
      attempts: 2,
      attemptTimeoutMs: 50,
      timeoutMs: 60_000,
    });
    expect(await client.passback(row)).toMatchObject({ attempts: 2 });
    const patient = client.withOptions({ attemptTimeoutMs: 60_000 });
    expect(await patient.passback(row, { attemptTimeoutMs: 50 })).toMatchObject({ attempts: 2 });
    expect(server.requests).toHaveLength(4);
  });

  it('is named by the error of the last one', async () => {
    const server = keep(await tcpServer(() => {}));
    const client = clientFor(server.url, { attemptTimeoutMs: 50, timeoutMs: 60_000 });
    await expect(client.passback(row)).rejects.toMatchObject({
      reason: 'timeout',
      retryable: true,
      message: expect.stringContaining('did not answer within 50 ms'),
    });
    await expect(client.read({ code: 'c' })).rejects.toMatchObject({
      received: true,
      retryable: false,
    });
  });
});

describe('a client in a Proxy, as containers of dependencies make it', () => {
  it('works', async () => {
    const server = keep(await httpServer((_, response) => response.end(ok)));
    const client = new Proxy(clientFor(server.url), {});
    expect(await client.read({ code: 'c' })).toMatchObject({ httpStatus: 200 });
    expect(await client.withOptions({ channel: 'app' }).passback(row)).toMatchObject({
      httpStatus: 200,
    });
    for await (const { outcome } of client.passbackAll([row])) expect(outcome).toBe('ok');
    await client.close();
  });

  it('a method that lost its client says so', async () => {
    const { read, passbackAll, close } = clientFor('http://127.0.0.1:1');
    const lost = {
      code: 'INVALID_INPUT',
      message: expect.stringContaining('without its client: nothing was sent'),
    };
    await expect(read({ code: 'c' })).rejects.toMatchObject(lost);
    expect(() => passbackAll([row])).toThrow(expect.objectContaining(lost));
    expect(() => close()).toThrow(expect.objectContaining(lost));
  });

  it('and a subclass may have any method of its own', async () => {
    const server = keep(await httpServer((_, response) => response.end(ok)));
    const unused = () => expect.unreachable();
    class Users extends UserInfoClient {
      readonly options = null;
      send = unused;
      track = unused;
      sign = unused;
      sender = unused;
    }
    const users = keep(new Users({ baseUrl: server.url, ...credentials }));
    expect(await users.read({ code: 'c' })).toMatchObject({ httpStatus: 200 });
    for (const one of [users, users.withOptions({ channel: 'app' })])
      expect(Object.keys(one)).toEqual(['options', 'send', 'track', 'sign', 'sender']);
  });
});
