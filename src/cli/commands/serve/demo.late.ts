import { isLoopback } from '../../../protocol/base-url.js';
import { quoteName } from '../../../protocol/unsafe-text.js';
import { parseUserRecord } from '../../../protocol/user-record.js';
import {
  type AdminOperations,
  type AppCredentials,
  NotFoundError,
  type Service,
} from '../../../service/index.js';
import type { CliContext } from '../../context.js';
import { databaseFlag } from '../../service/database.js';
import { notOverwritten, writableProfile, writeAppProfile } from '../admin/app-profile.js';
import type { ServeOptions } from './options.js';

/** The profile of the demo app. */
export const demoProfile = 'demo';

/** The tenant and the channel of the demo app. */
export const demoApp = { tenantCode: 'acme', channel: 'web' } as const;

/** The user whom the demos read and write. */
export const demoUser = {
  tenant_code: demoApp.tenantCode,
  union_id: 'u001',
  basic_info: { mobile: '13800138000', chat_nickname: '张三' },
  login_device_info: [{ brand: 'Acme', os: 'Android', os_version: '14', country: '中国', city: '杭州' }],
};

const appKey = 'app_demo';

const users = [
  demoUser,
  {
    tenant_code: demoApp.tenantCode,
    union_id: 'u002',
    basic_info: { mobile: '13900139000', chat_nickname: '李四' },
  },
];

/** Demo codes are valid for a day. */
const codeTtlSeconds = 86_400;

/** @throws InvalidInputError if profile `demo` exists and must not be overwritten */
export async function checkDemoProfile(context: CliContext): Promise<void> {
  const existing = await writableProfile(context, demoProfile);
  const isOurs = existing?.app_key === appKey && isLoopback(new URL(existing.base_url).hostname);
  if (existing !== undefined && !isOurs) throw notOverwritten(demoProfile, 'is for another service');
}

/**
 * Creates the demo app, its users and profile `demo`, which stores the app's secret. An existing user is
 * unchanged.
 *
 * @returns what to try next, in lines
 */
export async function prepareDemo(
  context: CliContext,
  { admin, url }: Service,
  { database, page }: Pick<ServeOptions, 'database' | 'page'>,
): Promise<string[]> {
  const before = await writableProfile(context, demoProfile);
  const credentials = await freshCredentials(admin);
  await writeAppProfile(context, demoProfile, credentials, { base_url: url }, before === undefined);
  for (const user of users) await putWhereMissing(admin, JSON.stringify(user));
  const { tenantCode } = demoApp;
  const code = await codeToTry(admin, database);
  const passback = `userinfo passback acme_level=gold --union-id ${demoUser.union_id} -p ${demoProfile}`;
  return [
    `demo: tenant ${tenantCode} with users ${users.map(({ union_id }) => union_id).join(' and ')}, app ${appKey}` +
      ` in profile "${demoProfile}". Try in another terminal:`,
    `  userinfo read ${code} -p ${demoProfile}`,
    `  ${passback}`,
    `  USERINFO_APP_SECRET=${appKey} ${passback}  # refused: see why on the page`,
    ...(page === false
      ? []
      : [`and open ${url} in a browser: it shows each request, and why one is refused.`]),
    ...(await profileNotes(context, before?.base_url ?? url, url)),
  ];
}

/** Remarks about profile `demo`: a second demo took it over, or commands without -p use another one. */
async function profileNotes({ profiles }: CliContext, before: string, url: string): Promise<string[]> {
  const { active } = await profiles.load();
  return [
    ...(before === url ? [] : [`profile "${demoProfile}" now points to ${url}, no longer to ${before}`]),
    ...(active === demoProfile || active === null
      ? []
      : [`profile ${quoteName(active)} stays active: add -p ${demoProfile}`]),
  ];
}

/** Creates the app, or rotates its secret: no operation returns the current one. */
async function freshCredentials(admin: AdminOperations): Promise<AppCredentials> {
  try {
    return await admin.rotateSecret({ appKey });
  } catch (error) {
    if (error instanceof NotFoundError) return await admin.createApp({ ...demoApp, appKey });
    throw error;
  }
}

async function putWhereMissing(admin: AdminOperations, json: string): Promise<void> {
  const record = parseUserRecord(json);
  try {
    await admin.getUser({ tenantCode: record.tenant_code, unionId: record.union_id });
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    await admin.putUser(record);
  }
}

/** No other command can reach a store in memory: its code is issued here, for unlimited use. */
async function codeToTry(admin: AdminOperations, database: string | undefined): Promise<string> {
  const user = { tenantCode: demoApp.tenantCode, unionId: demoUser.union_id };
  if (database === ':memory:') {
    return (await admin.issueCode({ ...user, ttlSeconds: codeTtlSeconds, uses: 'unlimited' })).code;
  }
  const issue = `userinfo admin code issue --tenant-code ${user.tenantCode} --union-id ${user.unionId}`;
  return `"$(${issue}${databaseFlag(database)})"`;
}
