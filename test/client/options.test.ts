import { Pool } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ResponseEvent, UserInfoClient, type UserInfoClientOptions } from '../../src/index.js';
import { httpServer } from '../support/raw-server.js';
import { type ServiceWithApp, serviceWithApp } from '../support/service-with-app.js';

let service: ServiceWithApp['service'];
let credentials: ServiceWithApp['credentials'];

beforeAll(async () => {
  ({ service, credentials } = await serviceWithApp());
});

afterAll(() => service.close());

/** What a passback over a client of its own comes to: the result code, or the error. */
async function passback(baseUrl: string, options: Partial<UserInfoClientOptions>) {
  await using client = new UserInfoClient({ baseUrl, ...credentials, ...options });
  return client.passback({ unionId: 'u1', userInfo: { a: 'x' } }).then(
    ({ envelope }) => envelope.code,
    (error: unknown) => error,
  );
}

it("the caller's dispatcher is used, and left open for the next client", async () => {
  const dispatcher = new Pool(service.url, { connections: 1 });
  let opened = 0;
  dispatcher.on('connect', () => {
    opened += 1;
  });
  expect(await passback(service.url, { dispatcher })).toBe(200);
  expect(await passback(service.url, { dispatcher })).toBe(200);
  expect(opened).toBe(1);
  expect(dispatcher.closed).toBe(false);
  await dispatcher.close();
});

it.each([
  [
    { baseUrl: 'https://users.example/api/v1/' },
    'the option baseUrl contains /api/v1',
    'Give what comes before it',
  ],
  [{ proxy: 'socks5://proxy.example:1080' }, 'proxy is not the address of an http proxy', 'http://host:port'],
])('%j is refused by the constructor, also for a service on this machine', (given, message, hint) => {
  const create = () => new UserInfoClient({ baseUrl: service.url, ...credentials, ...given });
  expect(create).toThrow(
    expect.objectContaining({ code: 'INVALID_INPUT', message, hint: expect.stringContaining(hint) }),
  );
});

describe('an answer', () => {
  it('that is not an envelope is reported without its body', async () => {
    const server = await httpServer((_, response) => response.end('<title>Welcome</title>'));
    const responses: ResponseEvent[] = [];
    const error = await passback(server.url, {
      attempts: 1,
      onResponse: (event) => responses.push(event),
    });
    await server.close();
    expect(error).toMatchObject({ reason: 'not-envelope' });
    expect(responses).toMatchObject([{ httpStatus: 200, resultCode: undefined, envelope: undefined }]);
  });

  it('that is a success for nobody is reported with its code, its values masked', async () => {
    const body = '{"code":200,"msg":"ok","data":{"mobile":"13912345678"}}';
    const server = await httpServer((_, response) => response.end(body));
    const responses: ResponseEvent[] = [];
    const error = await passback(server.url, { onResponse: (event) => responses.push(event) });
    await server.close();
    expect(error).toMatchObject({ reason: 'wrong-data' });
    const envelope = '{"code":200,"msg":"ok","data":{"mobile":"139****5678"}}';
    expect(responses).toMatchObject([{ httpStatus: 200, resultCode: 200, envelope }]);
  });

  it('with a header twice is read by the first', async () => {
    const server = await httpServer((_, response) => {
      response.statusCode = 429;
      response.setHeader('retry-after', ['3600', '0']);
      response.end('{"code":42901,"msg":"slow down","data":{}}');
    });
    const error = await passback(server.url, { attempts: 2, timeoutMs: 5_000 });
    await server.close();
    expect(error).toMatchObject({ code: 'REJECTED', resultCode: 42901 });
    expect(server.requests).toHaveLength(1);
  });

  it('with a Retry-After date but no Date is judged by the clock of the client', async () => {
    const server = await httpServer((_, response) => {
      response.sendDate = false;
      response.statusCode = 429;
      response.setHeader('retry-after', 'Tue, 14 Nov 2023 23:13:20 GMT');
      response.end('{"code":42901,"msg":"slow down","data":{}}');
    });
    // An hour before the date: too long to be waited for.
    const error = await passback(server.url, { attempts: 2, now: () => 1_700_000_000_000 });
    await server.close();
    expect(error).toMatchObject({ code: 'REJECTED', resultCode: 42901 });
    expect(server.requests).toHaveLength(1);
  });
});
