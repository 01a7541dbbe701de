import { createHash, createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { compileRecipe } from '../../../src/core/signing/compile-recipe.js';
import { completeRecipe, type RecipeJson } from '../../../src/core/signing/recipe.js';
import { requestOf, signWith } from '../../support/signing-requests.js';

const request = requestOf([['timestamp', '1700000000']], { extra: { hex: 'zz', nonce: 'ff' } });
const digestOf = (recipe: Omit<RecipeJson, 'message'>) =>
  signWith({ message: ['abc'], ...recipe }, request).digest;
const md5 = (data: string | Buffer) => createHash('md5').update(data).digest('hex');

test.each([
  ['hex', '900150983cd24fb0d6963f7d28e17f72'],
  ['HEX', '900150983CD24FB0D6963F7D28E17F72'],
  ['base64', 'kAFQmDzST7DWlj99KOF/cg=='],
  ['base64url', 'kAFQmDzST7DWlj99KOF_cg'],
  ['base64-of-hex', 'OTAwMTUwOTgzY2QyNGZiMGQ2OTYzZjdkMjhlMTdmNzI='],
] as const)('output %s writes the last digest', (output, expected) => {
  expect(digestOf({ steps: ['md5'], output })).toBe(expected);
});

test('sha384 is the one of FIPS 180-4 and RFC 4231', () => {
  expect(digestOf({ steps: ['sha384'] })).toMatch(
    /^cb00753f45a35e8bb5a03d699ac65007272c32ab0eded163/,
  );
  const key = { tokens: ['Jefe'] };
  const message = ['what do ya want for nothing?'];
  expect(signWith({ message, steps: ['hmac-sha384'], key }, request).digest).toMatch(
    /^af45d2e376484031617f78d2b58a6b1b9c7e/,
  );
});

test('a label before a digest, and the padding of base64url behind it, are steps', () => {
  expect(digestOf({ steps: ['md5', 'prepend:MD5='] })).toBe('MD5=900150983cd24fb0d6963f7d28e17f72');
  expect(digestOf({ steps: ['md5', 'append:=='], output: 'base64url' })).toBe(
    'kAFQmDzST7DWlj99KOF_cg==',
  );
});

test('output decides over the last step’s own format', () => {
  expect(digestOf({ steps: ['md5:raw'] })).toBe('900150983cd24fb0d6963f7d28e17f72');
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

test('text steps before the digest change the message', () => {
  expect(digestOf({ steps: ['upper', 'append:$$', 'md5'] })).toBe(md5('ABC$'));
  expect(digestOf({ steps: ['lower', 'prepend:v0:$method:', 'md5'] })).toBe(md5('v0:GET:abc'));
});

test('hmac steps take the key, made of tokens and decoded', () => {
  const hmac = (key: string | Buffer) => createHmac('sha256', key).update('abc').digest('hex');
  const steps = ['hmac-sha256'];
  expect(digestOf({ steps })).toBe(hmac('s3cret'));
  expect(digestOf({ steps, key: { tokens: ['$secret', '&'] } })).toBe(hmac('s3cret&'));
  expect(digestOf({ steps, key: { tokens: ['00', '$extra:nonce'], decode: 'hex' } })).toBe(
    hmac(Buffer.from([0, 255])),
  );
  expect(digestOf({ steps, key: { tokens: ['-_8='], decode: 'base64url' } })).toBe(
    hmac(Buffer.from([251, 255])),
  );
});

test.each(['base64', 'base64url'] as const)(
  'a last character on its own is no %s, and is not left out',
  (decode) => {
    const sign = () => digestOf({ steps: ['hmac-md5'], key: { tokens: ['c2VjcmV0c'], decode } });
    expect(sign).toThrow(`key.decode: the key is not ${decode}`);
  },
);

test('a key that is not what key.decode says is an error that does not show it', () => {
  const sign = () =>
    digestOf({ steps: ['hmac-md5'], key: { tokens: ['$extra:hex'], decode: 'hex' } });
  expect(sign).toThrow('key.decode: the key is not hex');
  expect(sign).not.toThrow('zz');
});

test('steps after the last digest work on the written signature', () => {
  expect(digestOf({ steps: ['md5', 'slice:8:24', 'upper', 'append:,$param:timestamp'] })).toBe(
    '3CD24FB0D6963F7D,1700000000',
  );
});

test('$sub:NAME is a digest of its own; one may hold others, and is computed once', () => {
  const first = { message: ['$secret.upper', '$param:timestamp'], steps: ['md5:HEX', 'slice:0:8'] };
  const names = Array.from({ length: 25 }, (_, index) => `a${index}`);
  const doubled = names.map((name, index) => [
    name,
    index === 0 ? first : { message: [`$sub:a${index - 1}`, `$sub:a${index - 1}`], steps: ['md5'] },
  ]);
  const sub = Object.fromEntries(doubled);
  const { message } = signWith(
    { message: ['$sub:a0', '-', '$sub:a24'], sub, steps: ['md5'] },
    request,
  );
  const start = md5('S3CRET1700000000').toUpperCase().slice(0, 8);
  expect(message).toBe(`${start}-${names.slice(1).reduce((text) => md5(text + text), start)}`);
  // Without a key of its own, it has that of the recipe; docs/signing.md has rules with one.
  const shared = { a: { message: ['$secret'], steps: ['hmac-md5'] } };
  expect(signWith({ message: ['$sub:a'], steps: ['md5'], sub: shared }, request).message).toBe(
    createHmac('md5', 's3cret').update('s3cret').digest('hex'),
  );
});

test.each<[string[], RecipeJson['output'], number | null]>([
  [['md5'], 'hex', 32],
  [['hmac-sha1'], 'base64', 28],
  [['sha256'], 'base64url', 43],
  [['sha512'], 'base64-of-hex', 172],
  [['md5', 'slice:8:24'], 'hex', 16],
  [['md5', 'slice:8:99', 'append:-$$', 'upper'], 'hex', 26],
  [['md5', 'slice:24:8', 'append:-'], 'hex', 1],
  [['md5', 'append:$param:timestamp'], 'hex', null],
])('%j as %s has %s characters', (steps, output, length) => {
  const recipe = completeRecipe({ message: ['x'], steps, ...(output && { output }) });
  expect(compileRecipe(recipe).digestLength).toBe(length);
  if (length !== null) expect(signWith(recipe, request).digest).toHaveLength(length);
});
