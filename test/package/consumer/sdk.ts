import {
  CancelledError,
  InvalidInputError,
  JsonNumber,
  NoAnswerError,
  type PassbackOutcome,
  type ReadAnswer,
  RejectedError,
  type ResponseEvent,
  UserInfoClient,
  UserInfoError,
  type UserRecord,
} from 'userinfo-exchange';
import { createService, resultCode, type Service } from 'userinfo-exchange/service';

/** What a program that uses the package may write: it is compiled, then run. */
export async function main(): Promise<void> {
  await using service: Service = await createService();
  const { app_key: appKey, app_secret: appSecret } = await service.admin.createApp({
    tenantCode: 'acme',
    channel: 'web',
  });
  const user: UserRecord = {
    tenant_code: 'acme',
    union_id: 'u1',
    basic_info: {},
    extension_info: {},
    login_device_info: [],
  };
  await service.admin.putUser(user);
  const options = { baseUrl: service.url, tenantCode: 'acme', channel: 'web', appKey, appSecret };
  const statuses: number[] = [];
  const onResponse = ({ httpStatus }: ResponseEvent) => statuses.push(httpStatus);
  await using client = new UserInfoClient({ ...options, onResponse });
  const { envelope } = await client.passback({
    unionId: 'u1',
    userInfo: { n: new JsonNumber('1.00') },
  });
  const rows = [{ unionId: 'u1', userInfo: { level: 'gold' } }];
  const outcomes: PassbackOutcome<(typeof rows)[number]>[] = [];
  await using quiet = new UserInfoClient(options);
  for await (const outcome of quiet.passbackAll(rows)) outcomes.push(outcome);
  process.stdout.write(
    `${envelope.code === resultCode.ok} ${statuses.join()} ${outcomes.map(({ outcome }) => outcome).join()}\n`,
  );
  process.stdout.write(`${await wayToFail(() => client.read({ code: 'used' }))}\n`);
}

async function wayToFail(call: () => Promise<ReadAnswer>): Promise<string> {
  try {
    return (await call()).envelope.msg;
  } catch (error) {
    if (error instanceof RejectedError) return `${error.code} ${error.resultCode}`;
    if (error instanceof NoAnswerError) return error.reason;
    if (error instanceof CancelledError || error instanceof InvalidInputError) return error.code;
    if (error instanceof UserInfoError) return error.hint ?? '';
    throw error;
  }
}

await main();
