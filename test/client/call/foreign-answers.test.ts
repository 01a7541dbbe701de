import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { NoAnswerError, RejectedError, UserInfoClient } from '../../../src/index.js';
import { readAll } from '../../support/all-rows.js';
import { foreignPlatform } from '../../support/foreign-platform.js';

let platform: Awaited<ReturnType<typeof foreignPlatform>>;
let client: UserInfoClient;
const app = { tenantCode: 'acme', channel: 'web', appKey: 'app-1', appSecret: 's1' };

beforeAll(async () => {
  platform = await foreignPlatform();
  client = new UserInfoClient({ baseUrl: platform.url, ...app });
});
beforeEach(() => platform.requests.splice(0));
afterAll(async () => {
  await client.close();
  await platform.close();
});

const errorOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => expect.unreachable('it was to fail'),
    (error: unknown) => error,
  );

const named = ['mobile', 'level', 'vip', 'tags', 'more', 'name'];

it.each<[string, readonly string[], readonly string[]]>([
  [
    'nulls',
    [],
    [
      '"basic_info" is null, not an object',
      '"extension_info" is null, not an object',
      '"login_device_info" is null, not an array',
    ],
  ],
  [
    'named',
    named,
    [
      '"mobile" is null, not text',
      '"level" is a number, not text',
      '"vip" is a boolean, not text',
      '"tags" is an array, not text',
      '"more" is an object, not text',
    ],
  ],
  [
    'devices',
    ['device_info', 'location_info'],
    [
      '"device_info" is an array with an object in it, not text',
      '"location_info" is text, not an array',
    ],
  ],
])('a success with other types is a success: %s', async (code, names, warnings) => {
  const answer = await client.read({ code, ...(names.length === 0 ? {} : { infoNames: names }) });
  expect(answer.envelope.data).toBe(answer.data);
  expect(answer.data.union_id).toBe('u1');
  expect([...answer.warnings].sort()).toEqual([...warnings].sort());
  expect(platform.requests).toHaveLength(1);
});

it.each<[string, readonly string[], object]>([
  ['empty', [], { login_device_info: [] }],
  ['nulls', [], {}],
  ['named', named, { level: 3, vip: true, tags: ['a'], more: { a: 1 }, name: 'Ming' }],
  ['devices', ['device_info', 'location_info'], { device_info: ['{"brand":"acme"}'] }],
  ['table', [], {}],
  [
    'numbers',
    [],
    {
      basic_info: { mobile: '13800138000', chat_sex: '1' },
      extension_info: { age: 28 },
      login_device_info: [{ brand: 'acme', os_version: '14' }],
    },
  ],
])('its data has the types of §4.1: %s', async (code, names, data) => {
  const answer = await client.read({ code, ...(names.length === 0 ? {} : { infoNames: names }) });
  expect(answer.data).toEqual({ union_id: 'u1', ...data });
});

it('a number that JavaScript would round is the text that was sent, at any depth, with a warning', async () => {
  const { data, envelope, warnings, body } = await client.read({
    code: 'exact',
    infoNames: ['id_card', 'n'],
  });
  expect(data).toEqual({
    union_id: '12345678901234567890',
    id_card: '110101199003074532',
    n: {
      order: '9007199254740993',
      list: [1, '-9007199254740993', { half: '0.30000000000000004000001' }],
    },
    same: [9007199254740991, 0.1, 1, 1.5, 100_000, -0],
    huge: '1E400',
  });
  expect(envelope.data).toBe(data);
  expect(new TextDecoder().decode(body)).toContain('"half":0.30000000000000004000001');
  const rounded = (path: string) =>
    `"${path}" is a number that JavaScript cannot hold exactly: read it as text`;
  expect([...warnings].sort()).toEqual(
    [
      rounded('id_card'),
      rounded('n.order'),
      rounded('n.list[]'),
      rounded('n.list[].half'),
      rounded('huge'),
      '"n" is an object, not text',
      '"union_id" is a number, not text',
    ].sort(),
  );
});

it('of many such numbers, ten are named, and no key that may be a value', async () => {
  const { warnings } = await client.read({ code: 'many-exact' });
  expect(warnings).toHaveLength(11);
  expect(warnings[0]).toContain('"orders.****"');
  expect(warnings.join()).not.toContain('13800138000');
  expect(warnings.at(-1)).toContain('more numbers');
});

it('a union ID that is a number is one, with a warning', async () => {
  const { data, warnings } = await client.read({ code: 'numbered', infoNames: ['name'] });
  expect(data.union_id).toBe('90071992547409931');
  expect(warnings).toEqual(['"union_id" is a number, not text']);
});

it('is one for a row of many, too', async () => {
  const outcomes: unknown[] = [];
  const rows = ['empty', 'nulls', 'numbered'].map((code) => ({ code }));
  for await (const one of readAll(rows, { baseUrl: platform.url, ...app })) outcomes.push(one);
  expect(outcomes).toMatchObject(Array(3).fill({ outcome: 'ok', attempts: 1 }));
});

it.each([
  ['zero', 'wrong-data', 'answered 0 "success", but it names the user'],
  ['bare', 'not-envelope', 'JSON without an integer "code", application/json'],
])(
  'an answer with another code that names the user may be carried out: %s',
  async (code, reason, words) => {
    const error = (await errorOf(client.read({ code }))) as NoAnswerError;
    expect(error).toMatchObject({ reason, received: true, retryable: false });
    expect(error.message).toContain(words);
    expect(error.hint).toContain('The request may have been carried out');
    expect(error.body?.length).toBeGreaterThan(20);
    expect(inspect(error, { depth: null })).not.toMatch(/13800138000|Lhasa/);
    for await (const one of readAll([{ code }], { baseUrl: platform.url, ...app }))
      expect(one.outcome).toBe('unknown');
  },
);

it('a refusal in a charset that cannot be read is that refusal', async () => {
  const error = await errorOf(client.read({ code: 'unreadable' }));
  expect(error).toBeInstanceOf(RejectedError);
  const message = 'the service answered 1 "\ufffd\ufffd"';
  expect(error).toMatchObject({ resultCode: 1, msg: '\ufffd\ufffd', message });
  expect(platform.requests).toHaveLength(1);
});

it.each([
  ['letters', 'code "A001", message "bad sign", error "SIGN_INVALID", application/json'],
  ['record', 'code "A001", msg "no user", application/json'],
  ['nested', 'code 4011, message "no route", trace_id "t-1", application/json'],
  ['errcode', 'errcode 40001, errmsg "invalid credential of 138****8000", application/json'],
])('another answer is described by its code and messages, and kept: %s', async (code, words) => {
  const error = await errorOf(client.read({ code }));
  expect(error).toBeInstanceOf(NoAnswerError);
  const { message, body, reason } = error as NoAnswerError;
  expect(reason).toBe('not-envelope');
  expect(message).toContain(words);
  expect(body?.length).toBeGreaterThan(20);
  expect(inspect(error, { depth: null })).not.toMatch(/13800138000|Lhasa/);
});

it.each([
  ['gbk', '陆'],
  ['utf8-as-gbk', '张三丰'],
])(
  'the charset that the answer names is decoded, and its body is UTF-8: %s',
  async (code, nickname) => {
    const { data, body } = await client.read({ code });
    expect(data.basic_info?.chat_nickname).toBe(nickname);
    expect(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)).data).toEqual(data);
  },
);

it('requests have a User-Agent', async () => {
  const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
  await client.read({ code: 'empty' });
  expect(platform.requests[0]?.headers['user-agent']).toBe(`userinfo/${manifest.version}`);
});
