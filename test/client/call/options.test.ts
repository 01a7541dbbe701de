import { Pool } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ResponseEvent,
  UserInfoClient,
  type UserInfoClientOptions,
} from '../../../src/index.js';
import { httpServer } from '../../support/raw-server.js';
import { type ServiceWithApp, serviceWithApp } from '../../support/service-with-app.js';

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
    expect(responses).toMatchObject([
      { httpStatus: 200, resultCode: undefined, envelope: undefined },
    ]);
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
});
