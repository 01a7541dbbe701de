import type { Socket } from 'node:net';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  type Dispatcher,
  NoAnswerError,
  RejectedError,
  UserInfoClient,
} from '../../../src/index.js';
import { passbackAll, readAll } from '../../support/all-rows.js';
import { credentials } from '../../support/credentials.js';
import { httpServer, type TestServer, tcpServer, writtenBy } from '../../support/raw-server.js';
import { rejection } from '../../support/rejection.js';

/** Closes something at the end of its test. */
function keep<T extends TestServer | UserInfoClient>(thing: T): T {
  onTestFinished(() => thing.close());
  return thing;
}

function clientFor(
  baseUrl: string,
  options: { timeoutMs?: number; attempts?: number } = {},
): UserInfoClient {
  return keep(new UserInfoClient({ baseUrl, ...credentials, attempts: 1, ...options }));
}

const reply = (head: string, body: string) => (socket: Socket) =>
  socket.end(`HTTP/1.1 ${head}\r\nConnection: close\r\n\r\n${body}`);
const half = '{"code":200,"msg":"ok","data":{"mobile":"13800';

const noWay =
  'ECONNREFUSED EHOSTUNREACH ENETUNREACH ENETDOWN EACCES EADDRNOTAVAIL UND_ERR_CONNECT_TIMEOUT';
const notHttp =
  'HPE_INVALID_CONSTANT ERR_ASSERTION UND_ERR_RES_EXCEEDED_MAX_SIZE UND_ERR_HEADERS_OVERFLOW';
it.each([
  ['dns', false, 'ENOTFOUND EAI_AGAIN'],
  ['connect', false, `${noWay} EMFILE ENFILE ENOBUFS`],
  ['tls', false, 'EPROTO ERR_TLS_CERT_ALTNAME_INVALID ERR_SSL_WRONG_VERSION_NUMBER'],
  ['timeout', true, 'UND_ERR_HEADERS_TIMEOUT UND_ERR_BODY_TIMEOUT'],
  ['not-envelope', true, notHttp],
  ['reset', true, 'ECONNRESET UND_ERR_SOCKET'],
  ['reset', false, 'EPIPE:write'], // not written whole
])(
  'a request fails by %s, and the service may have it: %s, for %s',
  async (reason, received, codes) => {
    for (const [code, syscall] of codes.split(' ').map((one) => one.split(':'))) {
      const dispatcher: Dispatcher = {
        dispatch(_, handler) {
          const controller = { abort() {} };
          handler.onRequestStart(controller, {});
          handler.onResponseError(
            controller,
            Object.assign(new Error('failed'), { code, syscall }),
          );
          return true;
        },
      };
      const options = { baseUrl: 'http://localhost', ...credentials, attempts: 1, dispatcher };
      const error = await rejection(keep(new UserInfoClient(options)).read({ code: 'c' }));
      const isDoubt =
        received && (reason !== 'not-envelope' || code === 'UND_ERR_HEADERS_OVERFLOW');
      const doubt = isDoubt ? expect : expect.not;
      const hint = doubt.stringContaining('Whether the code was used is not known');
      expect(error, code).toMatchObject({ reason, received, hint });
    }
  },
);

describe('a client that gets no valid answer', () => {
  it.each([
    [
      'bytes that are not UTF-8',
      (s: Socket) => s.end(Buffer.from('HTTP/1.0 200 OK\r\n\r\n\xff\xfe', 'latin1')),
      'UTF-8',
    ],
    ['very long headers', reply(`200 OK\r\nX: ${'x'.repeat(20_000)}`, half), '16 KiB of headers'],
  ])('%s: names the host and says what came back', async (_, talk, said) => {
    const server = keep(await tcpServer(talk));
    const error = await rejection(clientFor(server.url).read({ code: 'c' }));
    expect(error).toBeInstanceOf(NoAnswerError);
    expect((error as NoAnswerError).reason).toBe('not-envelope');
    expect((error as Error).message).toContain(new URL(server.url).host);
    expect((error as Error).message).toContain(said);
    expect((error as Error).message).not.toContain('13800');
  });

  const record = JSON.stringify({ chat_nickname: 'Zhang San', address: 'Zhang Street' });
  const quoted = JSON.stringify(record);
  it.each([
    ['JSON in the text "data"', `{"code":200,"msg":"ok","data":${quoted}}`],
    ['text in "data"', '{"code":200,"msg":"ok","data":"Zhang San"}'],
    ['a list in "data"', `{"code":200,"msg":"ok","data":[${record}]}`],
    ['JSON in the text "result"', `{"status":"ok","result":${quoted}}`],
    ['the answer itself', record],
    ['the record of a user who is named', '{"union_id":"u1","city":"Zhang"}'],
    ['JSON in the text "error"', `{"error":${quoted}}`],
    ['a text behind the answer', `{"code":200,"msg":"ok","data":{}} ${record}`],
  ])('a record as %s is not in the error', async (_, body) => {
    const server = keep(await tcpServer(reply('200 OK', body)));
    const error = await rejection(clientFor(server.url).read({ code: 'c' }));
    expect(inspect(error)).not.toContain('Zhang');
  });

  it.each([['a closed connection', (socket: Socket) => socket.destroy(), 'reset']])(
    '%s: the reason is %s, and the code may be used',
    async (_, talk, reason) => {
      const server = keep(await tcpServer(talk));
      const error = await rejection(clientFor(server.url).read({ code: 'c' }));
      const hint = expect.stringContaining('Whether the code was used is not known');
      expect(error).toMatchObject({ code: 'NO_ANSWER', reason, received: true, hint });
    },
  );

  it('a silent server: ends at the deadline of the whole call', async () => {
    const server = keep(await tcpServer(() => {}));
    const row = { unionId: 'u1', userInfo: { a: 'x' } };
    const error = await rejection(
      clientFor(server.url, { timeoutMs: 200, attempts: 5 }).passback(row),
    );
    expect(error).toMatchObject({ reason: 'timeout', attempts: 1 });
  });

  it('a silent server: a call ends after 10 s where nothing says how long it may take', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const server = keep(await tcpServer(() => {}));
    const ended = vi.fn();
    const call = clientFor(server.url).read({ code: 'c' }).catch(ended);
    await vi.advanceTimersByTimeAsync(9_999);
    expect(ended).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    await call;
    expect(ended).toHaveBeenCalledWith(expect.objectContaining({ reason: 'timeout' }));
  });

  it('a server that sends slowly: ends at the deadline, too', async () => {
    const server = keep(
      await tcpServer((socket) => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n');
        const timer = setInterval(() => socket.write('x'), 20);
        socket.on('close', () => clearInterval(timer));
      }),
    );
    const error = await rejection(clientFor(server.url, { timeoutMs: 300 }).read({ code: 'c' }));
    expect(error).toMatchObject({ reason: 'timeout' });
  });
});

describe('an answer of success that names another user than the passback', () => {
  const row = { unionId: 'OTHER-4711', userInfo: { a: 'x' } };

  it('is not a success: one attempt, and the error has the answer', async () => {
    const server = keep(
      await httpServer((_, response) =>
        response.end('{"code":200,"msg":"ok","data":{"union_id":"other-4711"}}'),
      ),
    );
    const error = (await rejection(
      clientFor(server.url, { attempts: 3 }).passback(row),
    )) as NoAnswerError;
    expect(error).toMatchObject({ reason: 'wrong-data', received: true, httpStatus: 200 });
    expect(error.message).toBe(
      `${new URL(server.url).host} answered 200, but for another user than the request names`,
    );
    expect(error.answer?.envelope.data).toEqual({ union_id: 'other-4711' });
    expect(inspect(error)).not.toContain('other-4711');
    expect(server.requests).toHaveLength(1);
  });

  it('is one if the passback identifies its user by primary key', async () => {
    const server = keep(await httpServer((request, response) => response.end(writtenBy(request))));
    const { envelope } = await clientFor(server.url).passback({
      primaryKey: 'a',
      userInfo: { a: 'x' },
    });
    expect(envelope.data.union_id).toBe('u1');
  });

  it('makes a bulk row unknown, for passback and read', async () => {
    const server = keep(
      await httpServer(({ method }, response) =>
        response.end(
          `{"code":200,"msg":"ok","data":${method === 'PUT' ? '{"union_id":"other"}' : '{}'}}`,
        ),
      ),
    );
    const options = { baseUrl: server.url, ...credentials };
    const told: unknown[] = [];
    for await (const outcome of passbackAll([row], options)) told.push(outcome);
    for await (const outcome of readAll([{ code: 'c' }], options)) told.push(outcome);
    expect(told).toMatchObject(
      Array(2).fill({ outcome: 'unknown', attempts: 1, error: { reason: 'wrong-data' } }),
    );
  });
});

describe('a client that is refused', () => {
  it('judges by the envelope alone, whatever the HTTP status', async () => {
    const server = keep(
      await httpServer((_, response) =>
        response.end('{"code":40103,"msg":"no \\u001b[31m","data":null}'),
      ),
    );
    const error = (await rejection(clientFor(server.url).read({ code: 'c' }))) as RejectedError;
    expect(error).toBeInstanceOf(RejectedError);
    expect(error).toMatchObject({ resultCode: 40103, answer: { httpStatus: 200 } });
    expect(error.message).not.toContain('\u001b');
    expect(new TextDecoder().decode(error.answer.body)).toBe(
      '{"code":40103,"msg":"no \\u001b[31m","data":null}',
    );
  });
});
