import type { Command } from 'commander';
import { parseBaseUrl } from '../../../core/contract/base-url.js';
import { addProfile } from '../../../core/profiles/profile-store.js';
import { withoutUndefined } from '../../../core/support/without-undefined.js';
import { command } from '../../command.js';
import { DependentOption } from '../../command-line/help-layout.js';
import { parseDuration } from '../../command-line/options.js';
import { printMessage } from '../../io.js';
import { printList } from '../../output/print.js';
import { confirm } from '../../prompt.js';
import { readPlatform } from '../../request/deployment.js';
import { defaultUrl } from '../serve/options.js';
import { type StoreInvocation, storeCommand } from './store.js';

interface CreateOptions {
  readonly tenantCode: string;
  readonly channel: string;
  readonly appKey?: string;
  readonly baseUrl: string;
  /** Path of a platform file. */
  readonly platform?: string;
}

interface AppOptions {
  readonly appKey: string;
}

/** The commands that need no more than the key of an app. */
const changes = [
  {
    name: 'retire-secret',
    summary: 'end the overlap of a rotation',
    change: 'retireSecret',
    done: 'retired the old secret of',
  },
  {
    name: 'disable',
    summary: 'refuse the requests of an app',
    change: 'disableApp',
    done: 'disabled',
  },
  {
    name: 'enable',
    summary: 'accept the requests of an app again',
    change: 'enableApp',
    done: 'enabled',
  },
] as const;

const takesKey = (command: Command) => command.requiredOption('--app-key <key>', 'key of the app');

const declareCreate = storeCommand({
  name: 'create',
  common: ['profile', 'output'],
  summary: 'create an app',
  takes: (command) =>
    command
      .requiredOption('--tenant-code <code>', 'tenant of the app')
      .requiredOption('--channel <code>', 'channel of the app')
      .option('--app-key <key>', 'key of the app (default: generated)')
      .option('--platform <file>', 'platform file with its recipes; - for standard input')
      .addOption(
        new DependentOption('--base-url <url>', 'with --profile, base URL of the service', [
          '--profile',
        ]).default(defaultUrl),
      ),
  action: createApp,
});

const declareList = storeCommand({
  name: 'list',
  common: ['output'],
  summary: 'list the apps',
  action: async ({ io, style, openStore }) => printList((await openStore()).listApps(), io, style),
});

const declareRotateSecret = storeCommand({
  name: 'rotate-secret',
  common: ['output', 'confirm'],
  summary: 'replace the secret of an app',
  takes: (command) =>
    takesKey(command).option(
      '--overlap <duration>',
      'time for which the old secret stays valid',
      parseDuration,
    ),
  action: async ({
    context,
    io,
    options,
    print,
    openStore,
  }: StoreInvocation<AppOptions & { readonly overlap?: number }>) => {
    const { appKey, overlap = 0, yes } = options;
    const effect =
      overlap === 0
        ? 'Its requests fail until it has the new one.'
        : 'One of an earlier rotation stops working now.';
    const store = await openStore();
    await confirm(context, `Replace the secret of app "${appKey}"? ${effect}`, yes);
    const overlapSeconds = Math.ceil(overlap / 1000);
    const { app_secret, ...rest } = await store.rotateSecret({ appKey, overlapSeconds });
    await print({ ...rest, app_secret: app_secret.reveal() });
    if (overlap === 0) return;
    const end = new Date(Date.now() + overlapSeconds * 1000).toISOString();
    await printMessage(io, `The old secret is accepted until ${end}.`);
  },
});

const declareChanges = changes.map(({ done, change, ...spec }) =>
  storeCommand({
    ...spec,
    common: [],
    takes: takesKey,
    action: async ({ io, options, openStore }: StoreInvocation<AppOptions>) => {
      await (await openStore())[change](options);
      await printMessage(io, `${done} app "${options.appKey}"`);
    },
  }),
);

const declareSet = storeCommand({
  name: 'set',
  common: [],
  summary: 'change the channel or the recipes of an app',
  takes: (command) =>
    takesKey(command)
      .option('--channel <code>', 'channel of the app')
      .option('--platform <file>', 'platform file with its recipes; - for standard input'),
  action: setApp,
});

const declareEncryptSecrets = storeCommand({
  name: 'encrypt-secrets',
  common: ['output'],
  summary: 'encrypt the stored secrets of all apps',
  action: async ({ print, openStore }) =>
    print({ encrypted: await (await openStore()).encryptSecrets() }),
});

const declareDelete = storeCommand({
  name: 'delete',
  common: ['confirm'],
  summary: 'delete an app',
  takes: takesKey,
  action: async ({ context, io, options, openStore }: StoreInvocation<AppOptions>) => {
    const store = await openStore();
    await confirm(context, `Delete app "${options.appKey}"?`, options.yes);
    await store.removeApp(options);
    await printMessage(io, `deleted app "${options.appKey}"`);
  },
});

export const declareApp = command({
  name: 'app',
  common: [],
  summary: 'manage the apps, which may call the service',
  commands: [
    declareCreate,
    declareList,
    declareRotateSecret,
    ...declareChanges,
    declareSet,
    declareEncryptSecrets,
    declareDelete,
  ],
});

interface SetOptions extends AppOptions {
  readonly channel?: string;
  /** Path of a platform file. */
  readonly platform?: string;
}

async function setApp({
  context,
  io,
  options,
  openStore,
}: StoreInvocation<SetOptions>): Promise<void> {
  const { appKey, channel, platform: file } = options;
  const recipes = file === undefined ? undefined : (await readPlatform(context, file)).signing;
  const store = await openStore();
  await store.setApp(withoutUndefined({ appKey, channel, recipes }));
  await printMessage(io, `changed app "${appKey}"`);
}

async function createApp(invocation: StoreInvocation<CreateOptions>): Promise<void> {
  const { context, io, options, print, openStore } = invocation;
  // Only the flag: a profile named by USERINFO_PROFILE is not written to.
  const { profile, tenantCode, channel, appKey, platform: file } = options;
  const base_url = parseBaseUrl(options.baseUrl, '--base-url');
  const platform = file === undefined ? undefined : await readPlatform(context, file);
  const recipes = platform?.signing;
  const store = await openStore(true);
  const app = withoutUndefined({ tenantCode, channel, appKey, recipes });
  const { app_secret: value, ...created } = await store.createApp(app);
  if (profile === undefined) {
    await print({ ...created, app_secret: value.reveal() });
    return printMessage(io, 'The secret is shown only once.');
  }
  const added = withoutUndefined({
    name: profile,
    environment: 'test',
    base_url,
    ...created,
    platform,
    secret: { kind: 'file', value },
  } as const);
  try {
    await context.profiles.change((list) => addProfile(list, added));
  } catch (error) {
    await store.removeApp({ appKey: created.app_key }); // its secret would be lost
    throw error;
  }
  await print({ ...created, profile });
  await printMessage(io, `Its secret is in profile "${profile}": use it with -p ${profile}.`);
}
