import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CallClient } from '../../../src/client/call/call-client.js';
import type { ResultCodeName } from '../../../src/core/contract/result-codes.js';
import {
  formatPlatform,
  type PlatformFile,
  parsePlatform,
} from '../../../src/core/platform/platform.js';
import { compileRecipes } from '../../../src/core/signing/app-signatures.js';
import { defaultRecipes } from '../../../src/core/signing/presets.js';
import { Secret } from '../../../src/core/signing/secret.js';
import { gather, maxRequestsOf } from '../../../src/lab/behavior/gather.js';
import { type Learned, learn } from '../../../src/lab/behavior/learn.js';
import { differencesOf, unseenMeanings } from '../../../src/lab/behavior/learned-codes.js';
import { ProbeSession } from '../../../src/lab/behavior/probe-session.js';
import { createTestService, type TestService } from '../../../src/service/index.js';
import { answerFields } from '../../support/random-platform.js';

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

/**
 * Result codes: some meanings share one, but for that of an unknown code, from which the others are
 * told apart.
 */
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
    ...answerFields,
    result_codes: anyResultCodes,
    scopes: fc.constantFrom(['get_user_info'], 'any'),
    clock_window_seconds: fc.oneof(
      fc.constantFrom('unlimited', 60, 300, 900),
      fc.integer({ min: 5, max: 900 }),
    ),
    code_uses: fc.oneof(fc.constant('unlimited' as const), fc.integer({ min: 1, max: 4 })),
    code_ttl_seconds: fc.integer({ min: 100, max: 1000 }),
    chat_prefix: fc.constantFrom('chat_', 'wx_', 'Line2_'),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<PlatformFile>;

/** The fields that a probe with a test user finds. */
const foundFields = [
  'absent',
  'empty_object',
  'refusal_data',
  'values',
  'unknown_parameters',
  'scopes',
  'clock_window_seconds',
  'clock_ahead_seconds',
  'replay',
  'code_uses',
  'chat_prefix',
] as const;

const users = [
  { union_id: 'u1', basic_info: { mobile: '13800001111', chat_nickname: 'Ming' } },
  { union_id: 'u2', basic_info: { mobile: '13800002222' }, extension_info: { acme_n: '1' } },
];

const serve = (platform: PlatformFile) => createTestService({ platform, users });

async function learnFrom(service: TestService): Promise<Learned> {
  const { appSecret } = service.clientOptions;
  await using client = new CallClient(service.clientOptions);
  const codes = await Promise.all([1, 2, 3].map(() => service.issueCode('u1')));
  const user = { codes, unionId: 'u1', key: 'userinfo_probe' };
  const connection = {
    client,
    signers: compileRecipes(defaultRecipes),
    secret: new Secret(appSecret),
    signal: new AbortController().signal,
    pauseMs: 0,
    maxRequests: maxRequestsOf(user),
  };
  return learn(await gather(new ProbeSession(connection, user)));
}

it('the file that is learned of a service is the file that it was given', {
  timeout: 600_000,
}, async () => {
  const result_codes = {
    7: 'unknownParameter',
    8: 'scopeNotAccepted',
    9: 'malformedParameter',
  } as const;
  const file: PlatformFile = {
    code_uses: 'unlimited',
    clock_window_seconds: 'unlimited',
    result_codes,
  };
  const property = fc.asyncProperty(anyPlatform, async (file) => {
    await using original = await serve(file);
    const { fields, refusals } = await learnFrom(original);
    const [given, found] = [parsePlatform(file, 'given'), parsePlatform(fields, 'learned')];
    for (const field of foundFields) {
      const [one, other] = [found[field], given[field]];
      // To about a second: a window of 59 s and one that ends before 60 s answer alike.
      const isNear =
        typeof one === 'number' && typeof other === 'number' && Math.abs(one - other) <= 1;
      if (!field.startsWith('clock_') || !isNear) expect([field, one]).toEqual([field, other]);
    }
    expect(differencesOf(refusals, given)).toEqual([]);
    expect(differencesOf(refusals, found)).toEqual([]);
    const unseen = unseenMeanings(refusals);
    for (const name of observable) {
      // Nothing is refused for that, or as something else, too.
      if (name === 'randomReplayed' && given.replay === 'allow') continue;
      if (refusals.some(({ means, unclear }) => means === name && unclear !== null)) continue;
      expect(unseen).not.toContain(name);
    }
  });
  await fc.assert(property, { numRuns: 3, examples: [[file]], endOnFailure: true });
});

it('a platform of the defaults has an empty file', async () => {
  await using service = await serve({});
  const { fields } = await learnFrom(service);
  expect(formatPlatform(parsePlatform(fields, 'learned'))).toEqual({});
});
