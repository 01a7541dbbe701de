import { createHash, createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { compileRecipe } from '../../../src/core/signing/compile-recipe.js';
import { type Algorithm, algorithms } from '../../../src/core/signing/digest-algorithms.js';
import { completeRecipe, type RecipeJson } from '../../../src/core/signing/recipe.js';
import { requestOf, signWith } from '../../support/signing-requests.js';

const request = requestOf([
  ['timestamp', '1700000000'],
  ['hex', 'zz'],
  ['nonce', 'ff'],
]);
const digestOf = (recipe: Omit<RecipeJson, 'message'>) =>
  signWith({ message: ['abc'], ...recipe }, request).digest;
const md5 = (data: string | Buffer) => createHash('md5').update(data).digest('hex');

test.each([
  ['hex', '900150983cd24fb0d6963f7d28e17f72'],
  ['HEX', '900150983CD24FB0D6963F7D28E17F72'],
  ['base64', 'kAFQmDzST7DWlj99KOF/cg=='],
  ['base64url', 'kAFQmDzST7DWlj99KOF_cg'],
] as const)('output %s writes the last digest', (output, expected) => {
  expect(digestOf({ steps: ['md5'], output })).toBe(expected);
});

/**
 * The beginnings of the digest of "abc" and of the HMAC of "what do ya want for nothing?" with the
 * key "Jefe": FIPS 180-4 and RFC 1321; RFC 2202 and RFC 4231.
 */
const published: Readonly<Record<Algorithm, readonly [digest: string, hmac: string]>> = {
  md5: ['900150983cd24fb0d6963f7d28e17f72', '750c783e6ab0b503eaa86e310a5db738'],
  sha1: ['a9993e364706816aba3e25717850c26c', 'effcdf6ae5eb2fa2d27416d5f184df9c'],
  sha256: ['ba7816bf8f01cfea414140de5dae2223', '5bdcc146bf60754e6a042426089575c7'],
  sha384: ['cb00753f45a35e8bb5a03d699ac65007', 'af45d2e376484031617f78d2b58a6b1b'],
  sha512: ['ddaf35a193617abacc417349ae204131', '164b7a7bfcf819e2e395fbe73b56e0a3'],
};

test.each(algorithms)('%s is the published one', (algorithm) => {
  const [digest, hmac] = published[algorithm];
  expect(digestOf({ steps: [algorithm] }).slice(0, digest.length)).toBe(digest);
  const key = { tokens: ['Jefe'] };
  const message = ['what do ya want for nothing?'];
  const keyed = signWith({ message, steps: [`hmac-${algorithm}`], key }, request);
  expect(keyed.digest.slice(0, hmac.length)).toBe(hmac);
});

test('output decides over the last step’s own format', () => {
  expect(digestOf({ steps: ['md5:raw'] })).toBe('900150983cd24fb0d6963f7d28e17f72');
});

test('a text step changes what it is given', () => {
  expect(digestOf({ steps: ['append:$$', 'md5'] })).toBe(md5('abc$'));
  expect(digestOf({ steps: ['prepend:v0:$method:', 'md5'] })).toBe(md5('v0:GET:abc'));
  expect(digestOf({ steps: ['md5', 'slice:8:24'], output: 'HEX' })).toBe('3CD24FB0D6963F7D');
});

test('each step takes what the one before it gave, in that one’s format', () => {
  const abc = createHash('md5').update('abc');
  const raw = abc.copy().digest();
  expect(digestOf({ steps: ['md5', 'md5'] })).toBe(md5(raw.toString('hex')));
  expect(digestOf({ steps: ['md5:HEX', 'md5'] })).toBe(md5(raw.toString('hex').toUpperCase()));
  expect(digestOf({ steps: ['md5:raw', 'md5'] })).toBe(md5(raw));
  expect(digestOf({ steps: ['md5:base64', 'md5'] })).toBe(md5(raw.toString('base64')));
  expect(digestOf({ steps: ['md5:raw', 'append:$secret', 'prepend:>', 'md5'] })).toBe(
    md5(Buffer.concat([Buffer.from('>'), raw, Buffer.from('s3cret')])),
  );
});

test('hmac steps take the key, made of tokens and decoded', () => {
  const hmac = (key: string | Buffer) => createHmac('sha256', key).update('abc').digest('hex');
  const steps = ['hmac-sha256'];
  expect(digestOf({ steps })).toBe(hmac('s3cret'));
  expect(digestOf({ steps, key: { tokens: ['$secret', '&'] } })).toBe(hmac('s3cret&'));
  expect(digestOf({ steps, key: { tokens: ['00', '$param:nonce'], decode: 'hex' } })).toBe(
    hmac(Buffer.from([0, 255])),
  );
  expect(digestOf({ steps, key: { tokens: ['-_8='], decode: 'base64' } })).toBe(
    hmac(Buffer.from([251, 255])),
  );
});

test('a last character on its own is no base64, and is not left out', () => {
  const key = { tokens: ['c2VjcmV0c'], decode: 'base64' } as const;
  expect(() => digestOf({ steps: ['hmac-md5'], key })).toThrow('key.decode: the key is not base64');
});

test('a key that is not what key.decode says is an error that does not show it', () => {
  const sign = () =>
    digestOf({ steps: ['hmac-md5'], key: { tokens: ['$param:hex'], decode: 'hex' } });
  expect(sign).toThrow('key.decode: the key is not hex');
  expect(sign).not.toThrow('zz');
});

test.each<[string[], RecipeJson['output'], number]>([
  [['md5'], 'hex', 32],
  [['hmac-sha1'], 'base64', 28],
  [['sha256'], 'base64url', 43],
  [['md5', 'slice:8:24'], 'hex', 16],
  [['md5', 'slice:8:99'], 'HEX', 24],
  [['md5', 'slice:24:8'], 'hex', 0],
])('%j as %s has %s characters', (steps, output, length) => {
  const recipe = completeRecipe({ message: ['x'], steps, ...(output && { output }) });
  expect(compileRecipe(recipe).digestLength).toBe(length);
  expect(signWith(recipe, request).digest).toHaveLength(length);
});
