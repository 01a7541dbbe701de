import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Param } from '../../../src/core/signing/request.js';
import { requestOf, signWith, write } from '../../support/signing-requests.js';

const params: readonly Param[] = [
  ['b', '2'],
  ['a_b', ''],
  ['B', '1'],
  ['ab', '3'],
  ['b', '0'],
];

test.each([
  ['name', 'B=1&a_b=&ab=3&b=2&b=0'],
  ['name-desc', 'b=0&b=2&ab=3&a_b=&B=1'],
  ['name-nocase', 'a_b=&ab=3&b=2&B=1&b=0'],
  ['value', 'a_b=&b=0&B=1&b=2&ab=3'],
  ['pair', 'B=1&a_b=&ab=3&b=0&b=2'],
  ['pair-nocase', 'a_b=&ab=3&b=0&B=1&b=2'],
  ['sent', 'b=2&a_b=&B=1&ab=3&b=0'],
] as const)('ordered by %s', (order, expected) => {
  expect(write({ order }, params)).toBe(expected);
});

test('a fixed order leaves out what is not in it', () => {
  expect(write({ order: ['ab', 'none', 'b'] }, params)).toBe('ab=3&b=2&b=0');
});

test('exclude, include and empty choose the parameters', () => {
  expect(write({ exclude: ['b'], empty: 'drop' }, params)).toBe('B=1&ab=3');
  expect(write({ include: ['a_b', 'B'] }, params)).toBe('B=1&a_b=');
  expect(write({ include: ['a_b', 'B'], exclude: ['B'], order: ['B', 'a_b', 'ab'] }, params)).toBe(
    'a_b=',
  );
});

test('from chooses the parameters by their place, which a change of their names keeps', () => {
  const passback: readonly Param[] = [
    ['b', '2'],
    ['a', '1', 'query'],
    ['user_info', '{}', 'form'],
  ];
  expect(write({}, passback)).toBe('a=1&b=2&user_info={}');
  expect(write({ from: 'query' }, passback)).toBe('a=1&b=2');
  expect(write({ from: 'form' }, passback)).toBe('user_info={}');
  expect(write({ from: 'form', nameCase: 'upper', add: { key: '$secret' } }, passback)).toBe(
    'USER_INFO={}&key=s3cret',
  );
  expect(write({ from: 'form-or-query' }, passback)).toBe('user_info={}');
  expect(write({ from: 'form-or-query' }, passback.slice(0, 2))).toBe('a=1&b=2');
});

test('NAME* in exclude and include stands for every name that begins so', () => {
  expect(write({ exclude: ['a*'] }, params)).toBe('B=1&b=2&b=0');
  expect(write({ include: ['a*', 'B'], exclude: ['a_*'] }, params)).toBe('B=1&ab=3');
  expect(write({ include: ['*'], exclude: ['b'] }, params)).toBe('B=1&a_b=&ab=3');
  expect(
    write({ include: ['X-*'], nameCase: 'upper' }, [
      ['x-a', '1'],
      ['y', '2'],
    ]),
  ).toBe('X-A=1');
  expect(write({ order: ['b*', 'ab'], include: ['a*', 'b*'] }, [...params, ['b*', '7']])).toBe(
    'b*=7&ab=3',
  );
});

test('json writes values, or names too, as JSON strings, before they are encoded and replaced', () => {
  const odd: readonly Param[] = [['a"', 'x"\\\n/\u0001é\ud800']];
  const value = String.raw`"x\"\\\n/\u0001é\ud800"`;
  expect(write({ json: 'values' }, odd)).toBe(`a"=${value}`);
  expect(write({ json: 'both', kvSep: ':' }, odd)).toBe(String.raw`"a\"":` + value);
  expect(write({ json: 'values', escape: { '"': '\\' }, encode: 'rfc3986' }, [['a', '/']])).toBe(
    'a=%22%2F%22',
  );
  expect(
    write({ json: 'values', order: 'pair' }, [
      ['a', 'b'],
      ['a', '!'],
    ]),
  ).toBe('a="!"&a="b"');
});

test('add signs what is not sent, in its place in the order, whatever else is selected', () => {
  const add = { a_z: '1', client: 'v$extra:client;', key: '$secret', none: '$extra:none' };
  const request = requestOf(params.slice(0, 2), { extra: { client: 'ios', none: '' } });
  const signed = (rule: object) =>
    signWith({ params: { add, ...rule }, message: ['$params'], steps: ['md5'] }, request).message;
  expect(signed({})).toBe('a_b=&a_z=1&b=2&client=vios;&key=s3cret&none=');
  expect(signed({ order: 'sent', include: ['b'] })).toBe('b=2&a_z=1&client=vios;&key=s3cret&none=');
  expect(signed({ exclude: ['*'], empty: 'drop', nameCase: 'upper' })).toBe(
    'a_z=1&client=vios;&key=s3cret',
  );
  const order = ['key', 'none', 'client', 'b', 'a_z'];
  expect(signed({ order, names: false, pairSep: '|' })).toBe('s3cret||vios;|2|1');
});

test('an added value that is empty is dropped with the empty ones; its header may not be missing', () => {
  const signed = (value: string) =>
    signWith(
      { params: { add: { x: value }, empty: 'drop' }, message: ['$params'], steps: ['md5'] },
      requestOf([]),
    ).message;
  expect(signed('$[v$extra:client]')).toBe('');
  expect(() => signed('$extra:client')).toThrow('$extra:client');
});

test('names, values and separators say how a pair is written', () => {
  expect(write({ kvSep: ':', pairSep: '; ' }, params.slice(0, 2))).toBe('a_b:; b:2');
  expect(write({ names: false }, params.slice(0, 3))).toBe('1&&2');
  expect(write({ values: false }, params.slice(0, 3))).toBe('B&a_b&b');
  expect(write({ pairSep: ',' }, params.slice(0, 3), '$names|$values')).toBe('B,a_b,b|1,,2');
});

test('pairEnd follows every pair, the last one too', () => {
  expect(write({ pairEnd: '<$secret>' }, params.slice(0, 2))).toBe('a_b=<s3cret>&b=2<s3cret>');
});

test('joinRepeated makes one parameter of several, at the first one’s place', () => {
  expect(write({ joinRepeated: ',', order: 'sent' }, params)).toBe('b=2,0&a_b=&B=1&ab=3');
});

test('nameCase folds names before anything else, case folds what is written', () => {
  const mixed: readonly Param[] = [
    ['Beta', 'ö/X'],
    ['alpha', 'Y'],
  ];
  expect(write({ nameCase: 'upper', exclude: ['ALPHA'] }, mixed)).toBe('BETA=ö/X');
  expect(write({ nameCase: 'lower', order: ['beta', 'alpha'] }, mixed)).toBe('beta=ö/X&alpha=Y');
  expect(write({ case: 'lower', encode: 'rfc3986' }, mixed)).toBe('beta=%c3%b6%2fx&alpha=y');
  expect(write({ case: 'upper' }, mixed)).toBe('BETA=Ö/X&ALPHA=Y');
});

test('names and values are encoded, and ordered by their raw text', () => {
  const raw: readonly Param[] = [
    ['ä', ' '],
    ['z', 'ä'],
    ['~', '&'],
  ];
  expect(write({ encode: 'form' }, raw)).toBe('z=%C3%A4&%7E=%26&%C3%A4=+');
});

test('escape replaces in one pass, the longest text first, once a text is encoded; and one that is empty', () => {
  const rule = { escape: { '\\': '\\\\', ':': '\\:', '::': '<' } };
  expect(write(rule, [['a:b', 'c\\d::e$1']])).toBe('a\\:b=c\\\\d<e$1');
  const php = { escape: { '*': '%2A', '': '-' }, encode: 'form' } as const;
  expect(write(php, Object.entries({ a: '* ~', b: '', '': '%2A' }))).toBe('-=%252A&a=%2A+%7E&b=-');
});

test('encode.block encodes the block where it stands in the message, and is no part of the params stage', () => {
  const recipe = {
    message: ['$params', '&'],
    encode: { block: 'rfc3986' as const },
    steps: ['md5'],
  };
  const { params: block, message } = signWith(recipe, requestOf(params.slice(0, 2)));
  expect(block).toBe('a_b=&b=2');
  expect(message).toBe('a_b%3D%26b%3D2&');
});

test('encode.message and lower change the whole message', () => {
  const recipe = { message: ['$params', '&K=', '$secret'], steps: ['md5'] };
  const encode = { message: 'form-dotnet', lower: true } as const;
  expect(signWith({ ...recipe, encode }, requestOf([['A', 'é ']])).message).toBe(
    'a%3d%c3%a9+%26k%3ds3cret',
  );
});

test('any order is stable: what compares equal stays in request order, few or many', () => {
  const names = fc.array(fc.constantFrom('a', 'B', 'b', 'A', ''), { maxLength: 80 });
  fc.assert(
    fc.property(names, (list) => {
      const sent = list.map((name, index): Param => [name, String(index)]);
      const expected = sent.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
      expect(write({}, sent)).toBe(expected.map((pair) => pair.join('=')).join('&'));
    }),
  );
});

test('signing leaves the request as it was', () => {
  const request = Object.freeze(requestOf(Object.freeze([...params])));
  signWith(
    {
      params: { add: { key: '$secret' }, joinRepeated: ',' },
      message: ['$params'],
      steps: ['md5'],
    },
    request,
  );
  expect(request.params).toEqual(params);
});
