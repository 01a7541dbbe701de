import { createConfig, lintFromString } from '@redocly/openapi-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endpointNamed } from '../../../src/core/contract/endpoints.js';
import { formatPlatform, parsePlatform } from '../../../src/core/platform/platform.js';
import { UserInfoClient } from '../../../src/index.js';
import { type Answer, draftRead, fetchAnswer, send } from '../../support/foreign-client.js';
import { OpenApiSchema } from '../../support/openapi-schema.js';
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

const schema = new OpenApiSchema();
const { document } = schema;

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
const phpSchema = new OpenApiSchema(php);

describe('the OpenAPI document', () => {
  it('has no linter findings', async () => {
    const config = await createConfig({ extends: ['recommended-strict'] });
    for (const { document } of [schema, phpSchema])
      expect(await lintFromString({ source: JSON.stringify(document), config })).toEqual([]);
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
      return (value: unknown) => schema.faults(place, value);
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
        expect(schema.faults([...place, 'parameters', String(at), 'schema'], typed)).toEqual([]);
      }
    }
    const form = Object.fromEntries(new URLSearchParams(passback.body ?? ''));
    const body = ['paths', endpointNamed.passback.path, 'put', 'requestBody', 'content'];
    const place = [...body, 'application/x-www-form-urlencoded', 'schema'];
    expect(schema.faults(place, form)).toEqual([]);
    const nobody = schema.faults(place, { user_info: '{}' });
    expect(nobody).toMatchObject([{}, {}, { keyword: 'anyOf' }]);
    const userInfo = ['components', 'schemas', 'UserInfo'];
    expect(schema.faults(userInfo, JSON.parse(form.user_info ?? ''))).toEqual([]);
    for (const wrong of [{}, { channel: 'x' }, { a: {} }])
      expect(schema.faults(userInfo, wrong)).not.toEqual([]);
  });
});

// So do refusals, in order-of-checks.test.ts.
describe('the answers of the service match the document:', () => {
  const check = (endpoint: typeof endpointNamed.read, answer: Answer) =>
    expect(schema.faultsOfAnswer(endpoint, answer)).toEqual([]);

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
        expect(schema.faults(place, JSON.parse(text))).toEqual([]);
    }
  });

  it('passbacks', async () => {
    check(endpointNamed.passback, await running.passback({ union_id: 'u1', user_info: '{"a":1}' }));
  });

  it('40106, for a read alone', async () => {
    const answer = await send(running.service.url, draftRead(running.app, 'nobody'));
    check(endpointNamed.read, answer);
    expect(schema.faultsOfAnswer(endpointNamed.passback, answer)).not.toEqual([]);
  });
});

it('the answers of the service match the document of its platform', async () => {
  const other = await runService({ platform: formatPlatform(php) });
  await other.service.admin.putUser(user('u1', { basic_info: { chat_nickname: 'Ming' } }));
  const check = (answer: Answer) =>
    expect(phpSchema.faultsOfAnswer(endpointNamed.read, answer)).toEqual([]);
  const whole = [await other.read('u1')];
  await other.passback({ union_id: 'u1', user_info: '{"n":1.5,"yes":true}' });
  whole.push(await other.read('u1'));
  for (const { envelope } of whole)
    expect(phpSchema.faults(['components', 'schemas', 'User'], envelope.data)).toEqual([]);
  for (const answer of [...whole, await other.read('u1', 'wx_nickname,n,yes,nothing,device_info')])
    check(answer);
  check(await other.read('u1', 'device_info,mobile', ['mobile']));
  const noCode = await send(other.service.url, draftRead(other.app, 'nobody'));
  expect(noCode.status).toBe(403);
  check(noCode);
  const refused = await send(other.service.url, draftRead(other.app, ''));
  expect(refused).toMatchObject({ status: 200, envelope: { code: 1001, data: [] } });
  check(refused);
  const unlike = { ...refused, envelope: { code: 40001, msg: 'missing parameter', data: {} } };
  expect(phpSchema.faultsOfAnswer(endpointNamed.read, unlike)).not.toEqual([]);
  await other.service.close();
});
