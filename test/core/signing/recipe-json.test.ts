import fc from 'fast-check';
import { expect, test } from 'vitest';
import { outputs } from '../../../src/core/signing/digest-algorithms.js';
import { blockEncodings, cases, textEncodings } from '../../../src/core/signing/encodings.js';
import {
  jsonTexts,
  keyDecodings,
  orders,
  paramsPlaces,
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
      joinRepeated: null,
      order: 'name',
      names: true,
      values: true,
      kvSep: '=',
      pairSep: '&',
      pairEnd: '',
      escape: {},
      encode: 'none',
      case: 'none',
      nameCase: 'none',
      json: 'none',
      lengths: false,
      add: {},
    },
    message: ['$params', '&key=', '$secret'],
    join: '',
    basePath: '',
    encode: { block: 'none', message: 'none', lower: false },
    sub: {},
    steps: ['md5'],
    key: { tokens: ['$secret'], decode: 'utf8' },
    output: 'hex',
  });
});

test('the short form has only what differs from the defaults', () => {
  expect(formatRecipe(parseRecipe(short))).toEqual(short);
  const long = {
    ...short,
    params: { empty: 'drop', escape: { ':': '' } },
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

const anyFields: fc.Arbitrary<Recipe> = fc.record({
  params: fc.record({
    from: fc.constantFrom(...paramsPlaces),
    exclude: texts,
    include: fc.option(texts),
    empty: fc.constantFrom('keep', 'drop'),
    joinRepeated: fc.option(fc.string()),
    order: fc.oneof(
      fc.constantFrom(...orders),
      texts.map((names) => [...names, 'token']),
    ),
    names: fc.boolean(),
    values: fc.constant(true),
    kvSep: fc.string(),
    pairSep: fc.string(),
    pairEnd: fc.constantFrom('', '$secret', ';'),
    escape: fc.dictionary(fc.string({ minLength: 1 }), fc.string(), {
      maxKeys: 2,
      noNullPrototype: true,
    }),
    encode: fc.constantFrom(...textEncodings),
    case: fc.constantFrom(...cases),
    nameCase: fc.constantFrom(...cases),
    json: fc.constantFrom(...jsonTexts),
    lengths: fc.boolean(),
    add: fc.dictionary(fc.constant('token'), fc.constantFrom('$secret', 'a', '$extra:a'), {
      noNullPrototype: true,
    }),
  }),
  message,
  join: fc.string(),
  basePath: fc.string(),
  encode: fc.record({
    block: fc.constantFrom(...blockEncodings),
    message: fc.constantFrom(...textEncodings),
    lower: fc.boolean(),
  }),
  sub: fc.dictionary(
    fc.constantFrom('a', 'b'),
    fc.record({ message, steps, key }, { requiredKeys: ['message', 'steps'] }),
    { noNullPrototype: true },
  ),
  steps,
  key,
  output: fc.constantFrom(...outputs),
});

/** Without the pairs of fields that would give away a part of the secret. */
const anyRecipe = anyFields.map((recipe): Recipe => {
  const { params, encode } = recipe;
  const table = Object.values(params.add).every((value) => value !== '$secret')
    ? params.escape
    : { ':': '\\:', '|': '\\|' };
  const lower = encode.lower && encode.block !== 'base64';
  return { ...recipe, params: { ...params, escape: table }, encode: { ...encode, lower } };
});

test('any recipe comes back whole from its short form, as JSON', () => {
  fc.assert(
    fc.property(anyRecipe, (recipe) => {
      expect(parseRecipe(JSON.parse(JSON.stringify(formatRecipe(recipe))))).toEqual(recipe);
    }),
  );
});

const part = { message: ['x'], steps: ['md5'] };
const inSub = (change: object, others = {}) => ({
  ...short,
  sub: { a: { ...part, ...change }, ...others },
});

test.each<[object, string]>([
  [{ steps: ['md5'] }, 'sign.message: is missing'],
  [{ ...short, message: [] }, 'sign.message: is empty'],
  [{ ...short, steps: [] }, 'sign.message: $params without a digest after it'],
  [{ ...short, steps: ['append:x'] }, 'sign.message: $params without a digest after it'],
  [{ ...short, steps: ['md5', 7] }, 'sign.steps[1]: must be a text'],
  [{ ...short, steps: ['md5', 'md6'] }, 'sign.steps[1]: unknown step md6'],
  [{ ...short, steps: ['md5:HEx'] }, 'sign.steps[0]: unknown step md5:HEx'],
  [{ ...short, steps: ['md5', 'append:$nonce'] }, 'sign.steps[1]: unknown token $nonce'],
  [
    { ...short, steps: ['md5:raw', 'upper', 'md5'] },
    'sign.steps[1]: upper takes text, not the raw bytes',
  ],
  [
    { ...short, steps: ['md5', 'append:$secret'] },
    'sign.steps[1]: $secret without a digest after it',
  ],
  [{ ...short, params: null }, 'sign.params: must be an object'],
  [{ ...short, params: { order: 'names' } }, 'sign.params.order: cannot be "names"'],
  [{ ...short, params: { order: ['a', 1] } }, 'sign.params.order[1]: must be a text'],
  [{ ...short, params: { sort: 'name' } }, 'sign.params.sort: unknown field'],
  [{ ...short, params: JSON.parse('{"__proto__": 1}') }, 'sign.params.__proto__: unknown field'],
  [
    { ...short, params: { names: false, values: false } },
    'sign.params: names and values are both false',
  ],
  [{ ...short, params: { escape: { a: null } } }, 'sign.params.escape.a: must be a text'],
  [{ ...short, params: { pairEnd: '$params' } }, 'sign.params.pairEnd: takes no token but $secret'],
  [
    { ...short, params: { order: ['a'], add: { k: '$secret' } } },
    'sign.params.add: k is not in the order',
  ],
  [{ ...short, params: { add: { k: '$params' } } }, 'sign.params.add.k: takes no $params'],
  [{ ...short, params: { add: { k: '$sub:a' } } }, 'sign.params.add.k: takes no $sub'],
  [{ ...short, params: { add: { k: 1 } } }, 'sign.params.add.k: must be a text'],
  [
    { ...short, message: [`$param:a${'.lower.upper'.repeat(4)}.lower`] },
    'sign.message[0]: has more than 8 modifiers of $param:a',
  ],
  [{ ...short, params: { json: true } }, 'sign.params.json: cannot be true'],
  [inSub({ key: { token: [] } }), 'sign.sub.a.key.token: unknown field'],
  [
    inSub({ steps: ['hmac-md5'], key: { tokens: ['$sub:a'] } }),
    'sign.sub.a: takes $sub:a, which is not described before it',
  ],
  [{ ...short, encode: { lower: 'yes' } }, 'sign.encode.lower: must be true or false'],
  [{ ...short, encode: { message: 'base64' } }, 'sign.encode.message: cannot be "base64"'],
  [{ ...short, key: { tokens: ['$sekret'] } }, 'sign.key.tokens[0]: unknown token $sekret'],
  [{ ...short, output: 'Hex' }, 'sign.output: cannot be "Hex"'],
  [{ ...short, message: ['$sub:a'] }, 'sign.sub: takes $sub:a, which is not described'],
  [{ ...short, message: ['$sub'] }, 'sign.message[0]: unknown token $sub'],
  [{ ...short, sub: part }, 'sign.sub.message: must be an object'],
  [{ ...short, sub: { '1': part } }, 'sign.sub.1: is not a name'],
  [
    { ...inSub({ steps: ['hmac-md5'] }), key: { tokens: ['$sub:a'] } },
    'sign.sub.a: takes $sub:a, which is not described',
  ],
  [inSub({ message: ['$sub:b'] }, { b: part }), 'sign.sub.a: takes $sub:b, which is not described'],
  [inSub({ steps: ['md5:raw'] }), 'sign.sub.a.steps: the last digest gives raw bytes'],
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
    { params: { escape: { '\udc00': '' } } },
    { params: { add: { k: '\ude00' } } },
  ])
    expect(() => parseRecipe({ ...short, ...half })).toThrow(
      'recipe: has a text with half of a character',
    );
});
