import fc from 'fast-check';
import { expect, test } from 'vitest';
import { outputs } from '../../../src/core/signing/digest-algorithms.js';
import { textEncodings } from '../../../src/core/signing/encodings.js';
import {
  keyDecodings,
  nameCases,
  orders,
  paramsSources,
  type Recipe,
  RecipeError,
  type RecipeJson,
} from '../../../src/core/signing/recipe.js';
import {
  formatRecipe,
  parseRecipe,
  parseSigningRecipes,
} from '../../../src/core/signing/recipe-json.js';

const short: RecipeJson = { message: ['$params', '&key=', '$secret'], steps: ['md5'] };

test('a recipe needs its message and its steps; every other field has a default', () => {
  expect(parseRecipe(short)).toEqual({
    params: {
      from: 'both',
      exclude: [],
      include: null,
      empty: 'keep',
      order: 'name',
      names: true,
      kvSep: '=',
      pairSep: '&',
      encode: 'none',
      nameCase: 'none',
      add: {},
    },
    message: ['$params', '&key=', '$secret'],
    join: '',
    steps: ['md5'],
    key: { tokens: ['$secret'], decode: 'utf8' },
    output: 'hex',
  });
});

test('the short form has only what differs from the defaults', () => {
  expect(formatRecipe(parseRecipe(short))).toEqual(short);
  const long = {
    ...short,
    params: { empty: 'drop', add: { k: '$secret' } },
    key: { decode: 'hex' },
    output: 'HEX',
  };
  expect(formatRecipe(parseRecipe(long))).toEqual(long);
});

const texts = fc.array(fc.constantFrom('a', 'B', 'token', ''), { maxLength: 3 });
const literal = fc.string().map((text) => text.replaceAll('$', '$$$$'));
const message = fc.array(
  fc.oneof(literal, fc.constantFrom('$params', '$secret.md5', '$param:a.b', '$url')),
  {
    minLength: 1,
    maxLength: 4,
  },
);
const steps = fc.constantFrom(
  ['md5'],
  ['sha1:raw', 'append:$secret', 'hmac-md5'],
  ['sha512', 'slice:0:8'],
);

const key = fc.record({ tokens: message, decode: fc.constantFrom(...keyDecodings) });

const anyRecipe: fc.Arbitrary<Recipe> = fc.record({
  params: fc.record({
    from: fc.constantFrom(...paramsSources),
    exclude: texts,
    include: fc.option(texts),
    empty: fc.constantFrom('keep', 'drop'),
    order: fc.oneof(
      fc.constantFrom(...orders),
      texts.map((names) => [...names, 'token']),
    ),
    names: fc.boolean(),
    kvSep: fc.string(),
    pairSep: fc.string(),
    encode: fc.constantFrom(...textEncodings),
    nameCase: fc.constantFrom(...nameCases),
    add: fc.dictionary(fc.constant('token'), fc.constantFrom('$secret', 'a', '$param:a'), {
      noNullPrototype: true,
    }),
  }),
  message,
  join: fc.string(),
  steps,
  key,
  output: fc.constantFrom(...outputs),
});

test('any recipe comes back whole from its short form, as JSON', () => {
  fc.assert(
    fc.property(anyRecipe, (recipe) => {
      expect(parseRecipe(JSON.parse(JSON.stringify(formatRecipe(recipe))))).toEqual(recipe);
    }),
  );
});

test.each<[object, string]>([
  [{ steps: ['md5'] }, 'sign.message: is missing'],
  [{ ...short, message: [] }, 'sign.message: is empty'],
  [{ ...short, steps: [] }, 'sign.steps: is empty, but the message has tokens'],
  [{ ...short, steps: ['append:x'] }, 'sign.steps[0]: has no digest after it'],
  [{ ...short, steps: ['md5', 7] }, 'sign.steps[1]: must be a text'],
  [{ ...short, steps: ['md5', 'md6'] }, 'sign.steps[1]: unknown step md6'],
  [{ ...short, steps: ['md5:HEx'] }, 'sign.steps[0]: unknown step md5:HEx'],
  [{ ...short, steps: ['md5', 'append:$nonce'] }, 'sign.steps[1]: unknown token $nonce'],
  [
    { ...short, steps: ['md5:raw', 'slice:0:8', 'md5'] },
    'sign.steps[1]: slice takes text, not the raw bytes',
  ],
  [{ ...short, steps: ['md5', 'append:$secret'] }, 'sign.steps[1]: has no digest after it'],
  [{ ...short, steps: ['md5', 'upper'] }, 'sign.steps[1]: unknown step upper'],
  [{ ...short, params: null }, 'sign.params: must be an object'],
  [{ ...short, params: { order: 'names' } }, 'sign.params.order: cannot be "names"'],
  [{ ...short, params: { order: ['a', 1] } }, 'sign.params.order[1]: must be a text'],
  [{ ...short, params: { sort: 'name' } }, 'sign.params.sort: unknown field'],
  [{ ...short, params: JSON.parse('{"__proto__": 1}') }, 'sign.params.__proto__: unknown field'],
  [{ ...short, params: { escape: {} } }, 'sign.params.escape: unknown field'],
  [
    { ...short, params: { order: ['a'], add: { k: '$secret' } } },
    'sign.params.add: k is not in the order',
  ],
  [{ ...short, params: { add: { k: '$params' } } }, 'sign.params.add.k: takes no $params'],
  [{ ...short, params: { add: { k: 1 } } }, 'sign.params.add.k: must be a text'],
  [
    { ...short, message: [`$param:a${'.lower.upper'.repeat(4)}.lower`] },
    'sign.message[0]: has more than 8 modifiers of $param:a',
  ],
  [{ ...short, params: { names: 'yes' } }, 'sign.params.names: must be true or false'],
  [{ ...short, key: { token: [] } }, 'sign.key.token: unknown field'],
  [{ ...short, key: { tokens: ['$sekret'] } }, 'sign.key.tokens[0]: unknown token $sekret'],
  [{ ...short, output: 'Hex' }, 'sign.output: cannot be "Hex"'],
  [{ ...short, sub: {} }, 'sign.sub: unknown field'],
])('%j is refused where it is wrong', (sign, problem) => {
  expect(() => parseSigningRecipes({ app_sign: short, sign })).toThrow(problem);
});

test('an error carries the field, and the hint says what may stand there', () => {
  const parse = () => parseRecipe({ ...short, params: { empty: 'dropped' } });
  expect(parse).toThrow(RecipeError);
  expect(parse).toThrow(
    expect.objectContaining({
      code: 'INVALID_RECIPE',
      field: 'params.empty',
      hint: 'It is one of keep, drop.',
    }),
  );
  expect(() => parseRecipe([])).toThrow('recipe: must be an object');
  for (const half of [
    { message: ['\ud800'] },
    { params: { exclude: ['\udc00'] } },
    { params: { add: { k: '\ude00' } } },
  ])
    expect(() => parseRecipe({ ...short, ...half })).toThrow(
      'recipe: has a text with half of a character',
    );
});
