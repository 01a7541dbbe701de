import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileParamText } from '../../../src/core/signing/params.js';
import {
  type KeyDecoding,
  type RecipeJson,
  recipeDefaults,
} from '../../../src/core/signing/recipe.js';
import { parseRecipe, parseSigningRecipes } from '../../../src/core/signing/recipe-json.js';

type Given = Partial<RecipeJson>;
const cut = (place: string) => `${place}: slice takes a digest, and nothing else`;
const caseOf = (place: string) =>
  `${place}: loses a part of the secret: the letter case of its base64`;
const sub = (...steps: string[]) => ({ a: { message: ['x'], steps } });
const text = (message: string, ...steps: string[]): Given => ({
  message: [message],
  ...(steps.length > 0 && { steps }),
});
/** With the secret among the parameters. */
const held = (params: Given['params'], message = '$params', ...steps: string[]): Given => ({
  ...text(message, ...steps),
  params: { add: { k: '$secret' }, ...params },
});
const byValue = held({ order: 'value' }, '$names');
const keyed = (token: string, decode: KeyDecoding = 'utf8') => ({
  a: { message: ['x'], steps: ['hmac-md5'], key: { tokens: [token], decode } },
});
const ofSub = (subs: RecipeJson['sub'], ...steps: string[]): Given => ({
  ...text('$sub:a', ...steps),
  ...(subs && { sub: subs }),
});

test.each<[string, Given, string]>([
  ['the message', text('$secret', 'slice:0:3', 'md5'), cut('steps[0]')],
  ['other text', text('$param:a', 'slice:0:3', 'append:$secret', 'md5'), cut('steps[0]')],
  ['its digest in the message', text('$secret.md5', 'slice:0:8', 'md5'), cut('steps[0]')],
  ['a part of the message', text('a$secret', 'slice:1:9', 'md5'), cut('steps[0]')],
  ['the whole, so far', text('$secret', 'slice:0:9999', 'md5'), cut('steps[0]')],
  ['changed text', text('$secret.rfc3986', 'upper', 'slice:0:3', 'md5'), cut('steps[1]')],
  ['its base64', text('$secret.base64', 'slice:0:4', 'md5'), cut('steps[0]')],
  [
    'what is behind a digest',
    text('x', 'md5', 'append:$secret', 'slice:32:35', 'md5'),
    cut('steps[2]'),
  ],
  ['what is before it', text('x', 'prepend:$secret', 'slice:0:3', 'md5'), cut('steps[1]')],
  [
    'a sub',
    ofSub({ a: { message: ['$secret'], steps: ['slice:0:3', 'md5'] } }),
    cut('sub.a.steps[0]'),
  ],
  ['text behind a sub', ofSub(sub('md5', 'append:$secret', 'slice:32:35')), cut('sub.a.steps[2]')],
  [
    'a sub in a sub',
    ofSub({
      ...sub('md5', 'append:$secret'),
      b: { message: ['$sub:a'], steps: ['md5', 'append:$sub:a', 'slice:0:40'] },
    }),
    cut('sub.b.steps[2]'),
  ],
  [
    'a sub with the secret',
    ofSub(sub('md5', 'append:$secret'), 'slice:32:35', 'md5'),
    cut('steps[0]'),
  ],
  ['a value', held({}, '$values', 'slice:0:3', 'md5'), cut('steps[0]')],
  ['a pair', held({}, '$params', 'slice:0:5', 'md5'), cut('steps[0]')],
  [
    'the end of a pair',
    held({ add: {}, pairEnd: '$secret' }, '$params', 'slice:0:9', 'md5'),
    cut('steps[0]'),
  ],
  ['a name list', byValue, 'params.order: $names would show the place'],
  ['names alone', held({ order: 'value', values: false }), 'params.order: $params would show'],
  [
    'a key of names',
    { ...held({ order: 'pair' }), key: { tokens: ['$names'] } },
    'params.order: $names',
  ],
  [
    'names in a step',
    held({ order: 'pair-nocase' }, 'x', 'append:$names', 'md5'),
    'params.order: $names',
  ],
  [
    'names in a sub',
    { ...byValue, ...ofSub({ a: { message: ['$names'], steps: ['md5'] } }) },
    'params.order: $names',
  ],
  ['removed letters', held({ escape: { a: '' } }), 'params.escape: would replace parts'],
  ['merged letters', held({ escape: { a: 'xa', b: 'xa' } }), 'params.escape: would replace'],
  ['two prefixes', held({ escape: { a: 'xa', b: 'yb' } }), 'params.escape: would replace'],
  ['replaced words', held({ escape: { ab: 'xab' } }), 'params.escape: would replace'],
  [
    'a letter and a replaced word',
    held({ escape: { b: 'xb', ab: 'xab' } }),
    'params.escape: would replace',
  ],
  [
    'an added value',
    held({ add: { k: 'a$secret.reverse' } }, '$params', 'slice:0:3', 'md5'),
    cut('steps[0]'),
  ],
  [
    'the place of an added value',
    held({ add: { k: '$secret.base64' }, order: 'value' }, '$names'),
    'params.order: $names would show the place',
  ],
  ['names in the key of a sub', { ...byValue, ...ofSub(keyed('$names')) }, 'params.order: $names'],
  [
    'an added value in base64, in lower case',
    held({ add: { k: '$secret.base64' }, case: 'lower' }),
    caseOf('params.case'),
  ],
  [
    'base64 in an added value',
    held({ add: { k: '$secret.base64.upper' } }),
    caseOf('params.add.k'),
  ],
  ['the key of a sub', ofSub(keyed('$secret.base64.lower')), caseOf('sub.a.key.tokens')],
  [
    'its length',
    text('$secret$secret.length'),
    'message: gives away a part of the secret: its length',
  ],
  ['its digits', text('$secret$secret.date'), 'message: gives away a part of the secret: its date'],
  ['reversed text', text('$secret.reverse', 'slice:0:3', 'md5'), cut('steps[0]')],
  ['base64 in lower case', text('$secret.base64.lower'), caseOf('message')],
  [
    'base64 of a block',
    { ...held({}), encode: { block: 'base64', lower: true } },
    caseOf('encode.lower'),
  ],
  ['base64 folded by a step', text('$secret.base64', 'upper', 'md5'), caseOf('steps[0]')],
  [
    'base64 in the key',
    { ...text('x', 'hmac-md5'), key: { tokens: ['$secret.base64.upper'] } },
    caseOf('key.tokens'),
  ],
])('a digest of a part of the secret is refused: %s', (_, given, message) => {
  const recipe = { steps: ['md5'], ...given };
  expect(() => parseRecipe(recipe)).toThrow(message);
  const other = { message: ['$params', '$secret'], steps: ['md5'] };
  expect(() => parseSigningRecipes({ app_sign: other, sign: recipe })).toThrow(`sign.${message}`);
});

test.each<[string, Given]>([
  [
    'of a digest',
    { message: ['$params', '$secret'], steps: ['md5', 'slice:8:24', 'append:$secret', 'sha1'] },
  ],
  [
    'of a $sub',
    {
      message: ['$sub:a'],
      sub: { a: { message: ['$secret'], steps: ['md5', 'slice:0:16'] } },
      steps: ['md5', 'upper', 'slice:0:8', 'slice:2:4', 'md5'],
    },
  ],
])('a cut %s is no cut of the secret', (_, given) => {
  expect(() => parseRecipe({ steps: ['md5'], ...given })).not.toThrow();
});

test.each<[string, Given]>([
  [
    'sorted values',
    { params: { add: { k: '$secret' }, order: 'value', names: false }, message: ['$params'] },
  ],
  [
    'its letter case',
    {
      params: { add: { k: '$secret' } },
      message: ['$params', '$secret.upper'],
      encode: { lower: true },
    },
  ],
  ['names by name', { params: { add: { k: '$secret' } }, message: ['$names', '$values'] }],
  [
    'names by pair',
    {
      params: { add: { k: '$secret' }, order: 'pair', values: false },
      message: ['$params', '$secret'],
    },
  ],
  [
    'a digest of it among sorted names',
    { params: { add: { k: '$secret.md5' }, order: 'value' }, message: ['$names'] },
  ],
  [
    'its JSON',
    { params: { add: { k: '$secret' }, json: 'both', case: 'lower' }, message: ['$params'] },
  ],
  [
    'backslashes',
    {
      params: { add: { k: '$secret' }, escape: { '\\': '\\\\', ':': '\\:' } },
      message: ['$params'],
    },
  ],
  ['other values replaced', { params: { escape: { a: '' } }, message: ['$params', '$secret'] }],
])('rules that keep the whole secret are taken: %s', (_, given) => {
  expect(() => parseRecipe({ steps: ['md5'], ...given })).not.toThrow();
});

test('replacements by one prefix keep different texts different', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '\\'), maxLength: 8 });
  const marks = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', '\\'), { minLength: 1 });
  fc.assert(
    fc.property(
      text,
      text,
      fc.string({ unit: fc.constantFrom('a', 'b', '\\'), maxLength: 2 }),
      marks,
      (one, two, prefix, list) => {
        const table = Object.fromEntries(list.map((mark) => [mark, prefix + mark]));
        expect(() =>
          parseRecipe({
            params: { add: { k: '$secret' }, escape: table },
            message: ['$params'],
            steps: ['md5'],
          }),
        ).not.toThrow();
        const write = compileParamText({ ...recipeDefaults.params, escape: table });
        expect(write(one) === write(two)).toBe(one === two);
      },
    ),
  );
});
