import { createHash, createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { compileRecipe } from '../../src/core/signing/compile-recipe.js';
import { parseRecipe } from '../../src/core/signing/recipe-json.js';
import { Secret } from '../../src/core/signing/secret.js';

const secret = '6162636465666768';
const body = '{"n":"é"}';
const request = {
  method: 'POST',
  url: 'https://api.example.com/v1/x',
  query: 'b=2%3A%20c&a=1&Zb=7&sign_type=MD5&x_a=0&x_debug=1&e=&a=3',
  params: [
    ['b', '2: c'],
    ['a', '1'],
    ['Zb', '7'],
    ['sign_type', 'MD5'],
    ['x_a', '0'],
    ['x_debug', '1'],
    ['e', '', 'form'],
    ['a', '3'],
  ],
  body,
} as const;

const hash = (algorithm: string, text: string) => createHash(algorithm).update(text).digest('hex');
const hmacBytes = (text: string | Buffer, key: string | Buffer = secret) =>
  createHmac('sha256', key).update(text).digest();
const hmac = (text: string | Buffer, key: string | Buffer = secret) =>
  hmacBytes(text, key).toString('hex');

const params = 'Zb=7&a=1&a=3&b=2: c&e=&sign_type=MD5&x_a=0&x_debug=1';

/** The signatures that people mean by the phrases of docs/signing.md, worked out by hand. */
const meant: Readonly<Record<string, string>> = {
  'sorted by name, `k=v` joined by `&`; HMAC-SHA256': hmac(params),
  '`&key=` and the secret after it; MD5': hash('md5', `${params}&key=${secret}`),
  'the secret at both ends': hash('md5', secret + params + secret),
  'the secret, sorted among the parameters': hash(
    'md5',
    params.replace('&sign_type', `&key=${secret}&sign_type`),
  ),
  'in upper case': hmac(params).toUpperCase(),
  base64: hmacBytes(params).toString('base64'),
  'the first 16 characters': hmac(params).slice(0, 16),
  'decode the secret from hex first': hmac(params, 'abcdefgh'),
  'the key is the secret and an ampersand': hmac(params, `${secret}&`),
  'the key is the MD5 of the secret': hmac(params, hash('md5', secret)),
  'in the order of the request': hmac('b=2: c&a=1&Zb=7&sign_type=MD5&x_a=0&x_debug=1&e=&a=3'),
  'sorted by value': hmac('e=&x_a=0&a=1&x_debug=1&b=2: c&a=3&Zb=7&sign_type=MD5'),
  'b, then a, and no others': hmac('b=2: c&a=1&a=3'),
  'empty values do not take part': hmac(params.replace('&e=', '')),
  'all but `sign_type`': hmac(params.replace('&sign_type=MD5', '')),
  'the query alone': hmac(params.replace('&e=', '')),
  'values alone, without separators': hmac('7132: cMD501'),
  'names and values glued together': hmac('Zb7a1a3b2: cesign_typeMD5x_a0x_debug1'),
  'values URL-encoded, a space as `%20`': hmac(params.replace('2: c', '2%3A%20c')),
  'values URL-encoded, a space as `+`': hmac(params.replace('2: c', '2%3A+c')),
  'values URL-encoded as by .NET': hmac(params.replace('2: c', '2%3a+c')),
  "values URL-encoded as by PHP's `urlencode`: `*` as `%2A`": hmac(
    params.replace('2: c', '2%3A+c'),
  ),
  "values URL-encoded as by Python's `urlencode`": hmac(params.replace('2: c', '2%3A+c')),
  'the parameters URL-encoded once more, after the method': hmac(
    `POST&%2F&${encodeURIComponent(params)}`,
  ),
  'the whole text in lower case': hmac(params.toLowerCase()),
  'the path, and the body after the parameters': hmac(`/v1/x${params}${body}`),
  'values of parameters in a fixed order, a dollar sign between them': hmac('2: c$1'),
  'MD5 in upper case, then the secret, MD5 again': hash(
    'md5',
    hash('md5', params).toUpperCase() + secret,
  ),
};

const page = readFileSync(new URL('../../docs/signing.md', import.meta.url), 'utf8');
const table =
  /\| the document says \| write \|\n\|---\|---\|\n(?<rows>(?:\|.*\n)+)/.exec(page)?.groups?.rows ??
  '';
const rows = [...table.matchAll(/^\| (.+) \| `(.+)` \|$/gm)].map(
  ([, phrase = '', fragment = '']) => ({
    phrase,
    fragment,
  }),
);

describe('what a document says, and what to write', () => {
  it('has a row for each phrase', () => {
    expect(rows.map(({ phrase }) => phrase)).toEqual(Object.keys(meant));
    expect(rows.length).toBeGreaterThanOrEqual(25);
  });

  it.each(rows)('$phrase', ({ phrase, fragment }) => {
    const recipe = parseRecipe({
      message: ['$params'],
      steps: ['hmac-sha256'],
      ...JSON.parse(`{${fragment}}`),
    });
    expect(compileRecipe(recipe).sign(request, new Secret(secret)).digest).toBe(meant[phrase]);
  });
});
