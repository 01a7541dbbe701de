import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { JsonNumber, UserInfoClient } from '../../../src/index.js';
import { httpServer } from '../../support/raw-server.js';

const secret = 'do-not-show-me';
const ok = '{"code":200,"msg":"ok","data":{"union_id":"u1","n":9007199254740993}}';
let server: Awaited<ReturnType<typeof httpServer>>;
let client: UserInfoClient;
let answers: { status: number; body: string; requestId?: string }[];

beforeEach(async () => {
  answers = [];
  server = await httpServer((_, response) => {
    const { status, body, requestId = 'r-1' } = answers.shift() ?? { status: 200, body: ok };
    response.setHeader('X-Request-ID', requestId);
    response.setHeader('Set-Cookie', ['a=1', 'b=2']);
    response.statusCode = status;
    response.end(body);
  });
  client = clientWith({});
});

afterEach(async () => {
  await client.close();
  await server.close();
});

function clientWith(options: { onRequest?: () => void; attempts?: number }): UserInfoClient {
  return new UserInfoClient({
    baseUrl: `${server.url}/prefix/`,
    tenantCode: 'ac me&',
    channel: 'web',
    appKey: 'app-1',
    appSecret: secret,
    ...options,
  });
}

const query = (index = 0) => [...new URLSearchParams(server.requests[index]?.query)];
const body = (index = 0) => [...new URLSearchParams(server.requests[index]?.body)];
const md5 = (text: string) => createHash('md5').update(text).digest('hex');

describe('a read on the wire', () => {
  it("is a GET with the parameters of the spec's table, in its order", async () => {
    await client.read({ code: 'c/1', infoNames: ['mobile', 'acme_级别'], scope: 'get_user_info' });
    const [request] = server.requests;
    expect(request).toMatchObject({
      method: 'GET',
      path: '/prefix/api/v1/server/user/user_info_for_third',
      body: '',
    });
    expect(query().map(([name]) => name)).toEqual(
      'tenant_code app_key app_sign channel code scope random timestamp sign info_name'.split(' '),
    );
    expect(Object.fromEntries(query())).toMatchObject({
      tenant_code: 'ac me&',
      code: 'c/1',
      info_name: 'mobile,acme_级别',
      random: expect.stringMatching(/^[A-Za-z0-9]{8,20}$/),
      timestamp: expect.stringMatching(/^\d{10}$/),
      sign: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    expect(request?.query).not.toContain(secret);
    expect(request?.headers).not.toHaveProperty('content-type');
  });

  it('sends neither scope nor info_name unless they are given', async () => {
    await client.read({ code: 'c' });
    expect(query().map(([name]) => name)).not.toContain('scope');
    expect(query().map(([name]) => name)).not.toContain('info_name');
  });

  it('returns the received bytes beside the typed envelope', async () => {
    const answer = await client.read({ code: 'c' });
    expect(answer.envelope.data.union_id).toBe('u1');
    expect(new TextDecoder().decode(answer.body)).toBe(ok);
  });
});

describe('the headers of an answer', () => {
  it('are on the answer, by their names in lower case', async () => {
    const { headers } = await client.read({ code: 'c1' });
    expect(headers).toMatchObject({ 'x-request-id': 'r-1', 'set-cookie': ['a=1', 'b=2'] });
  });

  it.each([
    ['a RejectedError', 400, '{"code":40106,"msg":"code is unknown","data":{}}'],
    ['a NoAnswerError of an answer without an envelope', 503, '<html>'],
    ['a NoAnswerError of wrong data', 200, '{"code":200,"msg":"ok","data":{}}'],
  ])('are on %s, whose log does not show them', async (_, status, body) => {
    answers = [{ status, body, requestId: 'r-2' }];
    const error = await client
      .read({ code: 'c1' }, { attempts: 1 })
      .catch((caught: unknown) => caught);
    expect(error).toMatchObject({ httpStatus: status, headers: { 'x-request-id': 'r-2' } });
    expect(inspect(error, { depth: null })).not.toContain('r-2');
  });
});

describe('a passback on the wire', () => {
  it('is a PUT with a form body, user_info unescaped and numbers as written', async () => {
    const userInfo = { name: '\u5f20三/李四', n: new JsonNumber('1.00'), big: 9007199254740993n };
    await client.passback({ unionId: 'u1', primaryKey: 'name', userInfo });
    const [request] = server.requests;
    expect(request).toMatchObject({
      method: 'PUT',
      path: '/prefix/api/v1/server/user/passback_user_info',
    });
    expect(request?.headers['content-type']).toBe('application/x-www-form-urlencoded');
    expect(query().map(([name]) => name)).toEqual(
      'tenant_code app_key app_sign channel random timestamp sign'.split(' '),
    );
    expect(body()).toEqual([
      ['union_id', 'u1'],
      ['primary_key', 'name'],
      ['user_info', '{"name":"张三/李四","n":1.00,"big":9007199254740993}'],
    ]);
    expect(request?.query).not.toContain(secret);
    expect(request?.body).not.toContain(secret);
  });

  it('has the default signatures, computed independently', async () => {
    await client.passback({ unionId: 'u1', userInfo: { a: 'ä b' } });
    const sent = Object.fromEntries([...query(), ...body()]);
    const { app_sign, sign, ...rest } = sent;
    const { app_key, random, timestamp } = rest;
    expect(app_sign).toBe(
      md5(`app_key=${app_key}&random=${random}&timestamp=${timestamp}&key=${secret}`),
    );
    const pairs = Object.entries({ ...rest, app_sign }).sort(([a], [b]) => (a < b ? -1 : 1));
    expect(sign).toBe(md5(`${pairs.map(([k, v]) => `${k}=${v}`).join('&')}&key=${secret}`));
  });
});
