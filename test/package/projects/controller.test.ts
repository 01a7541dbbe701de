import { expect, test } from '@jest/globals';
import { UserInfoClient } from 'userinfo-exchange';
import { createService, type Service } from 'userinfo-exchange/service';

class UserController {
  constructor(private readonly client: UserInfoClient) {}

  async read(code: string): Promise<number> {
    const { envelope } = await this.client.read({ code });
    return envelope.code;
  }
}

test('a controller of a CommonJS program', async () => {
  const service: Service = await createService();
  const { app_key: appKey, app_secret: appSecret } = await service.admin.createApp({
    tenantCode: 'acme',
    channel: 'web',
  });
  const app = { tenantCode: 'acme', channel: 'web', appKey, appSecret };
  const client = new UserInfoClient({ baseUrl: service.url, ...app });
  await expect(new UserController(client).read('unknown')).rejects.toThrow('40106');
  await client.close();
  await service.close();
});
