import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type NoAnswerEvent,
  type RequestEvent,
  type ResponseEvent,
  Secret,
  UserInfoClient,
} from '../../../src/index.js';
import { httpServer, tcpServer } from '../../support/raw-server.js';

const secrets = {
  secret: 'q7Vx-the-app-secret-Zt41',
  mobile: '13912345678',
  idCard: '330102199001019876',
  token: 'tok-7f3a-9921-device',
  name: '欧阳无痕',
  code: 'code-5519-of-somebody',
};
const body = JSON.stringify({
  code: 200,
  msg: 'ok',
  data: {
    union_id: 'u1',
    mobile: secrets.mobile,
    extension_info: { name: secrets.name, id: 12345678901234 },
    device_info: [JSON.stringify({ device_token: secrets.token })],
  },
});

let server: Awaited<ReturnType<typeof httpServer>>;
const requests: RequestEvent[] = [];
const responses: ResponseEvent[] = [];
const failures: NoAnswerEvent[] = [];

function clientFor(baseUrl: string): UserInfoClient {
  return new UserInfoClient({
    baseUrl,
    tenantCode: 'acme',
    channel: 'web',
    appKey: 'app-1',
    appSecret: new Secret(secrets.secret),
    attempts: 2,
    timeoutMs: 30_000,
    onRequest: (event) => requests.push(event),
    onResponse: (event) => responses.push(event),
    onNoAnswer: (event) => failures.push(event),
  });
}

beforeAll(async () => {
  server = await httpServer((_, response) =>
    response.setHeader('Set-Cookie', secrets.token).end(body),
  );
  await using client = clientFor(server.url);
  await client.read({ code: secrets.code, infoNames: ['mobile'] });
  const userInfo = {
    mobile: secrets.mobile,
    id_card: secrets.idCard,
    name: secrets.name,
    note: secrets.token,
  };
  await client.passback({ unionId: 'u1', userInfo });
  const silent = await tcpServer((socket) => socket.destroy());
  await using other = clientFor(silent.url);
  await other.passback({ primaryKey: 'mobile', userInfo }).catch(() => {});
  await silent.close();
});

afterAll(() => server.close());

describe('the hooks of a client receive', () => {
  it('every attempt, with request and answer', () => {
    expect(requests.map(({ operation, attempt }) => [operation, attempt])).toEqual([
      ['read', 1],
      ['passback', 1],
      ['passback', 1],
      ['passback', 2],
    ]);
    expect(Object.fromEntries(requests[0]?.parameters ?? [])).toMatchObject({
      tenant_code: 'acme',
      app_key: 'app-1',
      app_sign: expect.stringMatching(/^[0-9a-f]{8}…$/),
      sign: expect.stringMatching(/^[0-9a-f]{8}…$/),
      code: 'cod****body',
      info_name: 'mobile',
    });
    expect(Object.fromEntries(requests[1]?.parameters ?? [])).toMatchObject({
      union_id: 'u1',
      user_info:
        '{"mobile":"139****5678","id_card":"330****9876","name":"****","note":"tok****vice"}',
    });
    expect(responses[0]).toMatchObject({
      httpStatus: 200,
      resultCode: 200,
      durationMs: expect.any(Number),
      headers: [['date', expect.stringContaining('GMT')]],
    });
    expect(JSON.parse(responses[0]?.envelope ?? '')).toEqual({
      code: 200,
      msg: 'ok',
      data: {
        union_id: 'u1',
        mobile: '139****5678',
        extension_info: { name: '****', id: '123****1234' },
        device_info: ['{"device_token":"tok****vice"}'],
      },
    });
    expect(failures).toMatchObject([
      { attempt: 1, reason: 'reset', received: true },
      { attempt: 2, reason: 'reset', received: true },
    ]);
  });

  it('nothing secret and no personal data', () => {
    const told = inspect([requests, responses, failures], { depth: null, maxStringLength: null });
    for (const value of Object.values(secrets)) expect(told).not.toContain(value);
  });
});

it('a logged error does not show personal data from the service', async () => {
  const answer = JSON.stringify({ code: 40901, msg: 'no', data: { mobile: secrets.mobile } });
  const refusing = await httpServer((_, response) => response.end(answer));
  const broken = await tcpServer((socket) =>
    socket.end(`HTTP/1.1 200 OK\r\nX ${secrets.mobile}\r\n\r\n`),
  );
  for (const { url } of [refusing, broken]) {
    await using client = clientFor(url);
    const error = await client.read({ code: secrets.code }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    const logged = inspect(error, { depth: null }) + JSON.stringify(error);
    expect(logged).not.toContain(secrets.mobile);
    expect(logged).not.toContain(Buffer.from(secrets.mobile).join(', '));
  }
  expect(responses.at(-1)).toMatchObject({
    resultCode: 40901,
    envelope: expect.stringContaining('139****'),
  });
  await refusing.close();
  await broken.close();
});
