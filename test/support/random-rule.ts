import fc from 'fast-check';
import type { RecipeJson } from '../../src/core/signing/recipe.js';

/** Usual choices of a platform of this contract, each as the part of a recipe that says it. */
const separators = fc.constantFrom(
  ['=', '&'],
  ['', ''],
  ['=', ''],
  [':', ','],
  ['=', '|'],
  ['=', '\n'],
  ['=', '&'],
);
const encoders = fc.constantFrom<RecipeJson['params']>(
  {},
  {},
  {},
  { encode: 'rfc3986' },
  { encode: 'form' },
  { encode: 'form-php' },
  { encode: 'javascript' },
);
const places = fc.constantFrom<RecipeJson['params']>({}, {}, { from: 'query' });
const digests = fc.constantFrom<Pick<RecipeJson, 'steps' | 'output'>>(
  { steps: ['md5'] },
  { steps: ['md5'], output: 'HEX' },
  { steps: ['sha256', 'slice:0:32'] },
  { steps: ['sha1', 'slice:0:32'], output: 'HEX' },
  { steps: ['sha256', 'slice:16:48'] },
  { steps: ['sha512', 'slice:0:32'], output: 'base64' },
  { steps: ['md5', 'md5'] },
);
const keyed = fc.constantFrom<Pick<RecipeJson, 'steps' | 'output'>>(
  { steps: ['hmac-md5'] },
  { steps: ['hmac-sha256', 'slice:0:32'] },
  { steps: ['hmac-sha1', 'slice:0:32'], output: 'HEX' },
  { steps: ['hmac-sha256', 'slice:0:32'], output: 'base64url' },
);
const secretNames = fc.constantFrom('key', 'secret', 'app_secret', 'appSecret', 'secret_key');
const addresses = fc.constantFrom<readonly string[]>(
  [],
  [],
  [],
  [],
  ['$endpoint'],
  ['$method', '$path'],
  ['$url', '?'],
);

/** Where the secret stands: a message, or parameters with it. */
const placings = (pairSep: string, kvSep: string): fc.Arbitrary<readonly string[]> =>
  fc.oneof(
    fc.constantFrom<readonly string[]>(
      ['$params', '$secret'],
      ['$secret', '$params'],
      ['$secret', '$params', '$secret'],
      ['$params', '&', '$secret'],
      ['$params', '$secret.md5'],
    ),
    secretNames.map((name) => ['$params', `${pairSep}${name}${kvSep}`, '$secret']),
  );

const selections = fc.record({
  place: places,
  exclude: fc.constantFrom<readonly string[]>([], ['app_sign']),
  empty: fc.constantFrom<'keep' | 'drop'>('keep', 'drop'),
  order: fc.constantFrom<'name' | 'sent' | 'value'>('name', 'name', 'name', 'sent', 'value'),
  names: fc.constantFrom(true, true, true, false),
  separators,
  encode: encoders,
});

/** A search ends before it comes to rules of which more than two parts are rare. */
function isWithinReach({ params, steps }: RecipeJson): boolean {
  const rareParts = [
    [',', '|', '\n'].includes(params?.pairSep ?? ''),
    ['form-php', 'javascript'].includes(String(params?.encode)),
    params?.order !== 'name',
    ['md5 md5', 'sha256 slice:16:48', 'sha512 slice:0:32'].includes(steps.join(' ')),
  ];
  return rareParts.filter(Boolean).length <= 2;
}

const productOfChoices: fc.Arbitrary<RecipeJson> = selections.chain(
  ({ place, exclude, empty, order, names, separators: [kvSep = '', pairSep = ''], encode }) => {
    const params = { ...place, exclude, empty, order, names, kvSep, pairSep, ...encode };
    // Rules with other parts of the request are plain otherwise.
    const isPlain = order === 'name' && names && pairSep === '&';
    const fronts = isPlain ? addresses : fc.constant([]);
    const inText = fc
      .record({
        front: fronts,
        placing: names ? placings(pairSep, kvSep) : placings('&', '='),
        digest: digests,
      })
      .map(
        ({ front, placing, digest }): RecipeJson => ({
          params,
          message: placing.flatMap((entry) => (entry === '$params' ? [...front, entry] : [entry])),
          ...digest,
        }),
      );
    const asKey = fc
      .record({ front: fronts, digest: keyed })
      .map(
        ({ front, digest }): RecipeJson => ({ params, message: [...front, '$params'], ...digest }),
      );
    const asPair = fc.record({ name: secretNames, digest: digests }).map(
      ({ name, digest }): RecipeJson => ({
        params: { ...params, add: { [name]: '$secret' } },
        message: ['$params'],
        ...digest,
      }),
    );
    return fc.oneof({ arbitrary: inText, weight: 3 }, asKey, asPair);
  },
);

/** A rule for `sign` of the product of usual choices. */
export const randomSignRule = productOfChoices.filter(isWithinReach);

/** A rule for `app_sign`: a few common parameters in some order, or all of them. */
export const randomAppSignRule: fc.Arbitrary<RecipeJson> = fc
  .record({
    names: fc.shuffledSubarray(['app_key', 'timestamp', 'random', 'tenant_code'], {
      minLength: 1,
      maxLength: 3,
    }),
    joined: fc.constantFrom<RecipeJson['params']>(
      { names: false, pairSep: '' },
      { names: false, pairSep: '&' },
      { names: false, pairSep: '|' },
      {},
    ),
    placing: fc.constantFrom(
      ['$params', '$secret'],
      ['$secret', '$params'],
      ['$params', '&key=', '$secret'],
    ),
    digest: fc.constantFrom<Pick<RecipeJson, 'steps' | 'output'>>(
      { steps: ['md5'] },
      { steps: ['md5'], output: 'HEX' },
      { steps: ['sha1'] },
      { steps: ['sha256'] },
      { steps: ['hmac-sha256'], output: 'base64' },
    ),
  })
  .map(
    ({ names, joined, placing, digest }): RecipeJson => ({
      params: { ...joined, order: names },
      message: digest.steps[0] === 'hmac-sha256' ? ['$params'] : placing,
      ...digest,
    }),
  );
