import { createHash, createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { compileRecipe } from '../../src/signing/compile-recipe.js';
import { parseRecipe } from '../../src/signing/recipe-json.js';
import { Secret } from '../../src/signing/secret.js';

const secret = '6162636465666768';
const time = '1700000000';
const nonce = 'n-1';
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
    ['e', ''],
    ['a', '3'],
  ],
  body,
  extra: { 'X-Time': time, 'X-Nonce': nonce },
} as const;

const hash = (algorithm: string, text: string) => createHash(algorithm).update(text).digest('hex');
const hmacBytes = (text: string | Buffer, key: string | Buffer = secret) =>
  createHmac('sha256', key).update(text).digest();
const hmac = (text: string | Buffer, key: string | Buffer = secret) => hmacBytes(text, key).toString('hex');

const params = 'Zb=7&a=1&a=3&b=2: c&e=&sign_type=MD5&x_a=0&x_debug=1';
const line = (text: string) => text.replaceAll('&', '\n').replaceAll('=', ':');

/** The signatures that people mean by the phrases of docs/signing.md, worked out by hand. */
const meant: Readonly<Record<string, string>> = {
  'sorted by name, `k=v` joined by `&`; HMAC-SHA256': hmac(params),
  '`&key=` and the secret behind it; MD5': hash('md5', `${params}&key=${secret}`),
  'the secret at both ends': hash('md5', secret + params + secret),
  'the secret, sorted among the parameters': hash(
    'md5',
    params.replace('&sign_type', `&key=${secret}&sign_type`),
  ),
  'in upper case': hmac(params).toUpperCase(),
  base64: hmacBytes(params).toString('base64'),
  'base64url with its padding': `${createHash('sha256')
    .update(params + secret)
    .digest('base64url')}=`,
  'base64 of the hex text': Buffer.from(hmac(params)).toString('base64'),
  'the first 16 characters': hmac(params).slice(0, 16),
  'decode the secret from hex first': hmac(params, 'abcdefgh'),
  'decode the secret from base64 first': hmac(params, Buffer.from(secret, 'base64')),
  'the key is the secret and an ampersand': hmac(params, `${secret}&`),
  'the key is the MD5 of the secret': hmac(params, hash('md5', secret)),
  'in the order of the request': hmac('b=2: c&a=1&Zb=7&sign_type=MD5&x_a=0&x_debug=1&e=&a=3'),
  'sorted by value': hmac('e=&x_a=0&a=1&x_debug=1&b=2: c&a=3&Zb=7&sign_type=MD5'),
  'sorted by name, upper and lower case alike': hmac('a=1&a=3&b=2: c&e=&sign_type=MD5&x_a=0&x_debug=1&Zb=7'),
  'b, then a, and no others': hmac('b=2: c&a=1&a=3'),
  'empty values do not take part': hmac(params.replace('&e=', '')),
  'all but `sign_type`': hmac(params.replace('&sign_type=MD5', '')),
  'all that begin with `x_`, except one': hmac('x_a=0'),
  'values alone, without separators': hmac('7132: cMD501'),
  'names and values glued together': hmac('Zb7a1a3b2: cesign_typeMD5x_a0x_debug1'),
  '`name:value`, each on a line of its own, the last one too': hmac(`${line(params)}\n`),
  'values in quotes: `a="1"&b="2"`': hmac(
    'Zb="7"&a="1"&a="3"&b="2: c"&e=""&sign_type="MD5"&x_a="0"&x_debug="1"',
  ),
  'values URL-encoded, a space as `%20`': hmac(params.replace('2: c', '2%3A%20c')),
  'values URL-encoded, a space as `+`': hmac(params.replace('2: c', '2%3A+c')),
  'values URL-encoded as by .NET': hmac(params.replace('2: c', '2%3a+c')),
  "values URL-encoded as by PHP's `urlencode`: `*` as `%2A`": hmac(params.replace('2: c', '2%3A+c')),
  "values URL-encoded as by Python's `urlencode`": hmac(params.replace('2: c', '2%3A+c')),
  'a hyphen in the place of an empty value': hmac(params.replace('e=', 'e=-')),
  'a backslash before `:` and `\\`': hmac(params.replace('2: c', '2\\: c')),
  'several values of a name, joined by a comma': hmac(params.replace('a=1&a=3', 'a=1,3')),
  'names in lower case': hmac('a=1&a=3&b=2: c&e=&sign_type=MD5&x_a=0&x_debug=1&zb=7'),
  'the whole text URL-encoded': hmac(encodeURIComponent(params)),
  'the parameters URL-encoded once more, behind the method': hmac(`POST&%2F&${encodeURIComponent(params)}`),
  'the whole text in lower case': hmac(params.toLowerCase()),
  'a constant and a header, sorted among the parameters': hmac(
    params.replace('&sign', '&nonce=n-1&sign').replace('&x_a', '&v=2&x_a'),
  ),
  'lines: method, path, a header, a digest of the body': hmac(
    `POST\n/v1/x\n${time}\n${hash('sha256', body)}`,
  ),
  'the body as it was sent, behind a time and a dot': hmac(`${time}.${body}`),
  'host, and the path without its first part': hmac('api.example.com/x'),
  '`?` and the sorted query behind the path, if there is a query': hmac(
    '/v1/x?Zb=7&a=1&a=3&b=2%3A%20c&e=&sign_type=MD5&x_a=0&x_debug=1',
  ),
  'a line for a digest of the body, empty if there is no body': hmac(`POST\n${hash('sha256', body)}`),
  'a value or, if it is empty or not there, a word': hmac('null/'),
  'the whole URL, with the query as it was sent': hmac(`${request.url}?${request.query}`),
  'values of parameters in a fixed order, a dollar sign between them': hmac('2: c$1'),
  'SHA-1 of secret, nonce and time, sorted as texts': hash('sha1', time + secret + nonce),
  'MD5 in upper case, then the secret, MD5 again': hash('md5', hash('md5', params).toUpperCase() + secret),
  'each value behind its length in bytes': hmac('17111342: c03MD51011'),
  'a value behind its length in bytes': hmac('11'),
  'two values in base64 as pairs': hmac('a=MQ==&b=MjogYw=='),
  'HMAC of the bytes of a digest': hmac(createHash('sha256').update(params).digest()),
  'a label before the digest': `sha256=${hmac(params)}`,
  'the time behind the digest, after a comma': `${hmac(params)},${time}`,
  'a digest of the text, a label and the time before it, then HMAC (newer clouds)': hmac(
    `V3\n${time}\n${hash('sha256', params)}`,
  ),
  'the raw bytes of a digest behind other text': hmac(
    Buffer.concat([Buffer.from(`${time}\n${params}\n`), createHash('sha256').update(body).digest()]),
  ),
  'MD5 of a digest, a value and another digest (HTTP Digest)': hash(
    'md5',
    `${hash('md5', `app:api:${secret}`)}:${time}:${hash('md5', `${request.method}:${new URL(request.url).pathname}`)}`,
  ),
  'the key is an HMAC of the time': hmac(params, hmacBytes(time)),
  'the key is an HMAC of the secret by a constant': hmac(params, hmacBytes(secret, 'a constant')),
  'each key is an HMAC by the one before (AWS and clouds like it)': hmac(
    `AWS4-HMAC-SHA256\n${time}\n${hash('sha256', params)}`,
    hmacBytes('s3', hmacBytes(time.slice(0, 8), `AWS4${secret}`)),
  ),
};

const page = readFileSync(new URL('../../docs/signing.md', import.meta.url), 'utf8');
const table =
  /\| the document says \| write \|\n\|---\|---\|\n(?<rows>(?:\|.*\n)+)/.exec(page)?.groups?.rows ?? '';
const rows = [...table.matchAll(/^\| (.+) \| `(.+)` \|$/gm)].map(([, phrase = '', fragment = '']) => ({
  phrase,
  fragment,
}));

describe('what a document says, and what to write', () => {
  it('has a row for each phrase', () => {
    expect(rows.map(({ phrase }) => phrase)).toEqual(Object.keys(meant));
    expect(rows.length).toBeGreaterThanOrEqual(30);
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
