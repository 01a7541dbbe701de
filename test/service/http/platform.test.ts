import { createHash } from 'node:crypto';
import { afterEach, expect, it } from 'vitest';
import {
  createTestService,
  type PlatformFile,
  type ServiceOptions,
} from '../../../src/service/index.js';
import {
  draftPassback,
  draftRead,
  freshRandom,
  send,
  signDraft,
} from '../../support/foreign-client.js';
import { type RunningService, runService, user } from '../../support/running-service.js';
import { wholeBasicInfo } from '../../support/spec-names.js';

let running: RunningService | undefined;
afterEach(async () => {
  await running?.service.close();
  running = undefined;
});

/**
 * A service that answers as a platform does; the client signs and sends by node:crypto and fetch
 * alone.
 */
async function serve(
  platform: PlatformFile,
  options: ServiceOptions = {},
): Promise<RunningService> {
  running = await runService({ ...options, platform });
  const { admin } = running.service;
  await admin.putUser(user('u1', { basic_info: { mobile: '1', chat_nickname: 'Ming' } }));
  await admin.putUser(user('empty'));
  return running;
}

const phpLike: PlatformFile = {
  http_status: 200,
  absent: 'null',
  empty_object: 'list',
  refusal_data: 'list',
  values: 'as-written',
  unknown_parameters: 'ignore',
  scopes: ['snsapi_base'],
  replay: 'allow',
  code_uses: 2,
  chat_prefix: 'wx_',
  result_codes: {
    1001: { means: 'missingParameter', msg: 'param error' },
    1002: { means: ['codeNotValid', 'appNotAllowed'] },
    1003: { means: 'noSuchUser', http_status: 404 },
    1004: 'noSuchUser',
  },
};

it('refuses with the codes, texts and HTTP status of the platform, in every stage of a request', async () => {
  const { app, passback, service, log } = await serve(phpLike);
  const { envelope, status, text } = await send(service.url, draftRead(app, ''));
  expect([status, text]).toEqual([200, '{"code":1001,"msg":"param error","data":[]}']);
  expect(envelope.code).toBe(1001);
  const unknown = await send(service.url, draftRead(app, 'no-such-code'));
  expect(unknown.text).toBe('{"code":1002,"msg":"code is unknown, expired or used","data":[]}');
  // One code may refuse for several reasons.
  const other = await send(service.url, draftRead({ ...app, channel: 'another' }, 'c'));
  expect(other.text).toBe(
    '{"code":1002,"msg":"the app is not allowed for this tenant or channel","data":[]}',
  );
  // A code may have a status of its own, and of several codes with one meaning the first is sent.
  const nobody = await passback({ union_id: 'u9', user_info: '{"a":"b"}' });
  expect([nobody.status, nobody.envelope.code]).toEqual([404, 1003]);
  // A code without an entry is that of this project.
  const wrong = await send(service.url, { ...draftRead(app, 'c'), spoilSign: true });
  expect([wrong.status, wrong.envelope.code]).toEqual([200, 40103]);
  const nowhere = await (await fetch(`${service.url}/nowhere`)).text();
  expect(nowhere).toContain('"code":40402');
  expect(nowhere).toContain('"data":[]');
  expect(log).toContainEqual(
    expect.objectContaining({ event: 'request', status: 404, code: 1003, means: 'noSuchUser' }),
  );
});

it('writes what is not there, what was passed back and the names of the chat platform as the platform does', async () => {
  const { passback, read } = await serve(phpLike);
  const written = '{"n":1.00,"big":9007199254740993,"yes":true,"text":"28","isLosslessNumber":"x"}';
  expect((await passback({ union_id: 'empty', user_info: written })).envelope.code).toBe(200);
  const names = 'n,big,yes,text,nothing,wx_nickname,device_info';
  expect((await read('empty', names)).text).toBe(
    '{"code":200,"msg":"ok","data":{"union_id":"empty","n":1.00,"big":9007199254740993,"yes":true,"text":"28",' +
      '"nothing":null,"wx_nickname":null,"device_info":[]}}',
  );
  // A number that is replaced by text is text.
  await passback({
    union_id: 'empty',
    user_info: '{"n":"1","big":null,"yes":null,"text":null,"isLosslessNumber":null}',
  });
  expect((await read('empty')).text).toContain('"extension_info":{"n":"1"},"login_device_info":[]');
  const { data } = (await read('u1')).envelope;
  expect(data).toEqual({
    union_id: 'u1',
    basic_info: wholeBasicInfo('wx_', { mobile: '1', wx_nickname: 'Ming' }),
    extension_info: [],
    login_device_info: [],
  });
});

it('keeps a neutral name of the chat platform apart from that of the platform', async () => {
  const { passback, read } = await serve({ chat_prefix: 'wx_' });
  const form = {
    primary_key: 'wx_nickname',
    user_info: '{"wx_nickname":"Ming","chat_nickname":"own","a":"b"}',
  };
  expect((await passback(form)).envelope.data).toEqual({ union_id: 'u1' });
  const { data } = (await read('u1', 'wx_nickname,chat_nickname,a')).envelope;
  expect(data).toEqual({ union_id: 'u1', wx_nickname: 'Ming', chat_nickname: 'own', a: 'b' });
  const whole = (await read('u1')).envelope.data;
  expect(whole.basic_info).toEqual({ mobile: '1', wx_nickname: 'Ming' });
  // A code for names has those of the platform; so has one that was issued for the neutral ones.
  expect((await read('u1', 'wx_nickname,mobile', ['wx_nickname'])).envelope.data).toEqual({
    union_id: 'u1',
    wx_nickname: 'Ming',
  });
  const record = { ...user('u5'), basic_info: { wx_nickname: 'Wu' } as object };
  await expect(running?.service.admin.putUser(record)).resolves.toBeUndefined();
  expect((await read('u5', 'wx_nickname')).envelope.data.wx_nickname).toBe('Wu');
});

it('takes the parameters, scopes, timestamps, randoms and codes that the platform takes', async () => {
  const { app, service } = await serve({ ...phpLike, clock_window_seconds: 'unlimited' });
  const { code } = await service.admin.issueCode({ tenantCode: 'acme', unionId: 'u1' });
  const draft = draftRead(app, code, { scope: 'snsapi_base', debug: '1', timestamp: '1000000000' });
  expect((await send(service.url, draft)).envelope.code).toBe(200);
  // The same request again: the random and the code may be used twice, not three times.
  expect((await send(service.url, draft)).envelope.code).toBe(200);
  expect((await send(service.url, draft)).envelope.code).toBe(1002);
  const other = draftRead(app, code, { scope: 'get_user_info' });
  expect((await send(service.url, other)).envelope.code).toBe(40002);
  // What is sent in the wrong place is not unknown.
  const inQuery = draftPassback(app, { union_id: 'u1', user_info: '{"a":"b"}' });
  inQuery.query.set('union_id', 'u1');
  expect((await send(service.url, inQuery)).envelope.code).toBe(40002);
});

it('bounds the time of a code, and of a timestamp', async () => {
  const { app, service } = await serve({
    code_ttl_seconds: 60,
    code_uses: 'unlimited',
    clock_window_seconds: 10,
    clock_ahead_seconds: 60,
  });
  const before = Math.floor(Date.now() / 1000);
  const issued = await service.admin.issueCode({ tenantCode: 'acme', unionId: 'u1' });
  expect(issued.uses_left).toBeNull();
  expect(issued.expires_at).toBeGreaterThanOrEqual(before + 60);
  expect(issued.expires_at).toBeLessThanOrEqual(Date.now() / 1000 + 60);
  const codeOf = async (lead: number) => {
    const timestamp = `${Math.floor(Date.now() / 1000) + lead}`;
    return (await send(service.url, draftRead(app, issued.code, { timestamp }))).envelope.code;
  };
  expect(await Promise.all([-30, 0, 30, 100].map(codeOf))).toEqual([40104, 200, 200, 40104]);
});

it('creates the user of a passback, once, where the platform does', async () => {
  const { passback, read } = await serve({ unknown_user: 'create' });
  expect((await passback({ union_id: 'new', user_info: '{"a":"1"}' })).envelope.data).toEqual({
    union_id: 'new',
  });
  expect((await read('new', 'a')).envelope.data).toEqual({ union_id: 'new', a: '1' });
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      passback({
        primary_key: 'mobile',
        user_info: `{"mobile":"13800001111","k${index}":"${index}"}`,
      }),
    ),
  );
  expect(new Set(answers.map(({ envelope }) => envelope.code))).toEqual(new Set([200]));
  const ids = new Set(answers.map(({ envelope }) => String(envelope.data.union_id)));
  expect(ids.size).toBe(1);
  const { data } = (await read([...ids][0] ?? '')).envelope;
  expect(Object.keys(data.extension_info as object)).toHaveLength(8);
});

it('signs by the recipes of the platform, a token among them', async () => {
  const token = 'issued-by-the-operator';
  const { app, service } = await serve({
    signing: {
      app_sign: { message: [token], steps: [] },
      sign: { message: ['$params', '$secret'], params: { exclude: ['app_sign'] }, steps: ['md5'] },
    },
  });
  const query = new URLSearchParams([
    ['tenant_code', app.tenant_code],
    ['app_key', app.app_key],
    ['channel', app.channel],
    ['random', freshRandom()],
    ['timestamp', String(Math.floor(Date.now() / 1000))],
    ['code', (await service.admin.issueCode({ tenantCode: 'acme', unionId: 'u1' })).code],
  ]);
  const text = [...query]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`);
  query.set('app_sign', token);
  query.set(
    'sign',
    createHash('md5')
      .update(text.join('&') + app.secret)
      .digest('hex'),
  );
  const answer = await (
    await fetch(`${service.url}/api/v1/server/user/user_info_for_third?${query}`)
  ).json();
  expect(answer).toMatchObject({ code: 200, data: { union_id: 'u1' } });
  const { target } = signDraft(draftRead(app, 'c'));
  expect(await (await fetch(service.url + target)).json()).toMatchObject({ code: 40102 });
});

it('checks a passback by the place of its parameters', async () => {
  const recipe = {
    params: { from: 'query' },
    message: ['$params', '$secret'],
    steps: ['md5'],
  } as const;
  const { app, service } = await serve({ signing: { app_sign: recipe, sign: recipe } });
  const form = 'union_id=u1&user_info=%7B%22a%22%3A%221%22%7D';
  const codeOf = async (signsForm: boolean) => {
    const query = new URLSearchParams([
      ['tenant_code', app.tenant_code],
      ['app_key', app.app_key],
      ['channel', app.channel],
      ['random', freshRandom()],
      ['timestamp', String(Math.floor(Date.now() / 1000))],
    ]);
    for (const signature of ['app_sign', 'sign']) {
      const signed = signsForm ? [...query, ...new URLSearchParams(form)] : [...query];
      const text = signed.map((pair) => pair.join('=')).sort();
      query.set(
        signature,
        createHash('md5')
          .update(text.join('&') + app.secret)
          .digest('hex'),
      );
    }
    const answer = await fetch(`${service.url}/api/v1/server/user/passback_user_info?${query}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: form,
    });
    return ((await answer.json()) as { code: number }).code;
  };
  expect(await codeOf(false)).toBe(200);
  expect(await codeOf(true)).toBe(40102);
});

it('is the same in a test service, whose failures have the codes of the platform', async () => {
  const platform: PlatformFile = {
    http_status: 200,
    refusal_data: 'null',
    result_codes: { 9001: 'internal' },
  };
  await using service = await createTestService({ platform, users: [{ union_id: 'u1' }] });
  service.failNext(1);
  const { appKey, appSecret, tenantCode, channel } = service.clientOptions;
  const app = { app_key: appKey, secret: appSecret, tenant_code: tenantCode, channel };
  const draft = () => draftPassback(app, { union_id: 'u1', user_info: '{"a":"b"}' });
  const failed = await send(service.url, draft());
  expect([failed.status, failed.text]).toEqual([
    200,
    '{"code":9001,"msg":"internal error","data":null}',
  ]);
  expect((await send(service.url, draft())).envelope.code).toBe(200);
});
