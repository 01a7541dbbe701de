import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type NoAnswerError,
  UserInfoClient,
  type UserInfoClientOptions,
} from '../../../src/index.js';
import { passbackAll } from '../../support/all-rows.js';
import {
  type BareProxy,
  bareProxy,
  flood,
  type ProxyTalk,
  refusals,
} from '../../support/bare-proxy.js';
import { credentials } from '../../support/credentials.js';
import { httpServer } from '../../support/raw-server.js';
import { rejection } from '../../support/rejection.js';

async function proxyThat(talk: ProxyTalk): Promise<BareProxy> {
  const proxy = await bareProxy(talk);
  onTestFinished(() => proxy.close());
  return proxy;
}

const row = { unionId: 'u1', userInfo: { a: 'x' } };
const options = {
  baseUrl: 'https://api.example.com',
  ...credentials,
  connectTimeoutMs: 30_000,
  timeoutMs: 30_000,
};

async function failure({ url: proxy }: BareProxy, more: Partial<UserInfoClientOptions> = {}) {
  await using client = new UserInfoClient({ ...options, proxy, ...more });
  const error = await rejection<NoAnswerError>(client.passback(row));
  expect(`${error.stack}${error.hint}${JSON.stringify(error)}`).not.toMatch(
    /never-to-be-seen|Ym9i/,
  );
  return error;
}

describe('a proxy that opens no tunnel is asked once for each attempt, and named', () => {
  it.each(Object.entries(refusals))('%s', async (_, [talk, said]) => {
    for (const attempts of [1, 2]) {
      const proxy = await proxyThat(talk);
      // The others have all the time that they need, on a busy machine too.
      const connectTimeoutMs = said.source.includes('within 300 ms') ? 300 : 30_000;
      const error = await failure(proxy, { attempts, connectTimeoutMs });
      expect(error).toMatchObject({
        code: 'NO_ANSWER',
        reason: 'proxy',
        received: false,
        attempts,
      });
      expect(error.message).toContain(
        `cannot reach api.example.com through the proxy ${proxy.host}`,
      );
      expect(error.message).toMatch(said);
      expect(error.hint).toContain('Check the proxy');
      expect(proxy.connections).toBe(attempts);
      expect(proxy.passwords).toBeLessThanOrEqual(attempts);
      expect(proxy.asked).toEqual(proxy.asked.map(() => 'CONNECT api.example.com:443 HTTP/1.1'));
    }
  });

  it('refuses the password: it is not sent again', async () => {
    const talk = {
      onRequest: (socket) => socket.write('HTTP/1.1 407 No\r\n\r\n'),
    } satisfies ProxyTalk;
    const proxy = await proxyThat(talk);
    const error = await failure(proxy, { attempts: 3 });
    expect(error).toMatchObject({
      reason: 'proxy',
      httpStatus: 407,
      attempts: 1,
      retryable: false,
    });
    expect(error.message).toBe(
      `cannot reach api.example.com through the proxy ${proxy.host}, which answered HTTP 407`,
    );
    expect(error.hint).toMatch(/user name and password/);
    expect(proxy.passwords).toBe(1);
    const plain = await failure(proxy, {
      attempts: 3,
      baseUrl: 'http://api.example.com',
      allowHttp: true,
    });
    expect(plain).toMatchObject({ reason: 'proxy', httpStatus: 407, received: false, attempts: 1 });
    expect(plain.message).toBe(error.message);
    expect(proxy.passwords).toBe(2);
  });

  it('answers in plain text in the tunnel', async () => {
    const proxy = await proxyThat({
      onRequest: (socket) => socket.write('HTTP/1.1 200 OK\r\n\r\nhello, who is it'),
    });
    const error = await failure(proxy, { attempts: 3 });
    expect(error).toMatchObject({ reason: 'tls', received: false, attempts: 1 });
    expect(error.message).toContain(`api.example.com through the proxy ${proxy.host} (`);
    expect(proxy.connections).toBe(1);
  });

  it('hangs beyond the deadline', async () => {
    const proxy = await proxyThat({});
    const error = await failure(proxy, { timeoutMs: 1_000, connectTimeoutMs: 5_000 });
    expect(error).toMatchObject({ reason: 'timeout', received: false });
    expect(error.message).toBe(
      `api.example.com through the proxy ${proxy.host} did not answer within 1000 ms`,
    );
    expect(error.hint).toMatch(/^The request was not sent.*proxy/);
    expect(proxy.connections).toBe(1);
  });
});

describe('a proxy of plain http', () => {
  const plain = { baseUrl: 'http://api.example.com', allowHttp: true };

  it.each<[string, ProxyTalk, string, RegExp]>([
    ['closes at once', { onConnection: (s) => s.end() }, 'reset', /closed the connection/],
    ['closes after reading', { onRequest: (s) => s.end() }, 'reset', /closed the connection/],
    [
      'closes in a status line',
      { onRequest: (s) => s.end('HTTP/1.1 20') },
      'reset',
      /closed the connection/,
    ],
    [
      'redirects',
      {
        onRequest: (s) =>
          s.write(
            'HTTP/1.1 302 Found\r\nLocation: http://login.example/?a\r\nContent-Length: 0\r\n\r\n',
          ),
      },
      'not-envelope',
      /answered HTTP 302 with an empty body, pointing to "http:\/\/login\.example\/"$/,
    ],
    [
      'continues without end',
      { onRequest: (s) => s.write('HTTP/1.1 100 Continue\r\n\r\n'.repeat(1_000)) },
      'reset',
      /closed the connection/,
    ],
  ])('that %s gets one request for each attempt, and is named', async (_, talk, reason, said) => {
    const proxy = await proxyThat(talk);
    const attempts = reason === 'reset' ? 2 : 1;
    const error = await failure(proxy, { ...plain, attempts: 2 });
    expect(error).toMatchObject({ reason, attempts });
    expect(error.message).toMatch(said);
    expect(error.message).toMatch(
      new RegExp(`^api\\.example\\.com through the proxy ${proxy.host} `),
    );
    // After a flood undici may have opened the next connection already; it sends nothing on it.
    expect(talk.onRequest === undefined ? proxy.connections : proxy.asked.length).toBe(attempts);
    expect(proxy.asked).toEqual(
      proxy.asked.map(
        () => 'PUT http://api.example.com/api/v1/server/user/passback_user_info HTTP/1.1',
      ),
    );
  });
});

describe('without a proxy, one connection for each attempt', () => {
  it.each<[string, ProxyTalk]>([
    ['a server that closes at once', { onConnection: (socket) => socket.end() }],
    ['a server that resets at once', { onConnection: (socket) => socket.resetAndDestroy() }],
    ['a server that closes after reading', { onRequest: (socket) => socket.end() }],
    [
      'a server that continues without end',
      { onRequest: (socket) => flood(socket, 'HTTP/1.1 100 Continue\r\n\r\n') },
    ],
  ])('%s', async (_, talk) => {
    for (const scheme of ['http', 'https']) {
      const server = await proxyThat(talk);
      const baseUrl = `${scheme}://${server.host}`;
      if (scheme === 'https' && talk.onRequest !== undefined) continue;
      const error = await failure(server, { baseUrl, attempts: 2 });
      expect(error).toMatchObject({ reason: 'reset', attempts: 2 });
      expect(error.message).toContain(server.host);
      expect(server.connections).toBe(2);
    }
  });
});

it('HTTP 407 of the service itself is no refusal of a proxy', async () => {
  const service = await httpServer((_, response) =>
    response.writeHead(407).end('<title>no</title>'),
  );
  await using client = new UserInfoClient({ ...options, baseUrl: service.url });
  await expect(client.passback(row)).rejects.toMatchObject({
    reason: 'not-envelope',
    httpStatus: 407,
  });
  await service.close();
});

it('a bulk run asks the proxy no more often than rows and attempts allow, and ends at a refused password', async () => {
  const rows = Array.from({ length: 20 }, (_, index) => ({ ...row, unionId: `u${index}` }));
  const closing = await proxyThat({ onRequest: (socket) => socket.end() });
  let outcomes = 0;
  for await (const { outcome } of passbackAll(rows, {
    ...options,
    proxy: closing.url,
    attempts: 2,
  })) {
    expect(outcome).toBe('failed');
    outcomes += 1;
  }
  expect(outcomes).toBe(20);
  expect(closing.passwords).toBe(40);
  const refusing = await proxyThat({
    onRequest: (socket) => socket.write('HTTP/1.1 407 No\r\n\r\n'),
  });
  const run = async () => {
    for await (const _ of passbackAll(rows, { ...options, proxy: refusing.url, concurrency: 1 }));
  };
  await expect(run()).rejects.toMatchObject({ httpStatus: 407 });
  expect(refusing.passwords).toBe(1);
});
