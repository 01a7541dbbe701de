import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { Param, SignableRequest } from '../../../src/core/signing/request.js';
import { readSamples } from '../../../src/lab/samples/read-sample.js';
import { isProgram } from '../../support/programs.js';
import { httpServer } from '../../support/raw-server.js';
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
  return { url, method, query: encodePairs(query), params, body: bodyOf(request) };
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
          headers: { accept: '*/*' },
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
  it.each([
    ['curl -G https://e.com/p -d a=1 --data-urlencode "b=x y&z"', 'GET', '/p', 'a=1 b=x y&z'],
    ['curl -G https://e.com/p?z=0 -d a=1', 'GET', '/p', 'z=0 a=1'],
    ['curl https://e.com/p -d a=1 -d b=2', 'POST', '/p', 'a=1 b=2'],
    ['curl -sSXPUT --url https://e.com/p --data-urlencode a=1=2', 'PUT', '/p', 'a=1=2'],
    ['$ curl --request=DELETE https://e.com/p?a=1&b=2 -o out.txt > log', 'DELETE', '/p', 'a=1 b=2'],
    ['curl -I https://e.com/p?a=%41+b', 'HEAD', '/p', 'a=A b'],
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
    const sample = readSample(command);
    expect(sample).toMatchObject({ method, url: `https://e.com${path}` });
    expect(sample.params.map(([name, value]) => `${name}=${value}`).join(' ')).toBe(params);
  });

  const forBash = '"Copy as cURL (bash)" in Chrome and Edge, "Copy as cURL (POSIX)" in Firefox';

  it.each([
    ['curl -X PUT', 'the curl command has no URL'],
    ["curl 'https://e.com", 'a quote of the command is not closed'],
    ['curl ^"https://e.com^"', 'the command is written for cmd.exe', forBash],
    ['curl "https://e.com" ^\r\n  -H "a: b"', 'the command is written for cmd.exe', forBash],
    ['curl.exe "https://e.com" `\r\n  -H "a: b"', 'the command is written for PowerShell', forBash],
    [
      'PS C:\\> Invoke-WebRequest -Uri "https://e.com"',
      'the command is written for PowerShell',
      forBash,
    ],
    ['curl https://e.com --json @body.json', '--json is not a form in the curl command'],
    [
      'curl https://e.com --data-urlencode a@b',
      '--data-urlencode with @ is not a form in the curl command',
    ],
    ['curl https://e.com -d @body.txt', '--data @body.txt is not a form in the curl command'],
    ['curl https://e.com -F a=1', '--form is not a form in the curl command'],
    ['curl "https://e.com?key=$KEY"', 'the command holds $KEY, which only the shell can replace'],
    ['curl https://e.com https://f.com', 'the curl command has 2 URLs'],
    ["curl 'https://e.com/?a={1,2}'", 'stands for several requests', 'use --globoff'],
    ["curl 'https://e.com/?a=[1-3]'", 'stands for several requests', 'use --globoff'],
    ["curl 'https://e.com/?ids[]=1'", 'curl refuses the [ in the URL', 'use --globoff'],
    ['curl https://e.com?a=%B2%E2', 'parameter "a" is not percent-encoded UTF-8'],
    ['curl "https://e.com?sign=1&sign=2"', 'parameter "sign" is given twice'],
    ['curl failed', 'this does not look like a request'],
    ['', 'the request is empty'],
    ['GET /p HTTP/1.1\n\n', 'the HTTP request has no Host header'],
    ['GET /p HTTP/1.1\nHost e.com\n', 'line 2 of the HTTP request is not a header'],
    ['{"a":', 'the text is not valid JSON'],
    ['{"code":200,"msg":"ok","data":{}}', 'this does not look like a request', 'It is an answer'],
    [
      'http GET e.com/p a==1',
      'this does not look like a request',
      'Most other tools copy a request as cURL',
    ],
  ])('%j is refused: %s', (command, problem, hint = '') => {
    const error = { message: expect.stringContaining(problem) };
    const hinted = hint === '' ? error : { ...error, hint: expect.stringContaining(hint) };
    expect(() => readSamples(command)).toThrow(expect.objectContaining(hinted));
  });

  /** Queries as people and browsers write them. */
  const queries = [
    String.raw`ids\[\]=1&j=\{%22a%22:1\}`,
    String.raw`a=\d\\&b=1`,
    'a={x}&b=[7-7]',
    String.raw`a={x\}y}`,
  ];
  it.skipIf(!isProgram('curl'))(
    'has the URL that curl requests, by its globbing or without',
    async () => {
      const server = await httpServer((_, response) => response.end('ok'));
      const commands = queries.flatMap((query) => [
        `curl '${server.url}/p?${query}'`,
        `curl -g '${server.url}/p?${query}'`,
      ]);
      for (const command of commands) {
        await promisify(execFile)('bash', ['-c', `${command} --silent --noproxy '*'`]);
        expect([command, readSample(command).query]).toEqual([
          command,
          server.requests.at(-1)?.query,
        ]);
      }
      await server.close();
    },
  );
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

it.each([
  ['100% raw', '100% raw'],
  ['100%25', '100%'],
  ['a+b', 'a+b'],
  ['a%2Bb+c', 'a+b c'],
  ['张%E5', '张%E5'],
])('the field %j of a HAR file without the text of its form was sent as %j', (written, sent) => {
  const postData = {
    mimeType: 'application/x-www-form-urlencoded',
    params: [{ name: 'a', value: written }],
  };
  const request = { method: 'PUT', url: 'https://e.com/?sign=1', headers: [], postData };
  const json = JSON.stringify({ log: { entries: [{ request }] } });
  expect(readSample(json).params).toEqual([['a', sent, 'form']]);
});

describe('a Postman collection', () => {
  const collection = (requests: readonly object[], variable: object = {}) =>
    JSON.stringify({
      info: { name: 'c' },
      item: requests.map((request) => ({ request })),
      variable: Object.entries(variable).map(([key, value]) => ({ key, value })),
    });

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
    const json = JSON.stringify({ info: {}, item });
    const paths = [1, 2, 3, 4].map((number) => readSample(json, { pick: [number] }).url.slice(-1));
    expect(paths).toEqual(['a', 'b', 'c', 'd']);
  });

  it('fills variables in names and values, of the query and of the form', () => {
    const query = [
      { key: '{{name}}', value: '{{a}}+1' },
      { key: 'off', value: '1', disabled: true },
      { key: 'sign', value: 's' },
    ];
    const fields = [
      { key: '{{name}}2', value: '{{a}}+1' },
      { key: 'off', value: '1', disabled: true },
    ];
    const url = { raw: '{{base}}/:op?wrong=1', query, variable: [{ key: 'op', value: '{{op}}' }] };
    const request = { method: 'PUT', url, body: { mode: 'urlencoded', urlencoded: fields } };
    const json = collection([request], {
      base: 'https://e.com',
      name: 'n',
      a: 'x&y=%41',
      op: 'put',
    });
    expect(readSample(json)).toMatchObject({
      method: 'PUT',
      url: 'https://e.com/put',
      params: [
        ['n', 'x&y=A 1'],
        ['n2', 'x&y=%41+1', 'form'],
      ],
    });
  });

  it.each([
    ['the query', { url: 'https://e.com/?a={{b}}&sign=1' }],
    [
      'the name of a field',
      {
        url: 'https://e.com/?sign=1',
        body: { mode: 'urlencoded', urlencoded: [{ key: '{{b}}', value: '1' }] },
      },
    ],
    [
      'a field',
      {
        url: 'https://e.com/?sign=1',
        body: { mode: 'urlencoded', urlencoded: [{ key: 'a', value: '{{b}}' }] },
      },
    ],
    ['the signature', { url: 'https://e.com/?a=1&sign={{b}}' }],
  ])('says which variable of %s has no value', (_, request) => {
    expect(() => readSample(collection([request]))).toThrow(
      'the request holds {{b}}, a variable without a value',
    );
  });

  it('has its address in parts, where the whole is left out', () => {
    const query = [{ key: 'sign', value: 's' }];
    const url = {
      protocol: 'https',
      host: ['api', '{{zone}}'],
      port: '8443',
      path: ['v1', 'x'],
      query,
    };
    const json = collection([{ url }], { zone: 'example.com' });
    expect(readSample(json)).toMatchObject({ url: 'https://api.example.com:8443/v1/x' });
  });

  it('leaves out a header whose variable has no value: it is not signed', () => {
    const header = [
      { key: 'Authorization', value: 'Bearer {{token}}' },
      { key: 'X-Gate', value: '{{gate}}' },
    ];
    const json = collection([{ url: 'https://e.com/?sign=1', header }], { gate: 'g' });
    expect(readSample(json)).toMatchObject({ headers: { 'X-Gate': 'g' } });
  });

  it('with another body than a form is refused', () => {
    const body = { mode: 'formdata', formdata: [{ key: 'a', value: '1' }] };
    expect(() => readSample(collection([{ url: 'https://e.com/?sign=1', body }]))).toThrow(
      'the mode "formdata"',
    );
  });
});

const digest = '0123456789abcdef0123456789abcdef';
const passback = '/api/v1/server/user/passback_user_info';
const read = '/api/v1/server/user/user_info_for_third';

describe('a line of a log', () => {
  it.each([
    [
      'an address',
      `INFO call https://e.com/p?a=1&sign=${digest}, 3 ms`,
      'GET https://e.com/p',
      'a=1',
    ],
    ['a request line', `10.0.0.1 "POST /p?a=1&sign=${digest} HTTP/1.1" 200`, 'POST /p', 'a=1'],
    [
      'fields of nginx',
      `{"host":"e.com","scheme":"https","method":"PUT","uri":"${passback}","args":"a=1&sign=${digest}"}`,
      `PUT https://e.com${passback}`,
      'a=1',
    ],
    [
      'a path of the contract',
      `uri=/gate${read} args=a=1&sign=${digest}`,
      `GET /gate${read}`,
      'a=1',
    ],
    [
      'a passback with its form',
      `PUT ${passback}?a=1&sign=${digest} body=union_id=u1&user_info=%7B%22b%22%3A2%7D 200`,
      `PUT ${passback}`,
      'a=1 union_id=u1 user_info={"b":2}',
    ],
    [
      'a passback with its form in brackets',
      `PUT ${passback}?a=1&sign=${digest}, body=[union_id=u1&user_info=%7B%7D], 3 ms`,
      `PUT ${passback}`,
      'a=1 union_id=u1 user_info={}',
    ],
    [
      'a passback whose form cannot be told from the rest',
      `PUT ${passback}?a=1&sign=${digest} body=user_info={"b":2}`,
      `PUT ${passback}`,
      'a=1',
    ],
    [
      'escapes of JSON',
      `{"u":"https:\\/\\/e.com\\/p?a=1\\u0026sign=${digest}"}`,
      'GET https://e.com/p',
      'a=1',
    ],
  ])('has %s', (_, line, address, params) => {
    const { method, url, ...sample } = readSample(line);
    expect(`${method} ${url}`).toBe(address);
    expect(sample.params.map(([name, value]) => `${name}=${value}`).join(' ')).toBe(params);
    expect(sample.signature).toBe(digest);
  });

  it('with a passback says that it lacks the form', () => {
    expect(readSamples(`x PUT ${passback}?a=1&sign=${digest} 200`).taken).toEqual([
      `PUT ${passback} (a line of a log, line 1, without its form)`,
    ]);
  });

  it('that is logged as an address and as a path is one; what is not a digest is no signature', () => {
    const log = [
      `calling https://e.com/x?a=1&sign=${digest}`,
      `10.0.0.1 "GET /x?a=1&sign=${digest} HTTP/1.1" 200 "https://shop.example/?page=2&sign=login"`,
    ].join('\n');
    expect(readSample(log)).toMatchObject({ url: 'https://e.com/x', signature: digest });
  });
});

it('a URL of an operation has its method', () => {
  expect(readSample(`https://e.com${passback}?sign=1`).method).toBe('PUT');
  expect(readSample(`https://e.com${read}?sign=1`).method).toBe('GET');
});

describe('a sample file', () => {
  it('keeps the order of the parameters and the spelling of numbers', () => {
    const json =
      '{"url":"https://e.com/","params":{"b":"1","2":"x","1":1.00,"on":true,"a":"{\\"3\\": 1}","__proto__":"p"}}';
    expect(readSample(json)).toMatchObject({
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
    const sample = readSample('{"params":{"a":"1"},"secret":"s3cret"}');
    expect(sample.secret?.reveal()).toBe('s3cret');
    expect(JSON.stringify(sample)).not.toContain('s3cret');
  });

  it('takes the signature from the parameter sign or from the field signature', () => {
    expect(readSample('{"params":{"sign":"x","a":"1"}}').signature).toBe('x');
    expect(readSample('{"params":{"a":"1"},"signature":"y"}').signature).toBe('y');
    expect(() => readSample('{"params":{"sign":"x"},"signature":"y"}')).toThrow('sample.signature');
  });

  it('takes parameters from its URL and body if it lists none', () => {
    const sample = readSample('{"method":"PUT","url":"https://e.com/p?a=1","body":"b=2"}');
    expect(sample).toMatchObject({
      method: 'PUT',
      url: 'https://e.com/p',
      params: [
        ['a', '1'],
        ['b', '2', 'form'],
      ],
    });
  });

  it('gives the fields of a passback their place', () => {
    const { params } = readSample('{"params":{"app_key":"k","union_id":"u","user_info":"{}"}}');
    expect(params).toEqual([
      ['app_key', 'k'],
      ['union_id', 'u', 'form'],
      ['user_info', '{}', 'form'],
    ]);
  });

  it.each([
    ['{"parms":{}}', 'sample.parms: unknown field'],
    ['{"params":[["a"]]}', 'sample.params[0]: must be [name, value]'],
    ['{"url":"a","url":"b"}', 'sample.url: appears twice'],
    ['{"secret":"s3cret"', 'the text is not valid JSON'],
  ])('%s is refused: %s', (json, problem) => {
    expect(() => readSample(json)).toThrow(problem);
  });

  it('with a query beside its params: they are the params, and the query is the query', () => {
    const sample = '{"url":"https://e.com/p?b=%2F&sign=x&a=1","params":{"c":"2"},"signature":"y"}';
    expect(readSample(sample)).toMatchObject({
      url: 'https://e.com/p',
      query: 'b=%2F&a=1',
      params: [['c', '2']],
    });
  });
});
