// A test suite against the platform's service in the same process. It runs with vitest; jest and node:test are alike.

import { UserInfoClient } from 'userinfo-cli';
import { createService, type Service } from 'userinfo-cli/service';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

const identity = { tenantCode: 'acme', channel: 'web' };
const user = {
  tenant_code: 'acme',
  union_id: 'u001',
  basic_info: { mobile: '13800138000' },
  extension_info: {},
  login_device_info: [],
};
let service: Service;
let client: UserInfoClient;

beforeAll(async () => {
  service = await createService();
});
afterAll(() => service.close());

beforeEach(async () => {
  await service.reset();
  const app = await service.admin.createApp(identity);
  await service.admin.putUser(user);
  client = new UserInfoClient({
    ...identity,
    baseUrl: service.url,
    appKey: app.app_key,
    appSecret: app.app_secret.reveal(),
  });
  return () => client.close();
});

test('a level that is written can be read', async () => {
  await client.passback({ unionId: 'u001', userInfo: { acme_level: 'gold' } });
  const { code } = await service.admin.issueCode({ ...identity, unionId: 'u001' });
  const { data } = await client.read({ code, infoNames: ['acme_level'] });
  expect(data.acme_level).toBe('gold');
});

test('a code works once', async () => {
  const { code } = await service.admin.issueCode({ ...identity, unionId: 'u001' });
  await client.read({ code });
  await expect(client.read({ code })).rejects.toMatchObject({ code: 'REJECTED', resultCode: 40106 });
});
