import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { pathOf } from '../../src/signing/request.js';
import { readSamples } from '../../src/signing-tools/samples/read-sample.js';
import { readSample } from '../support/read-sample.js';

/** What tools print of the same signed request, and of its answer, which has a signature, too: TOOL.KIND.txt. */
const folder = new URL('./captures/', import.meta.url);

const params = [
  ['app_key', 'app-1'],
  ['name', '张三'],
  ['note', 'a b+c'],
  ['timestamp', '1717171717'],
];

const textOf = (name: string) => readFileSync(new URL(name, folder), 'utf8');
const names = readdirSync(folder).filter((name) => name !== 'curl-traceascii.json.txt');

it.each(names)('%s is read, and not its answer', (name) => {
  const kind = name.split('.')[1];
  const { url, method, body, ...sample } = readSample(textOf(name));
  expect(sample).toMatchObject({ signature: '0123456789abcdef0123456789abcdef' });
  expect(sample.params.toSorted(([a], [b]) => (a < b ? -1 : 1))).toEqual(params);
  if (kind === 'params') return;
  expect([method, body === null]).toEqual(kind === 'get' ? ['GET', true] : ['POST', false]);
  expect(pathOf(url, '')).toMatch(/^\/(?:v1\/users|j)$/);
});

it('bytes that curl --trace-ascii does not show are not guessed', () => {
  expect(() => readSamples(textOf('curl-traceascii.json.txt'))).toThrow('bytes beyond ASCII are dots');
});

it('a signature that is called "signature" leaves a sample file a sample file', () => {
  const file = '{"method":"GET","url":"https://e.com/x","params":{"b":"2","a":"1"},"signature":"42"}';
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
  expect(() => readSamples(text)).toThrow(expect.objectContaining({ hint: expect.stringContaining(hint) }));
});
