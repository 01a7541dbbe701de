import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningService, runService, tenant, user } from '../../support/running-service.js';

const keys = (count: number, value: string | null = 'x', first = 0) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${first + index}`, value]));

let running: RunningService;

beforeAll(async () => {
  running = await runService();
});
afterAll(() => running.service.close());

const get = (unionId: string) => running.service.admin.getUser({ tenantCode: tenant, unionId });
const put = (...args: Parameters<typeof user>) => running.service.admin.putUser(user(...args));
const passBack = async (union_id: string, userInfo: object) =>
  (await running.passback({ union_id, user_info: JSON.stringify(userInfo) })).envelope;

const tooManyKeys = (count: number) => ({
  code: 41301,
  msg: `the user's record would have ${count} keys; the maximum is 100`,
});

describe('a record', () => {
  it('has at most 100 keys, in all its parts together: one more is refused, and nothing is written', async () => {
    await put('u1', {
      basic_info: { mobile: '1', chat_sex: '2' },
      extension_info: keys(92) as Record<string, string>,
      login_device_info: [{ brand: 'a', os: 'b' }, {}],
      gps: '1,2',
    });
    const before = await get('u1');
    expect(await passBack('u1', { new1: 1, new2: 2, new3: 3 })).toMatchObject(tooManyKeys(101));
    expect(
      await passBack('u1', { k0: 'changed', id_card: '3', mobile_district_code: '86', x: 1 }),
    ).toMatchObject(tooManyKeys(101));
    expect(await get('u1')).toEqual(before);
    expect(await passBack('u1', { new1: 1, new2: 2 })).toMatchObject({ code: 200 });
    expect(await passBack('u1', { device_token: 't' })).toMatchObject(tooManyKeys(101));
    expect(await passBack('u1', { k0: null, new3: 3, k1: 'changed' })).toMatchObject({ code: 200 });
    expect(Object.keys((await get('u1')).extension_info)).toHaveLength(94);
  });

  it('of more than 100 keys is refused by user put, alone and among others, which are stored', async () => {
    const extension_info = keys(101) as Record<string, string>;
    const refused = { resultCode: 41301, message: tooManyKeys(101).msg };
    await expect(put('u2', { extension_info })).rejects.toMatchObject(refused);
    await expect(put('u2', { login_device_info: Array(101).fill({}) })).rejects.toMatchObject(
      refused,
    );
    const records = [user('u3'), user('u2', { extension_info }), user('u4')];
    await expect(running.service.admin.putUsers(records)).rejects.toMatchObject(refused);
    expect(await get('u3')).toEqual(user('u3'));
    await expect(get('u2')).rejects.toMatchObject({ resultCode: 40401 });
  });
});

it('a user_info has at most 50 keys, those that it removes among them', async () => {
  await put('u5');
  const refused = { code: 41301, msg: 'user_info has more than 50 keys' };
  expect(await passBack('u5', keys(51, null))).toMatchObject(refused);
  expect(await passBack('u5', keys(51))).toMatchObject(refused);
  expect(await get('u5')).toEqual(user('u5'));
  expect(await passBack('u5', keys(50))).toMatchObject({ code: 200 });
});
