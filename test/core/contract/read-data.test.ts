import { describe, expect, it } from 'vitest';
import { readData } from '../../../src/core/contract/answer-data.js';
import { readDataWarnings } from '../../../src/core/contract/read-data.js';
import { parseUserRecord, readableValues } from '../../../src/core/contract/user-record.js';
import { defaultPlatform } from '../../../src/core/platform/platform.js';

const record = parseUserRecord(
  JSON.stringify({
    tenant_code: 'acme',
    union_id: 'u001',
    basic_info: { mobile: '13800138000', chat_nickname: '张三' },
    extension_info: { level: 'gold', chat_nickname: 'hidden', oa_id: '007' },
    login_device_info: [
      { brand: 'A', os: 'B', device_token: 't1', country: '中国', city: '杭州' },
      { uuid: 'u', province: 'p' },
    ],
    mobile_district_code: '86',
  }),
);

describe('data of a read', () => {
  it('has the three objects if no name is given', () => {
    const unknown = { os_version: '', network: '' };
    expect(readData(record, null, null, defaultPlatform)).toEqual({
      union_id: 'u001',
      basic_info: record.basic_info,
      extension_info: { ...record.extension_info, mobile_district_code: '86' },
      login_device_info: [
        {
          brand: 'A',
          os: 'B',
          device_token: 't1',
          uuid: '',
          country: '中国',
          province: '',
          city: '杭州',
          ...unknown,
        },
        {
          brand: '',
          os: '',
          device_token: '',
          uuid: 'u',
          country: '',
          province: 'p',
          city: '',
          ...unknown,
        },
      ],
    });
  });

  it('has an extension key named as a field that the record does not have', () => {
    const imported = { ...record, extension_info: { gps: '30.2,120.2' } };
    expect(readData(imported, null, null, defaultPlatform)).toMatchObject({
      extension_info: { gps: '30.2,120.2' },
    });
    expect(readData(imported, ['gps'], null, defaultPlatform)).toMatchObject({ gps: '30.2,120.2' });
  });

  it('has one key per requested name that exists, own fields first', () => {
    const names = 'mobile mobile_district_code level chat_nickname nothing toString union_id'.split(
      ' ',
    );
    expect(readData(record, names, null, defaultPlatform)).toEqual({
      union_id: 'u001',
      mobile: '13800138000',
      mobile_district_code: '86',
      level: 'gold',
      chat_nickname: '张三',
    });
  });

  it('contains only what the code authorizes', () => {
    expect(readData(record, ['mobile', 'level'], ['level'], defaultPlatform)).toEqual({
      union_id: 'u001',
      level: 'gold',
    });
    expect(readData(record, null, ['level', 'mobile'], defaultPlatform)).toEqual({
      union_id: 'u001',
      basic_info: { mobile: '13800138000' },
      extension_info: { level: 'gold' },
      login_device_info: [],
    });
  });

  it('shows the fields of a device as device_info and location_info are authorized', () => {
    const devices = (...authorized: string[]) =>
      readData(record, null, authorized, defaultPlatform).login_device_info as object[];
    const device = {
      brand: 'A',
      os: 'B',
      os_version: '',
      network: '',
      device_token: 't1',
      uuid: '',
    };
    const location = { country: '中国', province: '', city: '杭州' };
    expect(devices('device_info')?.[0]).toEqual(device);
    expect(devices('location_info')?.[0]).toEqual(location);
    expect(devices('location_info', 'device_info')?.[0]).toEqual({ ...device, ...location });
    expect(devices('device_token')).toEqual([]);
    const both = ['device_info', 'location_info'];
    const named = readData(record, both, ['location_info'], defaultPlatform);
    expect(Object.keys(named)).toEqual(['union_id', 'location_info']);
  });

  it('returns as text exactly the values that can be a primary key', () => {
    const names = [...readableValues(record).keys()];
    for (const [name, value] of readableValues(record))
      expect(readData(record, [name], null, defaultPlatform)[name]).toBe(value);
    expect(names.sort()).toEqual(
      ['chat_nickname', 'device_token', 'level', 'mobile', 'mobile_district_code', 'oa_id'].sort(),
    );
  });
});

describe('received data of a read', () => {
  it.each<[Record<string, unknown>, string | null]>([
    [{ basic_info: {}, extension_info: {}, login_device_info: [{}, {}], mobile: 'x' }, null],
    [{ basic_info: ['x'] }, 'basic_info'],
    [{ extension_info: null }, 'extension_info'],
    [{ login_device_info: {} }, 'login_device_info'],
    [{ login_device_info: [{}, 'x'] }, 'login_device_info'],
    [{ device_info: ['{}'], location_info: [] }, null],
    [{ device_info: [{}] }, 'device_info'],
    [{ location_info: '{}' }, 'location_info'],
    [{ mobile: 1 }, 'mobile'],
    [{ not_requested: 1 }, null],
  ])('has the types of the spec, or is warned of: %j', (data, name) => {
    const warned = readDataWarnings({ union_id: 'u1', ...data }, ['mobile'], defaultPlatform);
    expect(warned).toEqual(name === null ? [] : [expect.stringMatching(`^"${name}" is `)]);
  });
});
