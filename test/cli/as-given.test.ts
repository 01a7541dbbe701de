import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  expectedOf,
  InputSender,
  plainPlatform,
  type RequestInput,
  ways,
} from '../support/ways.js';

let platform: Awaited<ReturnType<typeof plainPlatform>>;
let sender: InputSender;
beforeAll(async () => {
  platform = await plainPlatform();
  sender = new InputSender(platform);
});
afterAll(async () => {
  sender[Symbol.dispose]();
  await platform.close();
});

/** Signs of the syntax of shells, files, URLs, templates and languages. */
const signs = fc.constantFrom(
  ...' "\'`$%&+=:;,@#\\/?()[]{}<>|*-_.~^!\ufffd\u3000，。：“”',
  '${',
  '{{',
  '}}',
  '--',
  ':=',
);
const short = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 3 });
const mixed = fc.array(fc.oneof(signs, short), { maxLength: 8 }).map((parts) => parts.join(''));
/** White space, or nothing, on each side. */
const space = fc.constantFrom('', '', ' ', '\t', '\u3000');
const spaced = fc.tuple(space, short, space).map((parts) => parts.join(''));
/** A text of printable characters of all of Unicode, often with such signs or white space. */
const text = fc
  .oneof(fc.string({ unit: 'grapheme', maxLength: 12 }), mixed, spaced)
  .filter((text) => text.trim() !== '');
const settings = { tenant_code: text, channel: text, app_key: text };
const key = text.filter((key) => !['union_id', 'channel'].includes(key));

const shortened = /^\d\.\d+E\+\d+$/;
const read: fc.Arbitrary<RequestInput> = fc.record(
  { ...settings, code: text, scope: text },
  { requiredKeys: ['code'] },
);
const passback: fc.Arbitrary<RequestInput> = fc.record({
  ...settings,
  union_id: text.filter((id) => !shortened.test(id)),
  user_info: fc.uniqueArray(fc.tuple(key, text), {
    minLength: 1,
    maxLength: 4,
    selector: ([name]) => name,
  }),
});
const byPrimaryKey = passback.map(
  ({ union_id, user_info = [], ...rest }): RequestInput => ({
    ...rest,
    primary_key: user_info[0]?.[0] ?? '',
    user_info,
  }),
);

it.each(ways)('the platform receives the bytes that were given, by way of %s', async (way) => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(read, passback, byPrimaryKey), async (input) => {
      const { received, refused } = await sender.send(way, input);
      expect(refused).toBe(null);
      expect(received).toEqual([expectedOf(way, input)]);
    }),
    { numRuns: 60 },
  );
});
