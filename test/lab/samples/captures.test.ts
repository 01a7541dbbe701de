import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { hostOf, type Param, pathOf } from '../../../src/core/signing/request.js';
import { readSamples } from '../../../src/lab/samples/read-sample.js';
import { readSample } from '../../support/read-sample.js';

/**
 * What tools print of the same signed request, and of its answer, which has a signature, too:
 * TOOL.KIND.txt.
 */
const folder = new URL('./captures/', import.meta.url);

const params = [
  ['app_key', 'app-1'],
  ['name', '张三'],
  ['note', 'a b+c'],
  ['timestamp', '1717171717'],
];

const textsOf = (read: readonly Param[]) => read.map(([name, value]) => [name, value] as const);
const textOf = (name: string) => readFileSync(new URL(name, folder), 'utf8');
const names = readdirSync(folder).filter((name) => name !== 'curl-traceascii.json.txt');

it.each(names)('%s is read, and not its answer', (name) => {
  const kind = name.split('.')[1];
  const { url, method, body, ...sample } = readSample(textOf(name));
  expect(sample).toMatchObject({ signature: '0123456789abcdef0123456789abcdef' });
  expect(textsOf(sample.params).toSorted(([a], [b]) => (a < b ? -1 : 1))).toEqual(params);
  // What is printed of the parameters alone may lack the address: that of the program is not it.
  expect(pathOf(url, '')).toMatch(
    kind === 'params' ? /^(?:\/v1\/users|\/j)?$/ : /^\/(?:v1\/users|j)$/,
  );
  if (kind === 'params') return;
  if (textOf(name).includes('127.0.0.1:18099')) expect(hostOf(url)).toBe('127.0.0.1:18099');
  expect([method, body === null]).toEqual(kind === 'get' ? ['GET', true] : ['POST', false]);
});

it('bytes that curl --trace-ascii does not show are not guessed', () => {
  expect(() => readSamples(textOf('curl-traceascii.json.txt'))).toThrow(
    'bytes beyond ASCII are dots',
  );
});

it.each(['', 'Content-Length: 37\r\n', 'Content-Length: 39\r\n'])(
  'a body keeps its CR LF: %j',
  (length) => {
    const body = '{"a":"1",\r\n"sign":"0123456789abcdef"}';
    const head = `POST /x HTTP/1.1\r\nHost: e.com\r\n${length}\r\n`;
    const sent = length.includes('39') ? `${body}\r\n` : body;
    expect(readSample(`${head}${body}\r\n`).body).toBe(sent);
    if (length !== '')
      expect(readSample(`${head}${body}\r\nHTTP/1.1 200 OK\r\nA: b\r\n\r\n${answer}`).body).toBe(
        sent,
      );
  },
);

it('a signature that is called "signature" leaves a sample file a sample file', () => {
  const file =
    '{"method":"GET","url":"https://e.com/x","params":{"b":"2","a":"1"},"signature":"42"}';
  const wanted = {
    url: 'https://e.com/x',
    params: [
      ['b', '2'],
      ['a', '1'],
    ],
    signature: '42',
  };
  expect(readSample(file, { signParam: 'signature' })).toMatchObject(wanted);
});

it('a request that is logged as an address and as a path is one; what is not a digest is no signature', () => {
  const digest = '0123456789abcdef0123456789abcdef';
  const log = [
    `calling https://e.com/x?a=1&sign=${digest}`,
    `10.0.0.1 "GET /x?a=1&sign=${digest} HTTP/1.1" 200 "https://shop.example/?page=2&sign=login"`,
  ].join('\n');
  expect(readSample(log)).toMatchObject({ url: 'https://e.com/x', signature: digest });
});

it.each([
  ['http POST e.com/p a=1', 'HTTPie command: with --offline'],
  ['PK\u0003\u0004', 'a zip, as Fiddler saves'],
  ['something with sign in it', 'Line 1 has "sign", but not in a URL'],
])('%j is refused with what to take', (text, hint) => {
  expect(() => readSamples(text)).toThrow(
    expect.objectContaining({ hint: expect.stringContaining(hint) }),
  );
});

const digest = '0123456789abcdef0123456789abcdef';
const pairs = `a=1&sign=${digest}`;
const answer = `{"sign":"${'e'.repeat(32)}"}`;
const far = 'word '.repeat(180);

/** What programs print of a POST of a=1 to /p, and of its answer. */
const printed: Readonly<Record<string, string>> = {
  'a map behind the address': `see http://e.com/q\nINFO: POST http://e.com/p ${far}params={a=1, sign=${digest}}`,
  'an object on several lines': `[API] POST http://e.com/p {\n  a: '1',\n  sign: '${digest}'\n}\n${answer}`,
  'the address on the line before': `POST http://e.com/p\n$VAR1 = {\n 'a' => '1',\n 'sign' => '${digest}'\n};`,
  'the answer on a line of its own': `send url=http://e.com/p method=POST data={'a': '1', 'sign': '${digest}'}\nresponse of http://e.com/p ${answer}`,
  'the answer behind the form': `see http://e.com/q\nPOST http://e.com/p ${far}${pairs} -> 200 ${answer}`,
  'options, then the call':
    `const url = 'http://e.com/p';\nconst options = {\n  method: 'POST',\n  body: new URLSearchParams({` +
    `\n    a: '1',\n    sign: '${digest}'\n  })\n};`,
  'a call of axios': `axios.post('http://e.com/p', {\n  a: '1',\n  sign: '${digest}'\n});`,
  'a call in Python': `r = requests.post("http://e.com/p", data={"a": "1", "sign": "${digest}"})`,
  'the signature in front': `INFO: POST http://e.com/p?sign=${digest}&a=1 -> 200 ${answer}`,
  'a body that was parsed': `{"body":{"a":"1","sign":"${digest}"},"method":"POST","url":"http://e.com/p"}`,
  'a record of Node': `{\n  method: 'POST',\n  url: '/p',\n  headers: { host: 'e.com' },\n  body: { a: '1', sign: '${digest}' }\n}`,
  'names before the values': `method=POST scheme=http host=e.com uri=/p args="-" body="${pairs}" status=200`,
  'quotes as escapes': `10.0.0.1 e.com "POST /p HTTP/1.1" "{\\x22a\\x22:\\x221\\x22,\\x22sign\\x22:\\x22${digest}\\x22}" 200`,
  'a request line amid others': `-----START-----\nPOST http://e.com/p\nContent-Type: application/json\n\n{"a":"1","sign":"${digest}"}`,
};

it.each(Object.entries(printed))('%s: the request is read, and not its answer', (_, text) => {
  const { method, url, params: read, signature } = readSample(text);
  expect([method, pathOf(url, ''), textsOf(read), signature]).toEqual([
    'POST',
    '/p',
    [['a', '1']],
    digest,
  ]);
});

it.each([
  [
    'of a server is not that of a request',
    `Server (http://e.com) started\ncallback: ${pairs}`,
    'POST ',
  ],
  ['has its scheme in any letter case', `HTTPS://e.com/p?${pairs}`, 'GET HTTPS://e.com/p'],
  ['is taken once, with its query', `method=GET uri=/p?${pairs} args="${pairs}"`, 'GET /p'],
])('an address %s', (_, text, expected) => {
  const { method, url } = readSample(text);
  expect(`${method} ${url}`).toBe(expected);
});

it('a call with an expression is refused', () => {
  const text = `fetch("http://e.com/p?${pairs}", {method: "POST", body: JSON.stringify(x)})`;
  expect(() => readSamples(text)).toThrow('there is an expression');
});

it('headers are no parameters', () => {
  const text = `INFO POST /p\nHeaders: {'Host': 'e.com', 'X-Sign': '${digest}'}`;
  expect(() => readSamples(text, { signParam: 'X-Sign' })).toThrow(
    'this does not look like a request',
  );
});
