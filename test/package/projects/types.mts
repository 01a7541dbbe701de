// Names every type and value of both entries, and uses the frequent ones.
import * as sdk from 'userinfo-exchange';
import * as service from 'userinfo-exchange/service';

export { sdk, service };

const dispatcher: sdk.Dispatcher = { dispatch: () => true };
const client = new sdk.UserInfoClient({
  baseUrl: 'https://platform.example',
  tenantCode: 't',
  channel: 'c',
  appKey: 'k',
  appSecret: async () => 's',
  dispatcher,
});

export async function mobileOf(code: string): Promise<string | undefined> {
  try {
    const { data } = await client.read({ code, infoNames: ['mobile'] });
    return typeof data.mobile === 'string' ? data.mobile : undefined;
  } catch (error) {
    if (error instanceof sdk.RejectedError) return error.resultCode.toString();
    throw error;
  }
}

export async function all(
  rows: { unionId: string; userInfo: { level: string } }[],
): Promise<number> {
  let failed = 0;
  for await (const { outcome } of new sdk.UserInfoClient({
    baseUrl: 'https://platform.example',
    tenantCode: 't',
    channel: 'c',
    appKey: 'k',
    appSecret: 's',
  }).passbackAll(rows)) {
    if (outcome !== 'ok') failed += 1;
  }
  return failed;
}

export async function double(): Promise<string> {
  const started: service.TestService = await service.createTestService({
    users: [{ union_id: 'u1' }],
  });
  await started.close();
  return started.url;
}
