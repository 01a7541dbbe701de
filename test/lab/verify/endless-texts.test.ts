import { expect, it } from 'vitest';
import { compileRecipe } from '../../../src/core/signing/compile-recipe.js';
import { defaultRecipes } from '../../../src/core/signing/presets.js';
import { completeRecipe } from '../../../src/core/signing/recipe.js';
import { Secret } from '../../../src/core/signing/secret.js';
import { UserInfoError } from '../../../src/core/support/errors.js';
import { readSamples } from '../../../src/lab/samples/read-sample.js';
import { compareMessages } from '../../../src/lab/verify/compare-messages.js';
import { namedPresets } from '../../../src/lab/verify/recipe-suspects.js';
import { verifySignature } from '../../support/verify-signature.js';

/** The beginnings and ends of requests as people and tools write them. */
const contexts: Readonly<Record<string, readonly [open: string, close: string]>> = {
  alone: ['', ''],
  'curl header': ["curl 'http://e.com/?sign=a' -H 'X: a", "b'"],
  'curl data': ['curl http://e.com/?sign=a -d ', 'x'],
  'curl URL': ["curl 'http://e.com/?sign=a&b={", "}'"],
  'curl for cmd': ['curl ^"http://e.com/?sign=a^" ^\n -d ^"a=', '^"'],
  'HTTP header': ['POST /x?sign=a HTTP/1.1\nHost: e.com\nX: ', '\n\nb=1'],
  'HTTP body': ['POST /x?sign=a HTTP/1.1\nHost: e.com\n\na=', ''],
  HAR: ['{"log":{"entries":[{"request":{"url":"/x?sign=a","h":"', '"}}]}}'],
  'JSON log': ['{"url":"/x?sign=a","headers":{"a":"', '"}}'],
  'JSON list': ['{"url":"/x?sign=a","h":[{}', ']}'],
  Postman: [
    '{"info":{},"item":[{"request":{"url":"http://e.com/?sign={{a}}"}}],"variable":[{"key":"a","value":"',
    '"}]}',
  ],
  'log line': ['INFO PUT /a?sign=a body=user_info=%7B&b=', '\n'],
  'log address': ['uri=/api/v1/server/user/passback_user_info args=sign=a&b=', '\n'],
  URL: ['http://e.com/?sign=a&b=', ''],
  fence: ['```', '\nhttp://e.com/?sign=a\n```'],
  'sample file': ['{"params":{"a":"', '"},"signature":"a"}'],
};
const units = [
  ...' |\n|\r|a|\\|"|\'|`|{|[|(|}|%25|&a=1|a: b\n|{{a}}|curl |&sign=a|sign=a\n|=> |--> |{{ |\\"'.split(
    '|',
  ),
  ...'GET /x?sign=a HTTP/1.1\n|{"a":|,{"a":{}}|,{"url":"/y?sign=b"}|: |#|\u2028|^|<|b=c, '.split(
    '|',
  ),
];
const recipes = [
  defaultRecipes.sign,
  completeRecipe({
    message: ['$method', '$path', '$query', '$body', '$secret'],
    join: '\n',
    steps: ['hmac-sha256'],
  }),
];
const secret = new Secret('s3cret');
const size = 40_000;
/**
 * CPU seconds. The slowest shape takes a tenth; one that is read in quadratic time takes longer
 * each time.
 */
const maxSeconds = 1;

function read(text: string, isJudged: boolean): void {
  const { samples } = readSamples(text, { pick: [1] });
  for (const request of isJudged ? samples : [])
    for (const recipe of recipes) {
      const signer = compileRecipe(recipe);
      const { message } = signer.explain(request, secret);
      const received = request.signature ?? 'a';
      const others = { otherSecrets: [], otherRecipes: namedPresets, unsent: [] };
      const signed = { request, secret, signer, recipe, ...others };
      verifySignature({ ...signed, received });
      compareMessages(signed, message.replace('s', 'ss'));
    }
}

/**
 * The seconds for a text: of those that take too long on a busy machine, the least of three times.
 */
function leastSecondsFor(text: string, isJudged = false): number {
  let seconds = secondsFor(text, isJudged);
  for (let time = 1; time < 3 && seconds >= maxSeconds; time += 1)
    seconds = Math.min(seconds, secondsFor(text, isJudged));
  return seconds;
}

function secondsFor(text: string, isJudged: boolean): number {
  const before = process.cpuUsage();
  try {
    read(text, isJudged);
  } catch (error) {
    if (!(error instanceof UserInfoError)) throw error;
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

/** Those whose requests are judged, too. */
const judged = ['a', '&a=1', '=> '];
/** Every unit in every second context. */
const shapes = Object.entries(contexts).map(
  ([name, ends], context) =>
    [name, ends, units.filter((_, unit) => (unit + context) % 2 === 0)] as const,
);

it.each(shapes)('a text that repeats is read in its time: %s', (_, [open, close], units) => {
  const slow = units.flatMap((unit) => {
    const textOf = (length: number) => open + unit.repeat(length / unit.length) + close;
    // A judgement tries hundreds of mistakes.
    const judgement = judged.includes(unit) ? leastSecondsFor(textOf(size / 5), true) : 0;
    const seconds = Math.max(leastSecondsFor(textOf(size)), judgement);
    return seconds < maxSeconds ? [] : [`${JSON.stringify(unit)} takes ${seconds} s`];
  });
  expect(slow).toEqual([]);
});

const long = '1a'.repeat(6_000_000);
it.each([
  ['a sample file', `{"url":"http://e.com/?sign=a","body":"${long}"}`],
  ['double quotes', `curl 'http://e.com/?sign=a' -d "${long}"`],
  ["$'…'", `curl 'http://e.com/?sign=a' -d $'${long}'`],
])('a text of millions of characters does not overflow the stack: %s', (_, text) => {
  expect(readSamples(text).samples).toMatchObject([{ body: long }]);
});

const parts = (count: number, part: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => part(index)).join(',');
const variables = (count: number, of: number) =>
  parts(count, (index) => `{"key":"v${of}-${index}","value":"x"}`);

it.each([
  ['members of an object', `{${parts(12_000, (index) => `"k${index}":{"url":"/y"}`)}}`],
  [
    'folders with variables',
    `{"info":{},"variable":[${variables(8_000, 0)}],"item":[${parts(4_000, (index) => `{"variable":[${variables(1, index)}],"item":[]}`)}]}`,
  ],
  [
    'a long value in each request',
    `{"info":{},"item":[${parts(5_000, (index) => `{"variable":[${variables(1, index)}],"item":[{"request":{"url":"http://e.com/?sign=a&b={{a}}"}}]}`)}],"variable":[{"key":"a","value":"${'x'.repeat(50_000)}"}]}`,
  ],
  ['addresses in a line', '"/x?sign=a" '.repeat(12_000)],
])('a text of many parts is read in its time: %s', (_, text) => {
  expect(leastSecondsFor(text)).toBeLessThan(maxSeconds);
});
