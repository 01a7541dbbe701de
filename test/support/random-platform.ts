import fc from 'fast-check';
import type { PlatformFile } from '../../src/core/platform/platform.js';

const resultCodes = fc.dictionary(
  fc.integer({ min: 1000, max: 9999 }).map(String),
  fc.constantFrom(
    'missingParameter',
    'codeNotValid',
    { means: 'wrongSign', msg: 'sign error', http_status: 403 },
    { retry: 'repeatable' },
  ),
  { maxKeys: 4, noNullPrototype: true },
);
const signing = fc.record(
  {
    app_sign: fc.constantFrom(
      { message: ['token-0001'], steps: [] },
      { message: ['$secret'], steps: ['sha1'] },
    ),
    sign: fc.constant({ message: ['$params', '$secret'], steps: ['md5'], output: 'HEX' }),
  },
  { requiredKeys: [], noNullPrototype: true },
);
const headers = fc.uniqueArray(fc.constantFrom('X-Key', 'Authorization', 'X-Region'));

/** What a platform file says of answers. */
export const answerFields = {
  http_status: fc.constantFrom('by-code', 200),
  absent: fc.constantFrom('omit', 'null', 'empty'),
  empty_object: fc.constantFrom('object', 'list', 'null'),
  refusal_data: fc.constantFrom('object', 'list', 'null', 'omit'),
  values: fc.constantFrom('text', 'as-written'),
  unknown_parameters: fc.constantFrom('refuse', 'ignore'),
  replay: fc.constantFrom('refuse', 'allow'),
  unknown_user: fc.constantFrom('refuse', 'create'),
};

/** Any platform file. */
export const anyPlatform = fc.record(
  {
    ...answerFields,
    signing,
    result_codes: resultCodes,
    scopes: fc.oneof(fc.constant('any'), fc.constantFrom(['get_user_info'], ['snsapi_base', 'x'])),
    clock_window_seconds: fc.oneof(fc.constant('unlimited'), fc.integer({ min: 0, max: 900 })),
    clock_ahead_seconds: fc.oneof(
      fc.constantFrom('unlimited', 'same'),
      fc.integer({ min: 0, max: 900 }),
    ),
    code_uses: fc.oneof(fc.constant('unlimited'), fc.integer({ min: 1, max: 9 })),
    code_ttl_seconds: fc.integer({ min: 1, max: 86_400 }),
    passback_union_id: fc.constantFrom('same', 'any'),
    chat_prefix: fc.constantFrom('chat_', 'wx_', 'weixin2_'),
    headers,
  },
  { requiredKeys: [], noNullPrototype: true },
) as fc.Arbitrary<PlatformFile>;
