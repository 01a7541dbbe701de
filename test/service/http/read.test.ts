import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { draftRead, freshRandom, send } from '../../support/foreign-client.js';
import { type RunningService, runService, tenant, user } from '../../support/running-service.js';

let running: RunningService;

beforeAll(async () => {
  running = await runService();
  await running.service.admin.putUser(
    user('u1', {
      basic_info: {
        mobile: '13800138000',
        id_card: '330',
        chat_nickname: '张三',
        chat_sex: '1',
        chat_open_id: 'o1',
        chat_union_id: 'cu1',
        chat_avatar: 'https://chat.example/a?b=1&c=2',
      },
      extension_info: { name: '李四/王五', other: '1.00', level: '28' },
      login_device_info: [
        { brand: 'Acme', os: 'Android', device_token: 't1', country: '中国', city: '杭州' },
        { uuid: 'x2', province: '浙江' },
      ],
      mobile_district_code: '86',
      gps: '120.1,30.2',
    }),
  );
  await running.service.admin.putUser(user('empty'));
});
afterAll(() => running.service.close());

describe('a read (§4.1)', () => {
  it('without names has the three objects, byte for byte', async () => {
    const { status, headers, text } = await running.read('u1');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(text).toBe(
      '{"code":200,"msg":"ok","data":{"union_id":"u1",' +
        '"basic_info":{"mobile":"13800138000","id_card":"330","chat_nickname":"张三","chat_sex":"1",' +
        '"chat_open_id":"o1","chat_union_id":"cu1","chat_avatar":"https://chat.example/a?b=1&c=2"},' +
        '"extension_info":{"name":"李四/王五","other":"1.00","level":"28","mobile_district_code":"86","gps":"120.1,30.2"},' +
        '"login_device_info":[' +
        '{"brand":"Acme","os":"Android","os_version":"","network":"","device_token":"t1","uuid":"",' +
        '"country":"中国","province":"","city":"杭州"},' +
        '{"brand":"","os":"","os_version":"","network":"","device_token":"","uuid":"x2",' +
        '"country":"","province":"浙江","city":""}]}}',
    );
  });

  it('trims names; a list without one is refused, an empty parameter counts as not sent', async () => {
    const { envelope } = await running.read('u1', 'level, mobile ,');
    expect(envelope.data).toEqual({ union_id: 'u1', level: '28', mobile: '13800138000' });
    for (const none of [',', ' , '])
      expect((await running.read('u1', none)).envelope.code).toBe(40002);
    expect((await running.read('u1', '')).envelope.data).toHaveProperty('basic_info');
  });

  it('returns devices and locations as arrays of JSON strings', async () => {
    const { envelope } = await running.read('u1', 'device_info,location_info');
    expect(envelope.data).toEqual({
      union_id: 'u1',
      device_info: [
        '{"device_token":"t1","brand":"Acme","os":"Android","os_version":"","network":"","uuid":""}',
        '{"device_token":"","brand":"","os":"","os_version":"","network":"","uuid":"x2"}',
      ],
      location_info: [
        '{"country":"中国","province":"","city":"杭州"}',
        '{"country":"","province":"浙江","city":""}',
      ],
    });
  });

  it('of an empty user has empty objects', async () => {
    expect((await running.read('empty')).envelope.data).toEqual({
      union_id: 'empty',
      basic_info: {},
      extension_info: {},
      login_device_info: [],
    });
  });

  it('returns no more than the code authorizes', async () => {
    const authorized = ['mobile', 'level'];
    const whole = await running.read('u1', undefined, authorized);
    expect(whole.envelope.data).toEqual({
      union_id: 'u1',
      basic_info: { mobile: '13800138000' },
      extension_info: { level: '28' },
      login_device_info: [],
    });
    const named = await running.read('u1', 'name,level,device_info', authorized);
    expect(named.envelope.data).toEqual({ union_id: 'u1', level: '28' });
    const gps = await running.read('u1', undefined, ['gps']);
    expect(gps.envelope.data.extension_info).toEqual({ gps: '120.1,30.2' });
  });
});

describe('an authorization code', () => {
  const readAt = async (code: string) =>
    (await send(running.service.url, draftRead(running.app, code))).envelope.code;
  const issue = (more: { ttlSeconds?: number; uses?: number | 'unlimited' } = {}) =>
    running.service.admin.issueCode({ tenantCode: tenant, unionId: 'u1', ...more });

  it('can be used once', async () => {
    const { code } = await issue();
    expect(await readAt(code)).toBe(200);
    expect(await readAt(code)).toBe(40106);
  });

  it('is invalid once it is revoked, or its user is deleted', async () => {
    const { admin } = running.service;
    const revoked = await issue();
    await admin.revokeCode({ tenantCode: tenant, code: revoked.code });
    expect(await readAt(revoked.code)).toBe(40106);
    const orphan = await issue();
    await admin.deleteUser({ tenantCode: tenant, unionId: 'u1' });
    await admin.putUser(user('u1'));
    expect(await readAt(orphan.code)).toBe(40106);
  });
});

describe('a replayed request', () => {
  let now = Date.now();
  let timed: RunningService;

  beforeAll(async () => {
    timed = await runService({ now: () => now });
    await timed.service.admin.putUser(user('u1'));
  });
  afterAll(() => timed.service.close());

  it('is refused while its timestamp is valid, and so is its random with another timestamp', async () => {
    const { code } = await timed.service.admin.issueCode({
      tenantCode: tenant,
      unionId: 'u1',
      uses: 'unlimited',
      ttlSeconds: 3600,
    });
    const random = freshRandom();
    const sendAt = async (timestamp: number) => {
      const draft = draftRead(timed.app, code, { random });
      draft.query.set('timestamp', String(timestamp));
      return (await send(timed.service.url, draft)).envelope.code;
    };
    const first = Math.floor(now / 1000) + 300;
    expect(await sendAt(first)).toBe(200);
    expect(await sendAt(first)).toBe(40105);
    now += 600_000;
    expect(await sendAt(first)).toBe(40105);
    expect(await sendAt(first + 300)).toBe(40105);
    now += 1000;
    expect(await sendAt(first)).toBe(40104);
    expect(await sendAt(first + 300)).toBe(40105);
  });
});
