import fc from 'fast-check';
import { expect, it } from 'vitest';
import { gather } from '../../src/cli/commands/probe/gather.js';
import { learn } from '../../src/cli/commands/probe/learn.js';
import { CallClient } from '../../src/client/client.js';
import { formatPlatform, type PlatformFile, parsePlatform } from '../../src/platform/platform.js';
import { platformRefusal } from '../../src/protocol/result-code-table.js';
import { type ResultCodeName, resultCode } from '../../src/protocol/result-codes.js';
import { createTestService, type TestService } from '../../src/service/index.js';
import { compileRecipes } from '../../src/signing/app-signatures.js';
import { defaultRecipes } from '../../src/signing/presets.js';
import { Secret } from '../../src/signing/secret.js';
import { type Draft, draftPassback, draftRead, freshRandom, send } from '../support/foreign-client.js';

/** The refusals that a probe with a test user causes. */
const observable = [
  'codeNotValid',
  'missingParameter',
  'malformedParameter',
  'unknownAppKey',
  'appNotAllowed',
  'wrongAppSign',
  'wrongSign',
  'timestampOutsideWindow',
  'randomReplayed',
  'wrongMethod',
  'noSuchPath',
  'userNotNamed',
  'primaryKeyNotInUserInfo',
  'userInfoNotFlat',
  'reservedKey',
] as const satisfies ResultCodeName[];

/** Result codes: some meanings share one, but for that of an unknown code, from which the others are told apart. */
const anyResultCodes = fc
  .record({
    codes: fc.uniqueArray(fc.integer({ min: -99, max: 9999 }), { minLength: 15, maxLength: 15 }),
    places: fc.array(fc.option(fc.nat(8)), { minLength: 15, maxLength: 15 }),
    more: fc.array(
      fc.record(
        {
          msg: fc.constantFrom('param error', '签名错误', 'no', 'denied'),
          http_status: fc.constantFrom(200, 400, 403, 404, 409, 500),
        },
        { requiredKeys: [] },
      ),
      { minLength: 15, maxLength: 15 },
    ),
  })
  .map(({ codes, places, more }) => {
    const groups = new Map<number, ResultCodeName[]>();
    for (const [index, name] of observable.entries()) {
      const place = places[index] ?? null;
      if (place === null) continue;
      const group = name === 'codeNotValid' ? 14 : place;
      groups.set(group, [...(groups.get(group) ?? []), name]);
    }
    const entries = [...groups].map(([group, means]) => [codes[group], { means, ...more[group] }]);
    return Object.fromEntries(entries.filter(([code]) => code !== 200));
  });

const anyPlatform: fc.Arbitrary<PlatformFile> = fc.record(
  {
    result_codes: anyResultCodes,
    http_status: fc.constantFrom('by-code', 200),
    absent: fc.constantFrom('omit', 'null', 'empty'),
    empty_object: fc.constantFrom('object', 'list', 'null'),
    values: fc.constantFrom('text', 'as-written'),
    unknown_parameters: fc.constantFrom('refuse', 'ignore'),
    scopes: fc.constantFrom(['get_user_info'], 'any'),
    clock_window_seconds: fc.oneof(
      fc.constantFrom('unlimited', 60, 300, 900),
      fc.integer({ min: 5, max: 900 }),
    ),
    replay: fc.constantFrom('refuse', 'allow'),
    code_uses: fc.oneof(fc.constant('unlimited' as const), fc.integer({ min: 1, max: 4 })),
    code_ttl_seconds: fc.integer({ min: 100, max: 1000 }),
    unknown_user: fc.constantFrom('refuse', 'create'),
    chat_prefix: fc.constantFrom('chat_', 'wx_', 'Line2_'),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<PlatformFile>;

/** The fields that a probe with a test user finds. */
const foundFields = [
  'absent',
  'empty_object',
  'values',
  'unknown_parameters',
  'scopes',
  'clock_window_seconds',
  'replay',
  'code_uses',
  'chat_prefix',
] as const;

/** Kinds of requests whose answer depends on what a probe finds. */
const kinds = [
  ...[
    'whole',
    'named',
    'used',
    'unknown',
    'missing',
    'random',
    'timestamp',
    'app',
    'tenant',
    'app_sign',
    'sign',
  ],
  ...['aged', 'extra', 'scope', 'copy', 'method', 'path', 'write', 'nobody', 'key', 'nested', 'reserved'],
] as const;
const anyRequest = fc.record({
  kind: fc.constantFrom(...kinds),
  number: fc.nat(2000),
  text: fc.stringMatching(/^[a-z]{4,8}$/),
});
type AnyRequest = { kind: string; number: number; text: string };

const users = [
  { union_id: 'u1', basic_info: { mobile: '13800001111', chat_nickname: 'Ming' } },
  { union_id: 'u2', basic_info: { mobile: '13800002222' }, extension_info: { acme_n: '1' } },
];

const serve = (platform: PlatformFile) => createTestService({ platform, users });

async function learnFrom(service: TestService): Promise<PlatformFile> {
  const { appSecret } = service.clientOptions;
  await using client = new CallClient(service.clientOptions);
  const connection = {
    client,
    signers: compileRecipes(defaultRecipes),
    secret: new Secret(appSecret),
    signal: new AbortController().signal,
    pauseMs: 0,
  };
  const user = { codes: [await service.issueCode('u1')], unionId: 'u1', key: 'userinfo_probe' };
  const { fields } = learn(await gather(connection, user));
  return formatPlatform(parsePlatform(fields, 'learned'));
}

/** The types of a JSON value, with the keys of its objects. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value !== 'object' || value === null)
    return value === null ? 'null' : value === '' ? 'empty' : typeof value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, shapeOf(member)]));
}

/** Sends a request with the means of another client, and returns what an answer shows. */
async function answerOf(service: TestService, { kind, number, text }: AnyRequest, platform: PlatformFile) {
  const { appKey, appSecret, tenantCode, channel } = service.clientOptions;
  const app = { app_key: appKey, secret: appSecret, tenant_code: tenantCode, channel };
  const user = number % 2 === 0 ? 'u1' : 'u2';
  const { clock_window_seconds: window = 300, chat_prefix = 'chat_' } = platform;
  const names = ['mobile', `${chat_prefix}nickname`, 'acme_n', text, 'device_info', 'union_id'];
  const info_name = names.filter((_, index) => (number >> index) % 2 === 1).join(',') || 'mobile';
  const read = (query: Record<string, string> = {}) => draftRead(app, `no-${text}`, query);
  const change = (draft: Draft, name: string, value: string | null) => {
    if (value === null) draft.query.delete(name);
    else draft.query.set(name, value);
    return draft;
  };
  const write = (form: Record<string, string>) => draftPassback(app, form);
  const required = [...read().query.keys()];
  const own = JSON.stringify({ [`acme_${text}`]: number });
  // Within two seconds of its end the window depends on the moment.
  const isNear = window !== 'unlimited' && Math.abs(number - window) < 3;
  const age = isNear ? 0 : number;
  const ask = async (): Promise<Draft> => {
    switch (kind) {
      case 'whole':
        return draftRead(app, await service.issueCode(user));
      case 'named':
        return draftRead(app, await service.issueCode(user), { info_name });
      case 'used': {
        const code = await service.issueCode(user);
        await send(service.url, draftRead(app, code));
        return draftRead(app, code);
      }
      case 'missing':
        return change(read(), required[number % required.length] ?? '', null);
      case 'random':
        return change(read(), 'random', freshRandom().slice(0, 7));
      case 'timestamp':
        return change(read(), 'timestamp', '123456789');
      case 'app':
        return change(read(), 'app_key', text);
      case 'tenant':
        return change(read(), 'tenant_code', text);
      case 'app_sign':
        return { ...read(), spoilAppSign: true };
      case 'sign':
        return { ...read(), spoilSign: true };
      case 'aged':
        return read({ timestamp: String(Math.floor(Date.now() / 1000) - age) });
      case 'extra':
        return read({ [`x_${text}`]: '1' });
      case 'scope':
        return read({ scope: number % 2 === 0 ? 'get_user_info' : text });
      case 'copy': {
        const draft = write({ union_id: user, user_info: own });
        await send(service.url, draft);
        return draft;
      }
      case 'method':
        return { ...read(), method: 'POST' };
      case 'path':
        return { ...read(), path: `/api/v1/${text}` };
      case 'write':
        return write({ union_id: user, user_info: own });
      case 'nobody':
        return write({ user_info: own });
      case 'key':
        return write({ primary_key: `${text}_`, user_info: own });
      case 'nested':
        return write({ union_id: user, user_info: '{"acme":{"a":1}}' });
      case 'reserved':
        return write({ union_id: user, user_info: '{"channel":"web"}' });
      default:
        return read();
    }
  };
  const { status, envelope } = await send(service.url, await ask());
  return { status, code: envelope.code, data: shapeOf(envelope.data) };
}

it('a platform that is probed has a twin that answers alike', { timeout: 600_000 }, async () => {
  const numRuns = 2;
  const property = fc.asyncProperty(
    anyPlatform,
    fc.array(anyRequest, { minLength: 50, maxLength: 50 }),
    async (file, requests) => {
      await using original = await serve(file);
      const learned = await learnFrom(original);
      const [given, found] = [parsePlatform(file, 'given'), parsePlatform(learned, 'learned')];
      for (const field of foundFields) expect([field, found[field]]).toEqual([field, given[field]]);
      for (const name of observable) {
        // Nothing is refused for that.
        if (name === 'randomReplayed' && given.replay === 'allow') continue;
        if (name === 'timestampOutsideWindow' && given.clock_window_seconds === 'unlimited') continue;
        const [one, other] = [given, found].map(({ result_codes, http_status }) => {
          const { code, httpStatus } = platformRefusal(resultCode[name], result_codes, http_status);
          return [name, code, httpStatus];
        });
        expect(other).toEqual(one);
      }
      await using twin = await serve(learned);
      await original.reset();
      for (const request of requests) {
        const [one, other] = await Promise.all(
          [original, twin].map((service) => answerOf(service, request, given)),
        );
        expect(other, JSON.stringify(request)).toEqual(one);
      }
    },
  );
  await fc.assert(property, { numRuns, endOnFailure: true });
});

it('a platform of the defaults has an empty file', async () => {
  await using service = await serve({});
  expect(await learnFrom(service)).toEqual({});
});
