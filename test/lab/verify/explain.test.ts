import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileRecipe } from '../../../src/core/signing/compile-recipe.js';
import { completeRecipe, type RecipeJson } from '../../../src/core/signing/recipe.js';
import { Secret } from '../../../src/core/signing/secret.js';
import { vectors } from '../../support/signing-corpus.js';
import { requestOf } from '../../support/signing-requests.js';

const request = requestOf([
  ['name', '<secret> & s3cret'],
  ['code', ''],
]);

function explain(recipe: RecipeJson) {
  return compileRecipe(completeRecipe(recipe)).explain(request, new Secret('s3cret'));
}

test('the secret appears as <secret>; a parameter that looks like it is left alone', () => {
  const recipe = { message: ['$secret', '$params', '&key=$secret'], steps: ['md5'] };
  expect(explain(recipe)).toMatchObject({
    params: 'code=&name=<secret> & s3cret',
    message: '<secret>code=&name=<secret> & s3cret&key=<secret>',
  });
});

test('no text of the request or the recipe is shown as a secret', () => {
  const halves = ['\ud800', '\udc00', '\udc01', 'x'];
  const odd = fc.array(fc.constantFrom(...halves), { maxLength: 4 }).map((units) => units.join(''));
  fc.assert(
    fc.property(odd, (value) => {
      const recipe = completeRecipe({ message: ['$params', '/x'], steps: ['md5'] });
      const { message } = compileRecipe(recipe).explain(
        requestOf([['a', value]]),
        new Secret('s3cret'),
      );
      expect(message).toBe(`a=${value}/x`.toWellFormed());
    }),
  );
  for (const half of halves.slice(0, 3))
    expect(() => compileRecipe({ message: ['$params', half], steps: ['md5'] })).toThrow(
      'half of a character',
    );
});

test('a secret that was sent as a parameter is not shown there either', () => {
  const swapped = { ...request, params: [['app_key', 's3cret'] as const, ...request.params] };
  const recipe = completeRecipe({ message: ['$params', '$param:app_key'], steps: ['md5'] });
  const shown = compileRecipe(recipe).explain(swapped, new Secret('s3cret'));
  expect(shown.message).toBe('app_key=<secret>&code=&name=<secret> & s3cret<secret>');
  expect(shown.digest).toBe(compileRecipe(recipe).sign(swapped, new Secret('s3cret')).digest);
});

test('encoding, folding and digesting do not change what the secret is shown as', () => {
  const shown = explain({
    params: { add: { key: '$secret' }, encode: 'form' },
    message: ['K=$secret.upper', '&', '$secret.md5', '&', '$params.rfc3986.form.lower'],
    steps: ['md5'],
  });
  expect(shown.params).toBe('code=&key=<secret>&name=%3Csecret%3E+%26+s3cret');
  expect(shown.message).toBe(
    'K=<secret>&<secret>&code%253d%2526key%253d<secret>%2526name%253d%25253csecret%25253e%252b%252526%252bs3cret',
  );
});

test('a block that cannot be encoded around the secret is hidden whole', () => {
  const block = { steps: ['md5'], message: ['$params.base64', '.'] };
  const add = { key: '$secret' };
  expect(explain({ ...block, params: { add } }).message).toBe('<secret>.');
  expect(explain({ ...block, params: { include: ['code'] } }).message).toBe('Y29kZT0=.');
});

test('the tokens that the request has nothing for are named, once each', () => {
  const recipe = {
    message: ['$param:code', '$param:nonce.md5', '$param:nonce'],
    steps: ['md5'],
    key: { tokens: ['$secret', '$param:salt'] },
  };
  expect(explain(recipe).missing).toEqual(['$param:nonce']);
  expect(explain({ ...recipe, steps: ['hmac-md5'] }).missing).toContain('$param:salt');
});

test.each(vectors)('$name: what is shown is what is signed, but for the secret', (vector) => {
  const recipe = completeRecipe(vector.recipe);
  const shown = compileRecipe(recipe).explain(vector.request, new Secret(vector.secret));
  const signed = compileRecipe(recipe).sign(vector.request, new Secret(vector.secret));
  expect({
    params: shown.params.replaceAll('<secret>', vector.secret),
    message: shown.message.replaceAll('<secret>', vector.secret),
    digest: shown.digest,
  }).toEqual(signed);
});

test('what is shown does not depend on the secret', () => {
  const independent = vectors.filter(
    ({ recipe }) => recipe.params?.order !== 'value' && recipe.key?.decode !== 'hex',
  );
  // One that the request holds by chance is masked there too.
  const secret = fc.string().map((text) => `§${text}`);
  fc.assert(
    fc.property(
      fc.constantFrom(...independent),
      secret,
      secret,
      ({ recipe, request }, one, other) => {
        const [a, b] = [one, other].map((text) =>
          compileRecipe(completeRecipe(recipe)).explain(request, new Secret(text)),
        );
        expect([a?.params, a?.message]).toEqual([b?.params, b?.message]);
      },
    ),
  );
});

test('the secret in a value that the rule adds is not shown, and sorted as it is signed', () => {
  const add = { k1: 'zz$secret', k2: '$secret.base64', k3: 'a$param:x' };
  const shown = explain({
    params: { add, order: 'value' },
    message: ['$params'],
    steps: ['md5'],
  });
  // s3cret in base64 begins with c: before <secret> & s3cret would be wrong, so it is behind.
  expect(shown.message).toBe('code=&name=<secret> & s3cret&k3=a&k2=<secret>&k1=zz<secret>');
  expect(
    explain({ params: { add, order: 'sent' }, message: ['$params'], steps: ['md5'] }).message,
  ).toBe('name=<secret> & s3cret&code=&k1=zz<secret>&k2=<secret>&k3=a');
});

test('a secret that was sent in the query is not shown there either', () => {
  const sent = { ...request, query: 'a=1&app_key=s3cret&b=%733cret&c=s3cre' };
  const spaced = compileRecipe(completeRecipe({ message: ['$query'], steps: ['md5'] }));
  const shown = spaced.explain({ ...request, query: 'k=a+b&l=a%20b' }, new Secret('a b'));
  expect(shown.message).toBe('k=<secret>&l=<secret>');
  const recipe = completeRecipe({ message: ['$path?$query', '$query.md5'], steps: ['md5'] });
  const { message } = compileRecipe(recipe).explain(sent, new Secret('s3cret'));
  expect(message).toBe('/v1/users?a=1&app_key=<secret>&b=<secret>&c=s3cre<secret>');
});

test('a query that is not known is named; one that cannot be is not', () => {
  const missing = (change: object) =>
    compileRecipe(completeRecipe({ message: ['$path?$query'], steps: ['md5'] })).explain(
      { ...request, ...change },
      new Secret('s3cret'),
    ).missing;
  expect(missing({})).toEqual(['$query']);
  expect([missing({ query: '' }), missing({ body: 'code=' }), missing({ params: [] })]).toEqual([
    [],
    [],
    [],
  ]);
});
