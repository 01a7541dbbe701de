import { describe, expect, it } from 'vitest';
import { InvalidInputError } from '../../../src/core/contract/errors.js';
import {
  formatFlatJson,
  hasNeedlessEscapes,
  JsonNumber,
  parseUserInfo,
  toUserInfo,
} from '../../../src/core/contract/user-info.js';

function fault(act: () => unknown): InvalidInputError {
  try {
    act();
  } catch (error) {
    if (error instanceof InvalidInputError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('user_info', () => {
  it('accepts every JSON value without nesting', () => {
    const userInfo = { name: '张三/李四', age: 28, big: 9007199254740993n, vip: true, gone: null };
    expect(
      formatFlatJson(toUserInfo(Object.entries({ ...userInfo, rate: new JsonNumber('1.00') }))),
    ).toBe(
      '{"name":"张三/李四","age":28,"big":9007199254740993,"vip":true,"gone":null,"rate":1.00}',
    );
  });

  it.each([
    [{ a: {} }, 'key "a" holds an object'],
    [{ a: ['x'] }, 'key "a" holds an array'],
    [{ a: undefined }, 'key "a" is undefined'],
    [{ a: new Date(0) }, 'key "a" holds an instance of Date'],
    [{ a: () => {} }, 'key "a" holds a function'],
    [{ a: 2 ** 53 }, 'key "a" is beyond 2^53'],
    [{ a: -1e21 }, 'key "a" is beyond 2^53'],
    [{ a: Number.NaN }, 'key "a" is NaN'],
    [{ a: Number.POSITIVE_INFINITY }, 'key "a" is Infinity'],
    [{ a: 'x\0y' }, 'key "a" holds U+0000'],
    [{ a: '\ud800' }, 'key "a" holds an unpaired surrogate'],
    [{ 'a\udc00': 'x' }, 'holds an unpaired surrogate'],
    [{ '': 'x' }, 'an empty key'],
    [{}, 'user_info is empty'],
  ])('refuses %o by name', (userInfo, why) => {
    const error = fault(() => toUserInfo(Object.entries(userInfo)));
    expect(error.message).toContain(why);
    expect(error.resultCode).toBe(40004);
  });

  it('suggests what to send instead of a refused value', () => {
    expect(fault(() => toUserInfo([['a', undefined]])).hint).toContain('null to remove');
    expect(fault(() => toUserInfo([['a', new Date(0)]])).hint).toContain('toISOString()');
    expect(fault(() => toUserInfo([['a', 2 ** 60]])).hint).toContain('BigInt');
  });

  it('refuses nested values hidden by escapes', () => {
    expect(fault(() => parseUserInfo('{"a":"\\u0000"}')).message).toContain('holds U+0000');
    expect(fault(() => parseUserInfo('{"a":"\\ud83d"}')).message).toContain('unpaired surrogate');
    expect(fault(() => parseUserInfo('{"a":"secret value"')).message).not.toContain('secret value');
  });

  it.each([
    ['{"a":"\\u4e2d"}', true],
    ['{"a":"a\\/b"}', true],
    ['{"a":"\\u00e9"}', true],
    ['{"a":"中/é"}', false],
    ['{"a":"\\n\\u001f\\u007f"}', false],
    ['{"a":"\\\\u4e2d"}', false],
  ])('knows whether %s escapes what must not be escaped', (text, expected) => {
    expect(hasNeedlessEscapes(text)).toBe(expected);
  });
});
