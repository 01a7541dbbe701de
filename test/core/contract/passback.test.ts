import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readData } from '../../../src/core/contract/answer-data.js';
import type { InvalidInputError } from '../../../src/core/contract/errors.js';
import { checkPassback } from '../../../src/core/contract/passback.js';
import {
  parseUserInfo,
  reservedKeys,
  specialUserInfoKeys,
  toUserInfo,
} from '../../../src/core/contract/user-info.js';
import {
  applyPassback,
  basicInfoFields,
  type UserRecord,
} from '../../../src/core/contract/user-record.js';
import { defaultPlatform } from '../../../src/core/platform/platform.js';

const nobody: UserRecord = {
  tenant_code: 'acme',
  union_id: 'u001',
  basic_info: {},
  extension_info: {},
  login_device_info: [],
};

function codeOf(act: () => unknown): number {
  try {
    act();
  } catch (error) {
    return (error as InvalidInputError).resultCode;
  }
  return 200;
}

describe('the rules of a passback', () => {
  const check = (unionId: string, primaryKey: string, json: string) => () =>
    checkPassback({ unionId, primaryKey }, () => parseUserInfo(json));

  it.each([
    ['', '', '[', 40005],
    ['u', '', '[', 40004],
    ['', 'mobile', '{"union_id":"x"}', 40003],
    ['', 'mobile', '{"channel":null}', 40003],
    ['', 'mobile', '{"a":"x"}', 40006],
    ['', 'mobile', '{"mobile":null}', 40006],
    ['', 'mobile', '{"mobile":""}', 40006],
    ['', 'vip', '{"vip":true}', 40006],
    ['', 'vip', '{"vip":"true"}', 200],
    ['', 'number', '{"number":3003}', 200],
    ['', 'mobile', '{"mobile":"1"}', 200],
    ['u', 'mobile', '{"a":"x"}', 200],
  ])('union_id "%s", primary_key "%s", %s: %i', (unionId, primaryKey, json, code) => {
    expect(codeOf(check(unionId, primaryKey, json))).toBe(code);
  });

  it('lets union_id win over primary_key', () => {
    expect(check('u001', 'mobile', '{"mobile":"1"}')().user).toEqual({
      by: 'union_id',
      unionId: 'u001',
    });
  });

  it('compares a primary key as text, as written', () => {
    expect(check('', 'n', '{"n":1.00}')().user).toEqual({
      by: 'primary_key',
      name: 'n',
      value: '1.00',
    });
  });
});

describe('what a passback writes', () => {
  it('can be read back by name, whatever the key', () => {
    const key = fc
      .string({ unit: 'grapheme', minLength: 1 })
      .filter((name) => !reservedKeys.includes(name));
    const special = fc.constantFrom(
      ...Object.keys(specialUserInfoKeys),
      ...basicInfoFields,
      '__proto__',
    );
    const before = {
      ...nobody,
      basic_info: Object.fromEntries(basicInfoFields.map((field) => [field, 'old'])),
      login_device_info: [{ device_token: 'old' }],
    };
    const value = fc.oneof(fc.string({ unit: 'grapheme' }), fc.integer(), fc.boolean());
    const name = fc
      .oneof(key, special)
      .filter((one) => one !== 'device_info' && one !== 'location_info');
    fc.assert(
      fc.property(fc.array(fc.tuple(name, value), { minLength: 1 }), (entries) => {
        const userInfo = toUserInfo(new Map(entries));
        const record = applyPassback(before, userInfo, 'text');
        const data = readData(record, [...userInfo.keys()], null, defaultPlatform);
        for (const [written, given] of userInfo) {
          expect(Object.getOwnPropertyDescriptor(data, written)?.value).toBe(String(given));
        }
      }),
    );
  });

  it('is stored in the fields of its keys, and in extension_info', () => {
    const record = {
      ...nobody,
      login_device_info: [{ brand: 'A', device_token: 'old' }, { brand: 'B' }],
    };
    const json =
      '{"mobile":"1","mobile_district_code":"86","id_card":"2","device_token":"t","gps":"1,2","x":3}';
    expect(applyPassback(record, parseUserInfo(json), 'text')).toEqual({
      ...nobody,
      basic_info: { mobile: '1', id_card: '2' },
      mobile_district_code: '86',
      gps: '1,2',
      extension_info: { x: '3' },
      login_device_info: [{ brand: 'A', device_token: 't' }, { brand: 'B' }],
    });
  });

  it('removes keys that are null, and adds a device for a token of none', () => {
    const full = applyPassback(
      nobody,
      parseUserInfo('{"mobile":"1","gps":"2","device_token":"t","x":"y"}'),
      'text',
    );
    expect(full.login_device_info).toEqual([{ device_token: 't' }]);
    const emptied = applyPassback(
      full,
      parseUserInfo('{"mobile":null,"gps":null,"device_token":null,"x":null}'),
      'text',
    );
    expect(emptied).toEqual(nobody);
  });

  it('removes a value of before its name was special', () => {
    const old = { ...nobody, extension_info: { mobile: '1', x: 'y' } };
    expect(applyPassback(old, parseUserInfo('{"mobile":null}'), 'text')).toEqual({
      ...nobody,
      extension_info: { x: 'y' },
    });
  });

  it('keeps the other devices of a user when the first loses its token, and with it its last value', () => {
    const others = [{ brand: 'B', device_token: 't2' }, { brand: 'C' }];
    const withToken = { ...nobody, login_device_info: [{ device_token: 't1' }, ...others] };
    const after = applyPassback(withToken, parseUserInfo('{"device_token":null}'), 'text');
    expect(after.login_device_info).toEqual([{}, ...others]);
  });
});
