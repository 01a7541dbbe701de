import { setTimeout } from 'node:timers';
import { UserInfoClient } from 'userinfo-exchange';
import { createService } from 'userinfo-exchange/service';

const service = await createService();
const { app_key: appKey, app_secret: appSecret } = await service.admin.createApp({
  tenantCode: 'acme',
  channel: 'web',
});
await service.admin.putUser({ tenant_code: 'acme', union_id: 'u1' });
const app = { baseUrl: service.url, tenantCode: 'acme', channel: 'web', appKey, appSecret };
const client = new UserInfoClient(app);
const { envelope } = await client.passback({ unionId: 'u1', userInfo: { level: 'gold' } });
process.stdout.write(`${envelope.msg}\n`);
await client.close();
await service.close();
// Printed only if something keeps the process running.
setTimeout(() => process.stdout.write('still running\n'), 4_000).unref();
