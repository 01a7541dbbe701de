import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endpointNamed } from '../../../src/core/contract/endpoints.js';
import { openApiDocument } from '../../../src/core/contract/openapi.js';
import {
  defaultPlatform,
  formatPlatform,
  parsePlatform,
} from '../../../src/core/platform/platform.js';
import { UserInfoClient } from '../../../src/index.js';
import {
  type Answer,
  type Draft,
  draftPassback,
  draftRead,
  fetchAnswer,
  send,
} from '../../support/foreign-client.js';
import { type RunningService, runService, user } from '../../support/running-service.js';

let running: RunningService;

beforeAll(async () => {
  running = await runService({ maxBodyBytes: 4096 });
  const device = { brand: 'Acme', country: '中国' };
  await running.service.admin.putUser(
    user('u1', { basic_info: { mobile: '1' }, login_device_info: [device] }),
  );
  await running.service.admin.putUser(user('u2', { extension_info: { level: 'gold' } }));
  await running.service.admin.putUser(user('u3', { extension_info: { level: 'gold' } }));
});
afterAll(() => running.service.close());

const document = openApiDocument([{ url: '.' }], defaultPlatform);

const php = parsePlatform(
  {
    http_status: 200,
    absent: 'null',
    empty_object: 'list',
    refusal_data: 'list',
    values: 'as-written',
    chat_prefix: 'wx_',
    result_codes: { 1001: 'missingParameter', 1004: { means: 'codeNotValid', http_status: 403 } },
  },
  'the file',
);
const phpDocument = openApiDocument([{ url: '.' }], php);
const ajv = new Ajv2020({ strict: false, allErrors: true })
  .addSchema(document, 'document')
  .addSchema(phpDocument, 'php');

/** What is wrong with a value by the schema at some place of the document. */
function faults(path: readonly string[], value: unknown, of = 'document'): unknown {
  const pointer = path.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1')).join('/');
  const validate = ajv.getSchema(`${of}#/${pointer}`);
  if (validate === undefined) return `nothing is said of ${path.join(' ')}`;
  return validate(value) ? [] : validate.errors;
}

const answerSchema = ({ path, method }: typeof endpointNamed.read, status: number) => [
  'paths',
  path,
  method.toLowerCase(),
  'responses',
  String(status),
  'content',
  'application/json',
  'schema',
];

describe('the OpenAPI document', () => {
  it('has no linter findings', async () => {
    const config = await createConfig({ extends: ['recommended-strict'] });
    for (const one of [document, phpDocument])
      expect(await lintFromString({ source: JSON.stringify(one), config })).toEqual([]);
  });

  it('is served at /openapi.json repeatedly, and not logged', async () => {
    const throttled = await runService({ rateLimit: 1 });
    const logged = throttled.log.length;
    for (let count = 0; count < 3; count += 1) {
      const { status, headers, text } = await fetchAnswer(`${throttled.service.url}/openapi.json`);
      expect({ status, type: headers.get('content-type') }).toEqual({
        status: 200,
        type: 'application/json; charset=utf-8',
      });
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(document)));
    }
    expect(throttled.log).toHaveLength(logged);
    await throttled.service.close();
  });

  it('declares the length of sign, the precedence of identifiers, and optional parameters', () => {
    const schemaOf = (at: number) => {
      const place = ['paths', endpointNamed.read.path, 'get', 'parameters', String(at), 'schema'];
      return (value: unknown) => faults(place, value);
    };
    const placeOf = (name: string) =>
      endpointNamed.read.parameters.findIndex((parameter) => parameter.name === name);
    expect(schemaOf(placeOf('sign'))('0'.repeat(32))).toEqual([]);
    for (const length of [31, 33])
      expect(schemaOf(placeOf('sign'))('0'.repeat(length))).not.toEqual([]);
    expect(schemaOf(placeOf('scope'))('')).toEqual([]);
    expect(schemaOf(placeOf('scope'))('snsapi_base')).toEqual([]);
    expect(schemaOf(placeOf('code'))('')).not.toEqual([]);
    expect(JSON.stringify(document)).toContain('takes priority where primary_key is sent too');
  });

  it('matches what the client sends', () => {
    const client = new UserInfoClient({
      baseUrl: running.service.url,
      tenantCode: 'acme',
      channel: 'web',
      appKey: 'a',
      appSecret: 's',
    });
    const read = client.signRead({ code: 'c', infoNames: ['mobile'], scope: 'get_user_info' });
    const passback = client.signPassback({
      unionId: 'u1',
      primaryKey: 'mobile',
      userInfo: { mobile: '1', age: 28 },
    });
    for (const [{ path, method, parameters }, request] of [
      [endpointNamed.read, read],
      [endpointNamed.passback, passback],
    ] as const) {
      const place = ['paths', path, method.toLowerCase()];
      const inQuery = parameters.filter((parameter) => parameter.in === 'query');
      expect([...request.url.searchParams.keys()]).toEqual(inQuery.map(({ name }) => name));
      for (const [at, { name, type }] of inQuery.entries()) {
        const value = request.url.searchParams.get(name);
        const list = name === 'info_name' ? value?.split(',') : value;
        const typed = type === 'integer' ? Number(value) : list;
        expect(faults([...place, 'parameters', String(at), 'schema'], typed)).toEqual([]);
      }
    }
    const form = Object.fromEntries(new URLSearchParams(passback.body ?? ''));
    const body = ['paths', endpointNamed.passback.path, 'put', 'requestBody', 'content'];
    const schema = [...body, 'application/x-www-form-urlencoded', 'schema'];
    expect(faults(schema, form)).toEqual([]);
    expect(faults(schema, { user_info: '{}' })).toMatchObject([{}, {}, { keyword: 'anyOf' }]);
    const userInfo = ['components', 'schemas', 'UserInfo'];
    expect(faults(userInfo, JSON.parse(form.user_info ?? ''))).toEqual([]);
    for (const wrong of [{}, { channel: 'x' }, { a: {} }])
      expect(faults(userInfo, wrong)).not.toEqual([]);
  });
});

describe('the answers of the service match the document:', () => {
  const check = (endpoint: typeof endpointNamed.read, { status, envelope }: Answer) =>
    expect(faults(answerSchema(endpoint, status), envelope)).toEqual([]);

  it('users, whole and in named pieces', async () => {
    for (const names of [
      undefined,
      'mobile,level',
      'device_info,location_info,level',
      'union_id',
    ]) {
      const answer = await running.read('u1', names);
      expect(answer.status).toBe(200);
      check(endpointNamed.read, answer);
    }
    const { envelope } = await running.read('u1', 'device_info,location_info');
    for (const name of ['device_info', 'location_info']) {
      const place = [
        'components',
        'schemas',
        'NamedPieces',
        'properties',
        name,
        'items',
        'contentSchema',
      ];
      for (const text of envelope.data[name] as string[])
        expect(faults(place, JSON.parse(text))).toEqual([]);
    }
  });

  it('passbacks', async () => {
    check(endpointNamed.passback, await running.passback({ union_id: 'u1', user_info: '{"a":1}' }));
  });

  const spoilt: readonly [number, (draft: Draft) => void][] = [
    [40001, (draft) => draft.query.delete('channel')],
    [40002, (draft) => draft.query.set('random', 'short')],
    [40101, (draft) => draft.query.set('app_key', 'nobody')],
    [40102, (draft) => Object.assign(draft, { spoilAppSign: true })],
    [40103, (draft) => Object.assign(draft, { spoilSign: true })],
    [40104, (draft) => draft.query.set('timestamp', '1000000000')],
    [40301, (draft) => draft.query.set('tenant_code', 'other')],
  ];
  const spoiltPassback: readonly [number, Record<string, string>][] = [
    [40003, { union_id: 'u1', user_info: '{"channel":"x"}' }],
    [40004, { union_id: 'u1', user_info: '{}' }],
    [40005, { user_info: '{"a":1}' }],
    [40006, { primary_key: 'b', user_info: '{"a":1}' }],
    [40401, { union_id: 'u9', user_info: '{"a":1}' }],
    [40901, { primary_key: 'level', user_info: '{"level":"gold"}' }],
    [41301, { union_id: 'u1', user_info: `{"a":"${'x'.repeat(5000)}"}` }],
  ];

  it.each(spoilt)('%i, for both operations', async (code, spoil) => {
    const drafts = [
      draftRead(running.app, 'c'),
      draftPassback(running.app, { union_id: 'u1', user_info: '{"a":1}' }),
    ];
    for (const [index, draft] of drafts.entries()) {
      spoil(draft);
      const answer = await send(running.service.url, draft);
      expect(answer.envelope.code).toBe(code);
      check(index === 0 ? endpointNamed.read : endpointNamed.passback, answer);
    }
  });

  it.each(spoiltPassback)('%i, for a passback', async (code, form) => {
    const answer = await running.passback(form);
    expect(answer.envelope.code).toBe(code);
    check(endpointNamed.passback, answer);
  });

  it('40106, for a read alone', async () => {
    const answer = await send(running.service.url, draftRead(running.app, 'nobody'));
    check(endpointNamed.read, answer);
    expect(faults(answerSchema(endpointNamed.passback, 401), answer.envelope)).not.toEqual([]);
  });
});

it('the answers of the service match the document of its platform', async () => {
  const other = await runService({ platform: formatPlatform(php) });
  await other.service.admin.putUser(user('u1', { basic_info: { chat_nickname: 'Ming' } }));
  const check = ({ status, envelope }: Answer) =>
    expect(faults(answerSchema(endpointNamed.read, status), envelope, 'php')).toEqual([]);
  const whole = [await other.read('u1')];
  await other.passback({ union_id: 'u1', user_info: '{"n":1.5,"yes":true}' });
  whole.push(await other.read('u1'));
  for (const { envelope } of whole)
    expect(faults(['components', 'schemas', 'User'], envelope.data, 'php')).toEqual([]);
  for (const answer of [...whole, await other.read('u1', 'wx_nickname,n,yes,nothing,device_info')])
    check(answer);
  check(await other.read('u1', 'device_info,mobile', ['mobile']));
  const noCode = await send(other.service.url, draftRead(other.app, 'nobody'));
  expect(noCode.status).toBe(403);
  check(noCode);
  const refused = await send(other.service.url, draftRead(other.app, ''));
  expect(refused).toMatchObject({ status: 200, envelope: { code: 1001, data: [] } });
  check(refused);
  const unlike = { code: 40001, msg: 'missing parameter', data: [] };
  expect(faults(answerSchema(endpointNamed.read, 200), unlike, 'php')).not.toEqual([]);
  await other.service.close();
});
