import { describe, expect, it, test } from 'vitest';
import { compileRecipes, type SigningChoice } from '../../src/signing/app-signatures.js';
import { compileRecipe } from '../../src/signing/compile-recipe.js';
import { defaultRecipes, presets } from '../../src/signing/presets.js';
import { completeRecipe, type Recipe, type RecipeJson } from '../../src/signing/recipe.js';
import { Secret } from '../../src/signing/secret.js';
import {
  checkVectors,
  makeVectors,
  parseVectors,
  type Vector,
  vectorSecret,
} from '../../src/signing-tools/vectors.js';

const pair: SigningChoice = {
  kind: 'pair',
  signers: compileRecipes(defaultRecipes),
  recipes: defaultRecipes,
};

function one(recipe: Recipe): SigningChoice {
  return { kind: 'one', signer: compileRecipe(recipe), recipe };
}

/** The vectors of `right`, computed by an implementation that signs by `recipe`. */
function computedBy(recipe: Recipe, right: Recipe): Vector[] {
  return makeVectors(one(right)).vectors.map(({ name, request }) => ({
    name,
    request,
    signatures: { sign: compileRecipe(recipe).sign(request, new Secret(vectorSecret)) },
  }));
}

test('our own vectors are right, by every preset', () => {
  for (const { recipe } of presets) {
    const checks = checkVectors(one(recipe), makeVectors(one(recipe)).vectors, null);
    expect(checks.every(({ result }) => result === 'right')).toBe(true);
  }
  const checks = checkVectors(pair, makeVectors(pair).vectors, vectorSecret);
  expect(checks.map(({ result }) => result)).toEqual(new Array(checks.length).fill('right'));
});

test('what is written as JSON comes back the same', () => {
  const vectors = makeVectors(pair).vectors;
  const returned = parseVectors(JSON.parse(JSON.stringify({ recipes: defaultRecipes, vectors })));
  expect(returned).toMatchObject({ recipes: defaultRecipes, secret: null });
  expect(returned.vectors).toEqual(vectors.map(({ why: _, ...vector }) => vector));
});

describe('an implementation that is wrong in one respect fails', () => {
  const params = defaultRecipes.sign.params;
  const wrong: [string, RecipeJson['params'], string][] = [
    ['empty values', { empty: 'keep' }, 'empty value'],
    ['encoding', { encode: 'rfc3986' }, 'reserved characters'],
    ['encoding of non-ASCII', { encode: 'form' }, 'non-ASCII'],
    ['an order that ignores letter case', { order: 'name-nocase' }, 'mixed case'],
    ['an order of pairs', { order: 'pair' }, 'names that begin alike'],
    ['an order of values', { order: 'value' }, 'values against names'],
  ];

  it.each(wrong)('over %s', (_, change, vector) => {
    const theirs = completeRecipe({ ...defaultRecipes.sign, params: { ...params, ...change } });
    const checks = checkVectors(one(defaultRecipes.sign), computedBy(theirs, defaultRecipes.sign), null);
    expect(checks.find((check) => check.vector === vector)).toMatchObject({
      result: 'wrong',
      fault: { stage: 'params' },
    });
    expect(checks.find((check) => check.vector === vector)?.fault?.causes).not.toEqual([]);
  });

  it('in the digest alone, and the cause is named', () => {
    const theirs = { ...defaultRecipes.sign, steps: ['sha1'] };
    const [first] = checkVectors(one(defaultRecipes.sign), computedBy(theirs, defaultRecipes.sign), null);
    expect(first?.fault).toMatchObject({ stage: 'digest', causes: ['It was signed by sha1.'] });
  });
});

test('a digest that nothing gives is told as what it may be, where the text came back as well', () => {
  const [ours] = makeVectors(one(defaultRecipes.sign)).vectors;
  if (ours === undefined) throw new Error('there are no vectors');
  const { message } = ours.signatures.sign ?? {};
  const causesOf = (stages: object) => {
    const returned = parseVectors({
      secret: vectorSecret,
      vectors: [{ ...ours, signatures: { sign: stages } }],
    });
    const [check] = checkVectors(one(defaultRecipes.sign), returned.vectors, returned.secret);
    return check?.fault?.causes;
  };
  const digest = '0'.repeat(32);
  expect(causesOf({ message, digest })).toEqual([
    expect.stringMatching(/^The text is the same, its digest is not/),
  ]);
  expect(causesOf({ digest })).toEqual([]);
});

test('the text of a module is compared by pairs as they are usually written', () => {
  const module: SigningChoice = { ...pair, recipes: { app_sign: null, sign: null } };
  const ours = makeVectors(pair).vectors.slice(0, 1);
  const vectors = ours.map((vector) => {
    const message = `${vector.signatures.sign?.message}`.replace('&key=', '&extra=1&key=');
    return { ...vector, signatures: { sign: { message } } };
  });
  const checks = checkVectors(module, vectors, vectorSecret);
  expect(checks.find(({ signature }) => signature === 'sign')?.fault?.causes).toEqual([
    'Theirs has also extra.',
  ]);
});

test('stages that did not come back are not checked, signatures without any are missing', () => {
  const [first, second] = makeVectors(pair).vectors;
  const digest = first?.signatures.sign?.digest ?? '';
  const returned = parseVectors({
    vectors: [
      { ...first, signatures: { app_sign: {}, sign: { digest } } },
      { ...second, signatures: {} },
    ],
  });
  expect(checkVectors(pair, returned.vectors, null).map(({ result }) => result)).toEqual([
    'missing',
    'right',
    'missing',
    'missing',
  ]);
});

const [{ request } = {}] = makeVectors(pair).vectors;

test.each([
  [{}, 'vectors: must be a list'],
  [{ vectors: [{ name: 'a', request }] }, 'vectors[0].signatures: must be an object'],
  [{ vectors: [{ name: 'a', signatures: {} }] }, 'vectors[0].request: must be an object'],
  [
    { vectors: [{ name: 'a', request, signatures: { sign: { digest: 1 } } }] },
    'vectors[0].signatures.sign.digest',
  ],
  [{ vectors: [], recipe: { message: [], steps: ['md5'] } }, 'recipe.message: is empty'],
])('%j is refused: %s', (json, problem) => {
  expect(() => parseVectors(json)).toThrow(problem);
});
