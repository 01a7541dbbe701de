import { expect, it } from 'vitest';
import type { SignableRequest } from '../../../src/core/signing/request.js';
import { Secret } from '../../../src/core/signing/secret.js';
import { searchSpace } from '../../../src/lab/solve/candidates/search-space.js';
import { Search } from '../../../src/lab/solve/search/search.js';
import { solve } from '../../../src/lab/solve/solve.js';
import { searchUpTo } from '../../support/search-up-to.js';

const secret = new Secret('5up3r+53cr37+K3y');
const small: SignableRequest = {
  method: 'POST',
  url: 'https://example.com/api/v1/orders',
  params: [['t', '17']],
  body: null,
  extra: {},
};

function taskOf(change: Partial<SignableRequest>) {
  return { request: { ...small, ...change }, secret, signature: '0'.repeat(32), otherParams: [] };
}

function manyParams(count: number, size: number): SignableRequest['params'] {
  return Array.from({ length: count }, (_, index) => [`p${index}`, `${index}`.padEnd(size, 'x')]);
}

function manyHeaders(count: number, size: number): SignableRequest['extra'] {
  return Object.fromEntries(manyParams(count, size));
}

it.each<[string, Partial<SignableRequest>]>([
  ['many parameters', { params: manyParams(60, 5) }],
  ['parameters with long values', { params: manyParams(20, 1500) }],
  ['repeated names', { params: manyParams(80, 3).map(([, value]) => ['a', value]) }],
  ['empty names', { params: manyParams(40, 3).map(([, value]) => ['', value]) }],
  ['empty values', { params: manyParams(40, 3).map(([name]) => [name, '']) }],
  ['half characters', { params: [['\ud800', '\udc00'.repeat(2000)]] }],
  ['broken escapes', { params: [['%%%', '%zz%'.repeat(3000)]] }],
  ['many headers', { extra: manyHeaders(30, 5) }],
  ['long headers', { extra: manyHeaders(7, 4000) }],
  ['a long body', { body: 'x'.repeat(30_000) }],
  ['a deep body', { params: [], body: '{"a":'.repeat(9000) }],
  ['a long path', { url: `https://example.com/${'a/'.repeat(10_000)}` }],
  ['nothing', { params: [], url: '' }],
])(
  'a search of a request with %s ends when its time is over',
  { timeout: 120_000 },
  (_, change) => {
    const share = { from: 0, to: 15, part: 0, parts: 1 };
    const { hit, isCut, tried } = new Search(taskOf(change)).run(share, () => true);
    expect({ hit, isCut: isCut || tried < 1024 }).toEqual({ hit: null, isCut: true });
    expect(tried).toBeLessThanOrEqual(1024);
  },
);

it.each<[string, Partial<SignableRequest>]>([
  ['500 parameters', { params: manyParams(500, 5) }],
  ['100 headers', { extra: manyHeaders(100, 5) }],
  ['a body of a megabyte', { body: 'x'.repeat(1_000_000) }],
])('a request with %s is refused before anything is tried', async (_, change) => {
  const search = solve([taskOf(change)], searchUpTo(0), async () => {});
  await expect(search).rejects.toThrow(
    /^a request of \d+ parameters, \d+ headers and \d+ characters is too large/,
  );
});

it('a search whose lists have no more room ends, and says how far it came', () => {
  const share = { from: 0, to: 13, part: 0, parts: 1 };
  const task = taskOf({ params: manyParams(20, 3000) });
  const space = searchSpace(task);
  space.room.left = 100_000;
  expect(new Search(task, space).run(share)).toMatchObject({ hit: null, isCut: true });
  expect(new Search(taskOf({})).run(share)).toMatchObject({ isCut: false });
});
