import { isLoopback } from '../../../core/contract/base-url.js';
import { InvalidInputError } from '../../../core/contract/errors.js';
import { parseUserRecord } from '../../../core/contract/user-record.js';
import { addProfile, updateProfile } from '../../../core/profiles/profile-store.js';
import {
  type AdminOperations,
  type AppCredentials,
  NotFoundError,
  type Service,
} from '../../../service/index.js';
import type { CliContext } from '../../command.js';
import { databaseFlag } from '../../command-line/database.js';
import type { Advice } from '../../io.js';
import type { ServeOptions } from './options.js';

/** The profile of the demo app. */
const demoProfile = 'demo';

/** The tenant and the channel of the demo app. */
export const demoApp = { tenantCode: 'acme', channel: 'web' } as const;

/** The user whom the demos read and write. */
export const demoUser = {
  tenant_code: demoApp.tenantCode,
  union_id: 'u001',
  basic_info: { mobile: '13800138000', chat_nickname: '张三' },
  login_device_info: [
    { brand: 'Acme', os: 'Android', os_version: '14', country: '中国', city: '杭州' },
  ],
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

/** @throws InvalidInputError if profile `demo` exists, and is not that of a demo on this machine */
export async function checkDemoProfile({ profiles }: CliContext): Promise<void> {
  const existing = (await profiles.load()).profiles.get(demoProfile);
  if (existing === undefined) return;
  const isHere = isLoopback(new URL(existing.base_url).hostname) && existing.environment === 'test';
  if (isHere && existing.app_key === appKey) return;
  throw new InvalidInputError(
    `profile "${demoProfile}" is for another service: it is not overwritten`,
    {
      hint: 'Rename it, or remove it:',
      commands: [
        `userinfo profile rename ${demoProfile} ${demoProfile}-old`,
        `userinfo profile delete ${demoProfile}`,
      ],
    },
  );
}

/**
 * Creates the demo app, its users and profile `demo`, which stores the app's secret. Where the app
 * exists, it gets a new secret, and the users stay as they are. Returns what to try next.
 */
export async function prepareDemo(
  context: CliContext,
  { admin, url }: Service,
  { database, page }: Pick<ServeOptions, 'database' | 'page'>,
): Promise<Advice[]> {
  const { app_secret: value, ...app } = await freshCredentials(admin);
  const values = { ...app, base_url: url, secret: { kind: 'file', value } } as const;
  const { profiles } = await context.profiles.load();
  const urlBefore = profiles.get(demoProfile)?.base_url ?? url;
  await context.profiles.change((list) => {
    if (list.profiles.has(demoProfile))
      return updateProfile(list, demoProfile, { ...values, platform: null });
    return addProfile(list, { name: demoProfile, environment: 'test', ...values });
  });
  const advice: Advice[] = [];
  if (urlBefore !== url) {
    const hint = `profile "${demoProfile}" was of ${urlBefore}, and is of ${url} now.`;
    advice.push({ hint, commands: [] });
  }
  const unionIds = users.map(({ union_id }) => union_id).join(' and ');
  const content = `tenant ${demoApp.tenantCode} with users ${unionIds}, app ${appKey}`;
  const passback = `userinfo passback acme_level=gold --union-id ${demoUser.union_id} -p ${demoProfile}`;
  advice.push({
    hint: `demo: ${content} in profile "${demoProfile}". Try in another terminal:`,
    commands: [
      `userinfo read ${await codeToTry(admin, database)} -p ${demoProfile}`,
      passback,
      `USERINFO_APP_SECRET=${appKey} ${passback}  # refused: see why on the page`,
    ],
  });
  if (page !== false) {
    const hint = `and open ${url} in a browser: it shows each request, and why one is refused.`;
    advice.push({ hint, commands: [] });
  }
  return advice;
}

/** Creates the app after its users, or rotates its secret: no operation returns the current one. */
async function freshCredentials(admin: AdminOperations): Promise<AppCredentials> {
  try {
    return await admin.rotateSecret({ appKey });
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    for (const user of users) await admin.putUser(parseUserRecord(JSON.stringify(user)));
    return await admin.createApp({ ...demoApp, appKey });
  }
}

/** No other command can reach a store in memory: its code is issued here, for unlimited use. */
async function codeToTry(admin: AdminOperations, database: string | undefined): Promise<string> {
  const { tenantCode } = demoApp;
  const unionId = demoUser.union_id;
  if (database !== ':memory:') {
    const flags = `--tenant-code ${tenantCode} --union-id ${unionId}${databaseFlag(database)}`;
    return `"$(userinfo admin code issue ${flags})"`;
  }
  const bounds = { ttlSeconds: codeTtlSeconds, uses: 'unlimited' } as const;
  const { code } = await admin.issueCode({ tenantCode, unionId, ...bounds });
  return code;
}
