import { describe, expect, it } from 'vitest';
import {
  joinInfoNames,
  parseInfoNames,
  specialInfoNames,
} from '../../../src/core/contract/info-names.js';
import { specialUserInfoKeys } from '../../../src/core/contract/user-info.js';
import {
  basicInfoFields,
  loginDeviceFields,
  parseUserRecord,
} from '../../../src/core/contract/user-record.js';
import { loginDeviceFieldsInSpec, namesInSpec } from '../../support/spec-names.js';

const named = { tenant_code: 'acme', union_id: 'u1' };
const withFields = (fields: object) => JSON.stringify({ ...named, ...fields });

describe('the record of a user', () => {
  it('can be empty but for its identifiers', () => {
    expect(parseUserRecord(withFields({}))).toEqual({
      ...named,
      basic_info: {},
      extension_info: {},
      login_device_info: [],
    });
  });

  it('keeps numbers and booleans as written, and drops null', () => {
    const json =
      '{"tenant_code":"acme","union_id":17,"basic_info":null,' +
      '"extension_info":{"big":12345678901234567890,"sum":1.00,"yes":true,"none":null}}';
    expect(parseUserRecord(json)).toMatchObject({
      union_id: '17',
      basic_info: {},
      extension_info: { big: '12345678901234567890', sum: '1.00', yes: 'true' },
    });
  });

  it.each([
    ['{', /^the record is not JSON/],
    ['[]', /^the record is not an object$/],
    ['17', /^the record is not an object$/],
    ['null', /^the record is not an object$/],
    ['{"union_id":"u1"}', /^the record has no tenant_code$/],
    ['{"tenant_code":"acme","union_id":null}', /^the record has no union_id$/],
    [withFields({ mobil: '1' }), /^the record has the unknown field "mobil"$/],
    [withFields({ basic_info: { mobil: '1' } }), /^basic_info has the unknown field "mobil"$/],
    [withFields({ basic_info: [] }), /^basic_info is not an object$/],
    [withFields({ login_device_info: {} }), /^login_device_info is not an array$/],
    [withFields({ login_device_info: [{}, 'x'] }), /^login_device_info\[1\] is not an object$/],
    [withFields({ extension_info: { a: ['x'] } }), /^"extension_info\.a" is not text$/],
    [withFields({ extension_info: { a: 'x\0' } }), /^"extension_info\.a" holds/],
    [withFields({ extension_info: { 'a\0': 'x' } }), /^a key of extension_info holds/],
  ])('%s is refused', (json, problem) => {
    expect(() => parseUserRecord(json)).toThrow(problem);
  });

  it('with an unknown field is refused with those that are known', () => {
    expect(() => parseUserRecord(withFields({ basic_info: { mobil: '1' } }))).toThrow(
      expect.objectContaining({ hint: expect.stringContaining('mobile, ') }),
    );
  });
});

describe('the names of docs/spec.md', () => {
  it('are the fields of basic_info (§2.2) and of a login device (§2.3)', () => {
    expect(basicInfoFields.toSorted()).toEqual(namesInSpec('### 2.2 ').toSorted());
    expect(loginDeviceFields).toEqual(loginDeviceFieldsInSpec());
  });

  it('are the special names of a read (§4.1)', () => {
    const names = namesInSpec('Values of `info_name` with a special meaning:');
    expect(Object.keys(specialInfoNames())).toEqual(names);
  });

  it('are the special keys of a passback (§4.2)', () => {
    expect(Object.keys(specialUserInfoKeys)).toEqual(
      namesInSpec('4. Keys allowed with a special meaning:'),
    );
  });
});

describe('info names', () => {
  it('are joined by a comma, as they are', () => {
    expect(joinInfoNames(['mobile', ' id_card '])).toBe('mobile, id_card ');
  });

  it('are read from texts of one or several, each once', () => {
    expect(parseInfoNames(['mobile, chat_nickname', ' level,', ',mobile'])).toEqual([
      'mobile',
      'chat_nickname',
      'level',
    ]);
  });

  it.each([[['']], [[' , ']], [[]]])(
    'that are empty (%j) are refused: they would request the whole record',
    (texts) => {
      expect(() => parseInfoNames(texts)).toThrow('the list of info names is empty');
    },
  );

  it.each([
    [[], 'the list of info names is empty'],
    [[''], 'an info name is empty'],
    [['mobile', ' '], 'an info name is empty'],
    [['a,b'], 'info name "a,b" holds a comma'],
    [['a\0'], 'info name'],
  ])('%j are refused: they would request something else', (names, problem) => {
    expect(() => joinInfoNames(names)).toThrow(problem);
  });
});
