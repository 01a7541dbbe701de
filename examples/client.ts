import { UserInfoClient } from 'userinfo-cli';

/** One client a process: it keeps its connections open between calls. */
export const client = new UserInfoClient({
  baseUrl: process.env.USERINFO_BASE_URL ?? '',
  tenantCode: process.env.USERINFO_TENANT_CODE ?? '',
  channel: process.env.USERINFO_CHANNEL ?? '',
  appKey: process.env.USERINFO_APP_KEY ?? '',
  appSecret: process.env.USERINFO_APP_SECRET ?? '',
});
