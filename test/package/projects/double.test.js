const { InvalidInputError, UserInfoClient } = require('userinfo-exchange');
const { createService } = require('userinfo-exchange/service');

test('a client reads from the service', async () => {
  const service = await createService();
  const { app_key: appKey, app_secret: appSecret } = await service.admin.createApp({
    tenantCode: 'acme',
    channel: 'web',
  });
  const app = { baseUrl: service.url, tenantCode: 'acme', channel: 'web', appKey, appSecret };
  const client = new UserInfoClient(app);
  await expect(client.read({ code: 'unknown' })).rejects.toMatchObject({ code: 'REJECTED' });
  await expect(client.read({ code: '' })).rejects.toThrow(InvalidInputError);
  await client.close();
  await service.close();
});
