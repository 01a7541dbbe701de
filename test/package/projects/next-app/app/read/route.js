import { RejectedError, UserInfoClient } from 'userinfo-cli';

export const dynamic = 'force-dynamic';

export async function GET() {
  const app = { tenantCode: 't', channel: 'c', appKey: 'k', appSecret: 's' };
  const client = new UserInfoClient({ baseUrl: process.env.USERINFO_BASE_URL, ...app });
  const { envelope } = await client.read({ code: 'c1' });
  const error = await client.read({ code: 'refused' }).catch((reason) => reason);
  await client.close();
  return new Response(`${envelope.msg} ${error instanceof RejectedError} ${error.code}\n`);
}
