import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requestFields } from '../../src/core/profiles/profile.js';
import {
  expectedOf,
  InputSender,
  plainPlatform,
  type RequestInput,
  type Way,
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

/** Texts that §4 allows in every place. */
const allowed = [
  // Brackets, quotes and marks
  ...`acme(test) {acme} [1] <VIP> <a@b.example> "quoted" 'quoted' “quoted” 'quoted`.split(' '),
  ...'*bold* **bold** ~~x~~ @acme =SUM(A1) =x ==x :: a=b a:=1'.split(' '),
  ...['acme (test)', '# note', 'a # b', '"a" # b', '- item', '$ ls', '% ls', '> quote', 'PS C:> x'],
  // Delimiters and ends
  ...'web. chan,1 a,b a;b a;b=1 a&b=1 done。 a|b'.split(' '),
  'see you;',
  // Numbers
  ...'7e100200 5E10 5E+10 1e5 1.0 138.0 1001.0 00123 0x1F'.split(' '),
  ...'6222021234567890000 110101199003070000 +8613800138000 138-0013-8000'.split(' '),
  '+86 138 0013 8000',
  // Words
  ...'null None undefined nan N/A #N/A true code mobile mobiles all * header'.split(' '),
  // Templates
  ...`\${name} {{x}} $name $(name) %NAME% $env:NAME`.split(' '),
  // What looks like a URL, JSON, a name before a value, an option or a path
  ...'https://acme.example/?code=1 user:1001 code=2474ab {"code":"x"} abc%2Bdef %7B'.split(' '),
  ...'-p --yes ../x C:\\x\\ sep=;'.split(' '),
  ...['Bearer 2474ab', 'tenant: acme', 'note --union-id u1'],
  // Other alphabets, invisible characters and spaces
  ...'张三 ａｂｃ１２３ ١٢٣ аcme mobile，age zero\u200bwidth 👨‍👩‍👧 می‌خواهم masked**** ••••'.split(
    ' ',
  ),
  ...['no-break\u00a0space', 'tab\there', 'line\nbreak', 'damaged \ufffd', 'two words', ' around '],
];

describe.each(ways)(
  'a text that the contract allows is sent in every place, by way of %s',
  (way) => {
    it.each(allowed)('%j', async (text) => {
      const settings = { tenant_code: text, channel: text, app_key: text };
      const requests: RequestInput[] = [
        {
          ...settings,
          code: text,
          scope: text,
          ...(text.includes(',') ? {} : { info_names: [text.trim()] }),
        },
        {
          ...settings,
          union_id: text,
          user_info: [
            [text, text],
            ['gps', text],
          ],
        },
        { ...settings, primary_key: text, user_info: [[text, text]] },
      ];
      for (const input of requests) {
        const { received, refused } = await sender.send(way, input);
        expect({ refused, received }).toEqual({
          refused: null,
          received: [expectedOf(way, input)],
        });
      }
    });
  },
);

/**
 * What §4.2 allows besides: the union ID takes priority (rule 1), values of any JSON type but
 * nested ones, and the empty text.
 */
const allowedPassbacks: readonly { what: string; input: RequestInput; by?: readonly Way[] }[] = [
  {
    what: 'a primary key that is no key, beside a union ID',
    input: { union_id: 'u1', primary_key: 'x', user_info: [['a', 'b']] },
  },
  {
    what: 'a number that identifies the user',
    input: { primary_key: 'no', user_info: [['no', 7]] },
    by: ['arguments', 'stdin', 'NDJSON', 'SDK'],
  },
  {
    what: 'values that are no texts',
    input: {
      union_id: 'u1',
      user_info: [
        ['a', 1.5],
        ['b', true],
        ['c', null],
      ],
    },
    by: ['arguments', 'stdin', 'NDJSON', 'SDK'],
  },
  {
    what: 'an empty text',
    input: { union_id: 'u1', user_info: [['a', '']] },
    by: ['arguments', 'stdin', 'NDJSON', 'SDK'],
  },
  { what: 'a long text', input: { union_id: 'u1', user_info: [['a', 'x'.repeat(10_000)]] } },
];

describe.each(ways)('what the contract allows is sent, by way of %s', (way) => {
  it.each(allowedPassbacks.filter(({ by = ways }) => by.includes(way)))(
    '$what',
    async ({ input }) => {
      const { received, refused } = await sender.send(way, input);
      expect({ refused, received }).toEqual({ refused: null, received: [expectedOf(way, input)] });
    },
  );
});

interface Forbidden {
  readonly what: string;
  readonly input: RequestInput;
  readonly says: RegExp;
  /** The ways that can express it; all of them, unless given. */
  readonly by?: readonly Way[];
}

const user_info = [['a', 'b']] as const;
const inJson: readonly Way[] = ['stdin', 'NDJSON', 'SDK'];

const forbidden: readonly Forbidden[] = [
  { what: 'no user (§4.2 rule 1)', input: { user_info }, says: /union[-_]?id/i },
  { what: 'an empty union ID', input: { union_id: '', user_info }, says: /union[-_]?id/i },
  {
    what: 'an empty primary key',
    input: { primary_key: '', user_info },
    says: /primary_key|primary-key|primaryKey|union_id/,
  },
  {
    what: 'a primary key that is no key (rule 2)',
    input: { primary_key: 'x', user_info },
    says: /"x"/,
  },
  { what: 'a key in another letter case', input: { primary_key: 'A', user_info }, says: /"A"/ },
  {
    what: 'a key without a value',
    input: { primary_key: 'x', user_info: [['x', '']] },
    says: /"x"/,
  },
  ...[null, true, false].map((value) => ({
    what: `a primary key whose value is ${value}`,
    input: { primary_key: 'x', user_info: [['x', value]] as const },
    says: /"x"/,
    by: ['arguments', 'variables', 'profile', ...inJson] as const,
  })),
  ...['union_id', 'channel'].flatMap((key) => [
    {
      what: `the reserved key ${key} (§4.2 rule 5)`,
      input: {
        union_id: 'u1',
        user_info: [
          [key, 'x'],
          ['a', 'b'],
        ] as const,
      },
      says: new RegExp(key),
    },
    {
      what: `the reserved key ${key} as the primary key`,
      input: {
        primary_key: key,
        user_info: [
          [key, 'x'],
          ['a', 'b'],
        ] as const,
      },
      says: new RegExp(key),
    },
  ]),
  ...[{ b: 1 }, ['b'], {}, []].map((value) => ({
    what: `a nested value (§4.2 rule 3): ${JSON.stringify(value)}`,
    input: { union_id: 'u1', user_info: [['a', value]] as const },
    says: /one level|holds an/,
    by: ['arguments', 'variables', 'profile', ...inJson] as const,
  })),
  { what: 'no key at all', input: { union_id: 'u1', user_info: [] }, says: /./ },
  { what: 'an empty key', input: { union_id: 'u1', user_info: [['', 'b']] }, says: /key|name/ },
  { what: 'an empty code (§4.1)', input: { code: '' }, says: /code/ },
  ...requestFields.slice(1).map((name) => ({
    what: `an empty ${name}`,
    input: { [name]: '', code: 'x' },
    says: /is empty/,
    by: ['SDK'] as const,
  })),
  {
    what: 'a comma in a name',
    input: { code: 'x', info_names: ['a,b'] },
    says: /comma/,
    by: ['SDK'],
  },
  { what: 'an empty name', input: { code: 'x', info_names: [''] }, says: /empty/, by: ['SDK'] },
  { what: 'no names', input: { code: 'x', info_names: [] }, says: /empty/, by: ['SDK'] },
  ...[Number.NaN, Number.POSITIVE_INFINITY, undefined, 2 ** 60, new Date(0)].map((value) => ({
    what: `a value that JSON does not have: ${value}`,
    input: { union_id: 'u1', user_info: [['a', value]] as const },
    says: /"a"/,
    by: ['SDK'] as const,
  })),
  {
    what: 'a key that is given twice',
    input: {
      union_id: 'u1',
      user_info: [
        ['a', 'b'],
        ['a', 'c'],
      ],
    },
    says: /twice|two columns|duplicate/,
    by: ['arguments', 'variables', 'profile', 'stdin', 'CSV', 'NDJSON'],
  },
  // What no request can carry. A file and standard input are UTF-8, which has no half of a pair.
  ...['\ud800', 'a\udc00b', 'a\0b'].flatMap((text) =>
    [
      { where: 'value', input: { union_id: 'u1', user_info: [['a', text]] as const } },
      { where: 'key', input: { union_id: 'u1', user_info: [[text, 'b']] as const } },
      { where: 'user', input: { union_id: text, user_info } },
      { where: 'code', input: { code: text } },
      { where: 'channel', input: { code: 'x', channel: text } },
    ].map(({ where, input }) => ({
      what: `the ${where} ${JSON.stringify(text)}`,
      input,
      says: /U\+0000|unpaired surrogate/,
      by: ways.filter((way) => text.isWellFormed() || (way !== 'CSV' && way !== 'stdin')),
    })),
  ),
];

describe.each(ways)(
  'what the contract forbids is refused before anything is sent, by way of %s',
  (way) => {
    it.each(forbidden.filter(({ by = ways }) => by.includes(way)))(
      '$what',
      async ({ input, says }) => {
        const { received, refused } = await sender.send(way, input);
        expect({ refused, received }).toEqual({
          refused: expect.stringMatching(says),
          received: [],
        });
      },
    );
  },
);
