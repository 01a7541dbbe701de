import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseTemplate } from '../../../src/core/signing/template.js';
import { requestOf, signWith } from '../../support/signing-requests.js';

const request = requestOf(
  [
    ['a', '1'],
    ['a.b', '2'],
    ['a.md5', '3'],
    ['billplz[id]', '4'],
    ['a', 'again'],
    ['nonce', 'n/1'],
    ['a:b', 'c'],
  ],
  { method: 'PUT', body: 'x=1' },
);

const message = (...entries: string[]) =>
  signWith({ message: entries, steps: ['md5'] }, request).message;

test('every token stands for its part of the request', () => {
  expect(message('$method', ' ', '$url')).toBe('PUT https://api.example.com:8443/v1/users');
  expect(message('$host', '$path', '?', '$body')).toBe('api.example.com:8443/v1/users?x=1');
  expect(message('$param:a', '$param:nonce', '$secret')).toBe('1n/1s3cret');
});

test('a token ends at the first character that cannot belong to it', () => {
  expect(message('k=$secret&n=$param:nonce;')).toBe('k=s3cret&n=n/1;');
  expect(message('v0:$secret.$body')).toBe('v0:s3cret.x=1');
  expect(message(`$param:a.b..${'$'}{secret}.:$method:$body.`)).toBe('2..s3cret.:PUT:x=1.');
});

test('$$ is a literal dollar, whatever follows', () => {
  expect(message('$$secret$$', '$$$secret')).toBe('$secret$$s3cret');
});

test('a parameter name may have dots: known modifiers at its end are modifiers, the rest is the name', () => {
  expect(message('$param:a.b')).toBe('2');
  expect(message('$param:a.b.md5')).toBe('c81e728d9d4c2f636f067f89cc14862c');
  expect(message('$param:a.md5')).toBe('c4ca4238a0b923820dcc509a6f75849b');
});

test('braces take any name as it stands and keep a token apart from what follows', () => {
  expect(message(`${'$'}{param:a.md5}`)).toBe('3');
  expect(message(`${'$'}{param:billplz[id]}`)).toBe('4');
  expect(message(`${'$'}{param:a:b}`)).toBe('c');
  expect(message(`${'$'}{secret}x`)).toBe('s3cretx');
  expect(message(`${'$'}{param:a}.md5`)).toBe('c4ca4238a0b923820dcc509a6f75849b');
});

test('modifiers are applied from left to right', () => {
  expect(message('$secret.upper.lower.upper')).toBe('S3CRET');
  expect(message('$param:nonce.rfc3986.lower')).toBe('n%2f1');
  expect(message('$param:a.MD5')).toBe('C4CA4238A0B923820DCC509A6F75849B');
  expect(message('$param:a.md5.upper')).toBe('C4CA4238A0B923820DCC509A6F75849B');
});

test('a parameter that the request does not have is an empty text', () => {
  expect(message('[', '$param:none', ']')).toBe('[]');
});

test('join stands between the entries, not inside them', () => {
  const joined = signWith(
    { message: ['$param:a$method', '$secret', 'z'], join: ',', steps: ['md5'] },
    request,
  );
  expect(joined.message).toBe('1PUT,s3cret,z');
});

test.each([
  ['$', 'unknown token $'],
  ['$foo', 'unknown token $foo'],
  ['$extra:X-Nonce', 'unknown token $extra:X-Nonce'],
  ['$[?$query]', 'unknown token $'],
  ['$param', 'unknown token $param'],
  ['$param:', 'unknown token $param'],
  ['$secret:x', 'unknown token $secret:x'],
  ['$secret.md6', 'unknown modifier .md6 of $secret'],
  ['$secret.constructor', 'unknown modifier .constructor of $secret'],
  [`${'$'}{secret.md5}`, 'unknown token $secret.md5'],
])('%s is refused by name', (text, problem) => {
  expect(() => parseTemplate(text, 'message[0]')).toThrow(`message[0]: ${problem}`);
});

test('any text can be written as a literal by doubling its dollars', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('$', '{', 'a', '.', '中', '\ud83d') }),
      (text) => {
        expect(parseTemplate(text.replaceAll('$', '$$$$'), 'x').parts.join('')).toBe(text);
      },
    ),
    { numRuns: 40 },
  );
});
