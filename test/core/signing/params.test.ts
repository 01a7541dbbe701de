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
  ['value', 'a_b=&b=0&B=1&b=2&ab=3'],
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

test('add signs what is not sent, in its place in the order, whatever else is selected', () => {
  const add = { a_z: '1', client: 'v$method;', key: '$secret', none: '$param:none' };
  const request = requestOf(params.slice(0, 2));
  const signed = (rule: object) =>
    signWith({ params: { add, ...rule }, message: ['$params'], steps: ['md5'] }, request).message;
  expect(signed({})).toBe('a_b=&a_z=1&b=2&client=vGET;&key=s3cret&none=');
  expect(signed({ order: 'sent', include: ['b'] })).toBe('b=2&a_z=1&client=vGET;&key=s3cret&none=');
  expect(signed({ exclude: ['A_B', 'B'], empty: 'drop', nameCase: 'upper' })).toBe(
    'a_z=1&client=vGET;&key=s3cret',
  );
  const order = ['key', 'none', 'client', 'b', 'a_z'];
  expect(signed({ order, names: false, pairSep: '|' })).toBe('s3cret||vGET;|2|1');
});

test('names and separators say how a pair is written', () => {
  expect(write({ kvSep: ':', pairSep: '; ' }, params.slice(0, 2))).toBe('a_b:; b:2');
  expect(write({ names: false }, params.slice(0, 3))).toBe('1&&2');
});

test('nameCase folds names before anything else', () => {
  const mixed: readonly Param[] = [
    ['Beta', 'ö/X'],
    ['alpha', 'Y'],
  ];
  expect(write({ nameCase: 'upper', exclude: ['ALPHA'] }, mixed)).toBe('BETA=ö/X');
});

test('names and values are encoded, and ordered by their raw text', () => {
  const raw: readonly Param[] = [
    ['ä', ' '],
    ['z', 'ä'],
    ['~', '&'],
  ];
  expect(write({ encode: 'form' }, raw)).toBe('z=%C3%A4&%7E=%26&%C3%A4=+');
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
      params: { add: { key: '$secret' } },
      message: ['$params'],
      steps: ['md5'],
    },
    request,
  );
  expect(request.params).toEqual(params);
});
