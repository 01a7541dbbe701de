import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { compileRecipe } from '../../../src/core/signing/compile-recipe.js';
import { completeRecipe } from '../../../src/core/signing/recipe.js';
import type { Param, SignableRequest } from '../../../src/core/signing/request.js';
import { Secret } from '../../../src/core/signing/secret.js';
import { readSample } from '../../support/read-sample.js';

const encode = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (found) => `%${found.charCodeAt(0).toString(16)}`);
const encodePairs = (params: readonly Param[]) =>
  params.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');

/** A request: what is in its query, and what in its form. */
interface Made {
  readonly url: string;
  readonly method: string;
  readonly query: readonly Param[];
  readonly form: readonly Param[] | null;
}

const text = fc.string({ unit: 'grapheme', maxLength: 12 });
const param = fc.tuple(
  text.filter((name) => name !== '' && name !== 'sign'),
  text,
);
const made: fc.Arbitrary<Made> = fc.record({
  url: fc.constantFrom('https://api.example.com/v1/users', 'http://127.0.0.1:8787/a%20b'),
  method: fc.constantFrom('GET', 'PUT', 'POST'),
  query: fc.array(param, { maxLength: 5 }),
  form: fc.option(fc.array(param, { minLength: 1, maxLength: 5 })),
});

const target = ({ url, query }: Made) => `${url}?${encodePairs([...query, ['sign', 'abc']])}`;
const bodyOf = ({ form }: Made) => (form === null ? null : encodePairs(form));

function expected(request: Made): SignableRequest {
  const { url, method, query, form } = request;
  const fields = (form ?? []).map(([name, value]): Param => [name, value, 'form']);
  const params = [...query, ...fields];
  return { url, method, query: encodePairs(query), params, body: bodyOf(request), extra: {} };
}

const inSingleQuotes = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;
const inDoubleQuotes = (word: string) => `"${word.replace(/[$`"\\]/g, '\\$&')}"`;
const inAnsiQuotes = (word: string) =>
  `$'${[...Buffer.from(word)].map((byte) => `\\x${byte.toString(16)}`).join('')}'`;
const bare = (word: string) => word.replace(/[^\w]/gu, '\\$&');
const quotings: [string, (word: string) => string, string][] = [
  ['single quotes', inSingleQuotes, ' \\\n  '],
  ['double quotes', inDoubleQuotes, ' '],
  ['ANSI-C quotes', inAnsiQuotes, ' \\\n'],
  ['backslashes', bare, '  '],
];

describe('a request is parsed from', () => {
  test.each(quotings)('a curl command in %s', (_, quote, gap) => {
    fc.assert(
      fc.property(made, fc.constantFrom('--data', '--data-raw', '-d'), (request, data) => {
        const body = bodyOf(request);
        const words = [
          'curl',
          '-X',
          request.method,
          quote(target(request)),
          '-H',
          quote('accept: */*'),
        ];
        if (body !== null) words.push(data, quote(body), '--compressed');
        expect(readSample(words.join(gap))).toEqual({
          ...expected(request),
          extra: { accept: '*/*' },
          headers: ['accept'],
          signParam: 'sign',
          signature: 'abc',
          secret: null,
        });
      }),
    );
  });

  test.each(['\n', '\r\n'])('HTTP text with %j line ends', (newline) => {
    fc.assert(
      fc.property(made, (request) => {
        const { host } = new URL(request.url);
        const lines = [`${request.method} ${target(request)} HTTP/1.1`, `Host: ${host}`];
        const body = bodyOf(request);
        if (body !== null) lines.push('Content-Type: application/x-www-form-urlencoded', '', body);
        expect(readSample(lines.join(newline))).toMatchObject({
          ...expected(request),
          signature: 'abc',
        });
      }),
    );
  });

  it('a URL', () => {
    fc.assert(
      fc.property(made, (request) => {
        const get = { ...request, method: 'GET', form: null };
        expect(readSample(target(get))).toMatchObject({ ...expected(get), signature: 'abc' });
      }),
    );
  });

  it('a sample file with a pair list, whatever its names', () => {
    const pairs = fc.array(fc.tuple(fc.oneof(text, fc.nat().map(String)), text));
    fc.assert(
      fc.property(pairs, (given) => {
        const params = given.filter(([name]) => name !== 'sign');
        const json = JSON.stringify({
          method: 'GET',
          url: 'https://a.example',
          params,
          signature: 'abc',
        });
        expect(readSample(json)).toMatchObject({ params, signature: 'abc' });
      }),
    );
  });
});

describe('a curl command', () => {
  const read = (command: string, options = {}) => readSample(command, options);

  it.each([
    ['curl -G https://e.com/p -d a=1 --data-urlencode "b=x y&z"', 'GET', '/p', 'a=1 b=x y&z'],
    ['curl -G https://e.com/p?z=0 -d a=1', 'GET', '/p', 'z=0 a=1'],
    ['curl https://e.com/p -d a=1 -d b=2', 'POST', '/p', 'a=1 b=2'],
    ['curl -sSXPUT --url https://e.com/p --data-urlencode a=1=2', 'PUT', '/p', 'a=1=2'],
    ['$ curl --request=DELETE https://e.com/p?a=1&b=2 -o out.txt > log', 'DELETE', '/p', 'a=1 b=2'],
    ['curl.exe -I https://e.com/p?a=%41+b', 'HEAD', '/p', 'a=A b'],
    ['curl https://e.com/p --url-query "q=1 2" --max-time 5', 'GET', '/p', 'q=1 2'],
    ['curl https://e.com/p --url-query +q=1 -H', 'GET', '/p', 'q=1'],
    ['curl -G https://e.com/p --data-urlencode "=a=b c"', 'GET', '/p', 'a=b c='],
    ['curl -G https://e.com/p --data-urlencode "a b"', 'GET', '/p', 'a b='],
    [
      `curl -G https://e.com/p -d $'a=\\101\\U0001F600\\q' -d "b=1\\\n2"`,
      'GET',
      '/p',
      'a=A😀\\q b=12',
    ],
    [
      `curl -X PUT https://e.com/p \\\n -b 's=1' --data-raw $'a=\\u5f20&b=it\\'s' --insecure | jq .`,
      'PUT',
      '/p',
      "a=张 b=it's",
    ],
    [
      String.raw`curl -G https://e.com/p -d $'a=\11|\x4a\x9|\u5f20\ue9|\Ue9'`,
      'GET',
      '/p',
      'a=\t|J\t|张é|é',
    ],
  ])('%s', (command, method, path, params) => {
    const sample = read(command);
    expect(sample).toMatchObject({ method, url: `https://e.com${path}` });
    expect(sample.params.map(([name, value]) => `${name}=${value}`).join(' ')).toBe(params);
  });

  it('with a JSON body has no form', () => {
    const sample = read(`curl https://e.com/p?a=1 --json '{"b":2}'`);
    expect(sample).toMatchObject({ method: 'POST', params: [['a', '1']], body: '{"b":2}' });
    expect(read(`curl https://e.com/p -d '{"b":2}'`).params).toEqual([]);
    // Only --json leaves out the &.
    expect(read(`curl https://e.com/p --json '{"b":' --json 2}`).body).toBe('{"b":2}');
    expect(
      read(`curl https://e.com/p -H content-type:application/json -d '{"b":' -d 2}`).body,
    ).toBe('{"b":&2}');
  });

  it.each([
    ['curl -X PUT', 'the curl command has no URL'],
    ["curl 'https://e.com", 'a quote of the command is not closed'],
    ['curl ^"https://e.com^"', 'the command is written for cmd.exe'],
    [
      'curl https://e.com --json @body.json',
      'the body of --json @body.json is not in the curl command',
    ],
    [
      'curl https://e.com --data-urlencode a@b',
      'the body of --data-urlencode with @ is not in the curl command',
    ],
    ['curl https://e.com -d @body.txt', 'the body of --data @body.txt is not in the curl command'],
    ['curl https://e.com -F a=1', 'the body of --form is not in the curl command'],
    ['curl "https://e.com?key=$KEY"', 'the command holds $KEY, which only the shell can replace'],
    ['curl https://e.com https://f.com', 'the curl command has 2 URLs'],
    ['curl https://e.com?a=%B2%E2', 'parameter "a" is not percent-encoded UTF-8'],
    ['curl "https://e.com?sign=1&sign=2"', 'parameter "sign" is given twice'],
    ['curl failed', 'this does not look like a request'],
    ['', 'the request is empty'],
    ['GET /p HTTP/1.1\n\n', 'the HTTP request has no Host header'],
    ['GET /p HTTP/1.1\nHost e.com\n', 'line 2 of the HTTP request is not a header'],
  ])('%j is refused: %s', (command, problem) => {
    expect(() => read(command)).toThrow(problem);
  });
});

it.each([7, 8])(
  'the body of a request has the line break behind it if its length of %i bytes counts it',
  (size) => {
    const text = `POST /x HTTP/1.1\nHost: e.com\nContent-Length: ${size}\n\n{"a":1}\n`;
    expect(readSample(text).body).toBe('{"a":1}\n'.slice(0, size));
  },
);

describe('the signature', () => {
  const inHeader = "curl 'https://e.com/x?a=1' -H 'X-Timestamp: 17' -H 'X-Sign: abc'";
  const post = 'POST /x HTTP/1.1\nHost: e.com\nContent-Type: application/json\n';

  it('is found in a header, whatever its letter case; the other headers are extra values', () => {
    expect(readSample(inHeader, { signParam: 'x-sign' })).toMatchObject({
      params: [['a', '1']],
      extra: { 'X-Timestamp': '17' },
      headers: ['X-Timestamp'],
      signature: 'abc',
    });
  });

  it('is found in a JSON body, whose members are then parameters, in their order and as written', () => {
    const body =
      '{"b":"2","10":1.00,"a":{"y": [1,"]}"]},"on":true,"none":null,"sign":"abc","\\u4e2d":""}';
    expect(readSample(`${post}\n${body}`)).toMatchObject({
      method: 'POST',
      params: [
        ['b', '2'],
        ['10', '1.00'],
        ['a', '{"y": [1,"]}"]}'],
        ['on', 'true'],
        ['none', ''],
        ['中', ''],
      ],
      body,
      signature: 'abc',
    });
  });

  it.each([
    ['t=17,v1=abc', 'X-Sign.v1', { t: '17' }],
    [
      'EG1 client_token="a, b";nonce=n; sig=ab/c==',
      'x-sign.sig',
      { 1: 'EG1', client_token: 'a, b', nonce: 'n' },
    ],
    ['QBox key:abc=', 'X-Sign.3', { 1: 'QBox', 2: 'key' }],
    ['17-0-abc', 'X-Sign.3', { 1: '17', 2: '0' }],
    ['{"v":1,"sig":"abc%3D"}', 'X-Sign.sig', { v: '1' }],
    ['v%3D1%26sig%3Dabc%3D', 'X-Sign.sig', { v: '1' }],
  ])('is a part of a header, a parameter or a JSON member: %s', (value, signParam, parts) => {
    const [name = ''] = signParam.split('.');
    const extra = Object.fromEntries(
      Object.entries(parts).map(([part, one]) => [`${name}.${part}`, one]),
    );
    const sent = {
      params: [['a', '1']],
      query: 'a=1',
      extra,
      signature: expect.stringMatching(/^ab/),
    };
    expect(
      readSample(`curl 'https://e.com/x?a=1' -H 'X-Sign: ${value}'`, { signParam }),
    ).toMatchObject(sent);
    const query = new URLSearchParams({ a: '1', [name]: value });
    expect(readSample(`https://e.com/x?${query}`, { signParam })).toMatchObject(sent);
    const json = JSON.stringify({ a: '1', [name]: value });
    const inJson = readSample(`${post}\n${json}`, { signParam });
    expect({ ...inJson, query: 'a=1' }).toMatchObject(sent);
  });

  it('in a header signs the members of a JSON body only where there are no other parameters', () => {
    const signed = `${post}X-Sign: abc\n\n{"a":"1"}`;
    expect(readSample(signed, { signParam: 'X-Sign' }).params).toEqual([['a', '1']]);
    const query = signed.replace('/x', '/x?q=1');
    expect(readSample(query, { signParam: 'X-Sign' })).toMatchObject({
      params: [['q', '1']],
      body: '{"a":"1"}',
    });
  });

  it('may stand at two places if it is the same', () => {
    const both = `${post}sign: abc\n\n{"a":"1","sign":"abc"}`;
    expect(readSample(both)).toMatchObject({ params: [['a', '1']], extra: {}, signature: 'abc' });
    expect(() => readSample(both.replace(': abc', ': other'))).toThrow(
      'parameter "sign" is given twice',
    );
  });

  it('is explained with $extra of a header, whatever its letter case', () => {
    const recipe = completeRecipe({ message: ['$extra:x-timestamp', '$secret'], steps: ['md5'] });
    const { message, missing } = compileRecipe(recipe).explain(
      readSample(inHeader),
      new Secret('s3cret'),
    );
    expect({ message, missing }).toEqual({ message: '17<secret>', missing: [] });
  });
});

describe('HTTP text without a scheme', () => {
  it.each([
    ['Host: 127.0.0.1:8787', 'http://127.0.0.1:8787/p'],
    ['host:localhost', 'http://localhost/p'],
    ['Host : 127.example.com', 'https://127.example.com/p'],
  ])('with %j is of %s', (host, url) => {
    expect(readSample(`GET /p?a=1 HTTP/1.1\n${host}\n\n`)).toMatchObject({
      url,
      params: [['a', '1']],
    });
  });
});

describe('a Postman collection', () => {
  it('numbers its requests in the order in which it has them', () => {
    const request = (name: string) => ({
      name,
      request: { url: `https://api.example.com/${name}?sign=s` },
    });
    const item = [
      request('a'),
      { name: 'folder', item: [request('b'), request('c')] },
      request('d'),
    ];
    const collection = JSON.stringify({ info: {}, item });
    const paths = [1, 2, 3, 4].map((number) =>
      readSample(collection, { pick: [number] }).url.slice(-1),
    );
    expect(paths).toEqual(['a', 'b', 'c', 'd']);
  });
});

describe('a log of OkHttp', () => {
  it('keeps a line of the body that has not the prefix of the logger', () => {
    const before = '12:00:00 I: ';
    const body = '"note":"abc d e","sign":"s"}';
    const lines = [
      '--> POST https://api.example.com/x',
      'Content-Type: application/json',
      '',
      '{"a":1,',
    ];
    const log = [...lines.map((line) => before + line), body, `${before}--> END POST`].join('\n');
    expect(readSample(log).body).toBe(`{"a":1,\n${body}`);
  });
});

describe('a sample file', () => {
  const read = (json: string) => readSample(json);

  it('keeps the order of the parameters and the spelling of numbers', () => {
    const json =
      '{"url":"https://e.com/","params":{"b":"1","2":"x","1":1.00,"on":true,"a":"{\\"3\\": 1}","__proto__":"p"}}';
    expect(read(json)).toMatchObject({
      method: 'GET',
      signature: null,
      params: [
        ['b', '1'],
        ['2', 'x'],
        ['1', '1.00'],
        ['on', 'true'],
        ['a', '{"3": 1}'],
        ['__proto__', 'p'],
      ],
    });
  });

  it('holds its secret in a Secret, which no output contains', () => {
    const sample = read('{"params":{"a":"1"},"secret":"s3cret"}');
    expect(sample.secret?.reveal()).toBe('s3cret');
    expect(JSON.stringify(sample)).not.toContain('s3cret');
  });

  it('takes the signature from the parameter sign or from the field signature', () => {
    expect(read('{"params":{"sig":"x","a":"1"},"signParam":"sig"}').signature).toBe('x');
    expect(read('{"params":{"a":"1"},"signature":"y"}').signature).toBe('y');
    expect(readSample('{"params":{"s":"x"},"signParam":"t"}', { signParam: 's' }).signature).toBe(
      'x',
    );
    expect(() => read('{"params":{"sign":"x"},"signature":"y"}')).toThrow('sample.signature');
  });

  it('takes parameters from its URL and body if it lists none', () => {
    const sample = read(
      '{"method":"PUT","url":"https://e.com/p?a=1","body":"b=2","extra":{"X":"1"}}',
    );
    expect(sample).toMatchObject({
      method: 'PUT',
      extra: { X: '1' },
      url: 'https://e.com/p',
      params: [
        ['a', '1'],
        ['b', '2', 'form'],
      ],
    });
  });

  it.each([
    ['{"parms":{}}', 'sample.parms: unknown field'],
    ['{"params":[["a"]]}', 'sample.params[0]: must be [name, value]'],
    ['{"params":{},"extra":[]}', 'sample.extra: must be an object'],
    ['{"url":"a","url":"b"}', 'sample.url: stands there twice'],
    ['{"secret":"s3cret"', 'the sample is not JSON'],
  ])('%s is refused: %s', (json, problem) => {
    expect(() => read(json)).toThrow(problem);
  });

  it('with a query beside its params: they are the params, and the query is the query', () => {
    const sample = '{"url":"https://e.com/p?b=%2F&sign=x&a=1","params":{"c":"2"},"signature":"y"}';
    expect(read(sample)).toMatchObject({
      url: 'https://e.com/p',
      query: 'b=%2F&a=1',
      params: [['c', '2']],
    });
  });
});
