import type { Command } from 'commander';
import { parseBaseUrl } from '../../../protocol/base-url.js';
import type { SigningRecipes } from '../../../signing/recipe.js';
import { parseSigningRecipes } from '../../../signing/recipe-json.js';
import type { CliContext } from '../../context.js';
import { readJson } from '../../input.js';
import { say } from '../../io.js';
import { printData, printList } from '../../output/print.js';
import { outputStyle } from '../../output/style.js';
import { defaultUrl } from '../../serve/options.js';
import { checkKnownApp, profileOfService, writeAppProfile } from './app-profile.js';
import { type AdminOptions, addStoreOptions, onStore, withAdmin } from './command.js';

interface AppOptions extends AdminOptions {
  readonly appKey: string;
}

interface CreateOptions extends AdminOptions {
  readonly tenantCode: string;
  readonly channel: string;
  readonly appKey?: string;
  readonly baseUrl: string;
  /** Path of a file with its recipes. */
  readonly signing?: string;
}

export function declareApp(admin: Command, context: CliContext): void {
  const app = admin.command('app').description('Server applications: they may call the service.');
  declareCreate(app, context);
  declareList(app, context);
  declareRotateSecret(app, context);
  declareRemove(app, context);
}

function declareCreate(app: Command, context: CliContext): void {
  const command = app
    .command('create')
    .summary('create an app')
    .description(
      'Create an app for one tenant and channel, and print its key and secret: the secret is shown only once. With ' +
        '--profile, write both into that profile instead, which is created if it does not exist; the profile of ' +
        'another service is never overwritten.',
    )
    .requiredOption('--tenant-code <code>', 'tenant of the app')
    .requiredOption('--channel <code>', 'channel of the app')
    .option('--app-key <key>', 'key of the app (default: generated)')
    .option('--signing <file>', 'file with its recipes {app_sign, sign}; - for standard input')
    .option('--base-url <url>', 'with --profile: base URL of the service', defaultUrl);
  addStoreOptions(command, [
    ['userinfo admin app create --tenant-code acme --channel web --profile local', 'use it with -p local'],
    [
      'userinfo admin app create --tenant-code acme --channel web --app-key app-1 --json',
      'print key and secret as JSON',
    ],
  ]).action(() => runCreate(context, command.optsWithGlobals()));
}

async function runCreate(context: CliContext, options: CreateOptions): Promise<void> {
  const { io } = context;
  // Only the flag: a profile named by USERINFO_PROFILE is not written to.
  const { profile } = options;
  const style = await outputStyle(options, io);
  const { tenantCode, channel, appKey, signing } = options;
  const baseUrl = parseBaseUrl(options.baseUrl, '--base-url');
  const existing = profile === undefined ? undefined : await profileOfService(context, profile, baseUrl);
  const recipes = signing === undefined ? undefined : parseSigningRecipes(await readJson(context, signing));
  if (recipes !== undefined) await warnOfRecipes(context, recipes);
  const created = await withAdmin(
    context,
    options,
    async (admin) => {
      if (existing !== undefined) await checkKnownApp(existing, admin);
      const app = await admin.createApp({
        tenantCode,
        channel,
        ...(appKey !== undefined && { appKey }),
        ...(recipes !== undefined && { recipes }),
      });
      if (profile === undefined) return app;
      try {
        const settings = { base_url: baseUrl, ...(recipes && { signing: recipes }) };
        await writeAppProfile(context, profile, app, settings, existing === undefined);
      } catch (error) {
        await admin.removeApp({ appKey: app.app_key }); // its secret would be lost
        throw error;
      }
      return app;
    },
    true,
  );
  const { app_secret, ...shown } = created;
  if (profile === undefined) {
    await printData({ ...shown, app_secret: app_secret.reveal() }, io, style);
    await say(io, 'The secret is shown only once; "userinfo admin app rotate-secret" creates another.');
    return;
  }
  await printData({ ...shown, profile }, io, style);
  await say(io, `Its secret is in profile "${profile}": use it with -p ${profile}.`);
}

async function warnOfRecipes({ io }: CliContext, recipes: SigningRecipes): Promise<void> {
  const { recipeWarnings } = await import('../../../service/index.js');
  for (const warning of recipeWarnings(recipes)) await say(io, `warning: ${warning}`);
}

function declareList(app: Command, context: CliContext): void {
  onStore(
    app
      .command('list')
      .summary('list the apps')
      .description('List the apps without their secrets; with --json, one JSON object per line.'),
    context,
    [
      ['userinfo admin app list', 'as a table'],
      ['userinfo admin app list --json', 'one object per line'],
    ],
    async (admin, options) => printList(admin.listApps(), context.io, await outputStyle(options, context.io)),
  );
}

function declareRotateSecret(app: Command, context: CliContext): void {
  onStore(
    app
      .command('rotate-secret')
      .summary('replace the secret of an app')
      .description('Give an app a new secret and print it, only once. The old secret stops working.')
      .requiredOption('--app-key <key>', 'key of the app'),
    context,
    [
      ['userinfo admin app rotate-secret --app-key app-1', 'as a table'],
      ['userinfo admin app rotate-secret --app-key app-1 --json', 'as JSON'],
    ],
    async (admin, options: AppOptions) => {
      const style = await outputStyle(options, context.io);
      const { app_secret, ...app } = await admin.rotateSecret(options);
      await printData({ ...app, app_secret: app_secret.reveal() }, context.io, style);
    },
  );
}

function declareRemove(app: Command, context: CliContext): void {
  onStore(
    app
      .command('remove')
      .summary('remove an app')
      .description('Remove an app. Its requests are refused from then on.')
      .requiredOption('--app-key <key>', 'key of the app'),
    context,
    [
      ['userinfo admin app remove --app-key app-1', 'from the default database'],
      ['userinfo admin app remove --app-key app-1 --database f.db', 'from another database'],
    ],
    async (admin, options: AppOptions) => {
      await admin.removeApp(options);
      await say(context.io, `removed app "${options.appKey}"`);
    },
  );
}
