import type { Secret } from '../../src/core/signing/secret.js';
import type { UserInfoClientOptions } from '../../src/index.js';
import { createService, type Service } from '../../src/service/index.js';

/** A service that runs, and what a client of its one app says of itself. */
export interface ServiceWithApp {
  readonly service: Service;
  readonly credentials: Pick<UserInfoClientOptions, 'tenantCode' | 'channel' | 'appKey'> & {
    readonly appSecret: Secret;
  };
}

/** It has one user, `u1`. */
export async function serviceWithApp(): Promise<ServiceWithApp> {
  const service = await createService();
  const { app_key, app_secret } = await service.admin.createApp({
    tenantCode: 'acme',
    channel: 'web',
  });
  await service.admin.putUsers([
    {
      tenant_code: 'acme',
      union_id: 'u1',
      basic_info: {},
      extension_info: {},
      login_device_info: [],
    },
  ]);
  return {
    service,
    credentials: { tenantCode: 'acme', channel: 'web', appKey: app_key, appSecret: app_secret },
  };
}
