import type { Command } from 'commander';
import { parseBaseUrl } from '../../../protocol/base-url.js';
import type { SigningRecipes } from '../../../signing/recipe.js';
import { parseSigningRecipes } from '../../../signing/recipe-json.js';
import type { CliContext } from '../../context.js';
import { readJson } from '../../input.js';
import { say } from '../../io.js';
import { examples } from '../../options.js';
import { printData, printList } from '../../output/print.js';
import { outputStyle } from '../../output/style.js';
import { defaultUrl } from '../serve.js';
import { checkKnownApp, profileOfService, writeAppProfile } from './app-profile.js';
import { type AdminOptions, addDatabaseOption, withAdmin } from './command.js';

interface AppCreateOptions extends AdminOptions {
  readonly tenantCode: string;
  readonly channel: string;
  readonly appKey?: string;
  readonly baseUrl: string;
  /** A file with its recipes. */
  readonly signing?: string;
}

export function declareAppCreate(app: Command, context: CliContext): void {
  const command = app
    .command('create')
    .summary('make an app')
    .description(
      'Make an app for one tenant and channel. Prints its key and its secret, this once; with --profile it ' +
        'writes them into that profile instead, which is made where there is none; the profile of another service ' +
        'is never overwritten.',
    )
    .requiredOption('--tenant-code <code>', 'the tenant it may act for')
    .requiredOption('--channel <code>', 'the channel it may use')
    .option('--app-key <key>', 'its key; made up unless given')
    .option('--signing <file>', 'how it signs: the recipes {app_sign, sign} in a file, - for standard input')
    .option('--base-url <url>', 'with --profile: where the service is reached', defaultUrl);
  addDatabaseOption(command)
    .addHelpText(
      'after',
      examples(
        [
          'userinfo admin app create --tenant-code acme --channel web --profile local',
          'ready to use: -p local',
        ],
        [
          'userinfo admin app create --tenant-code acme --channel web --app-key app-1 --json',
          'for a program: key and secret as JSON',
        ],
      ),
    )
    .action(() => runAppCreate(context, command.optsWithGlobals()));
}

async function runAppCreate(context: CliContext, options: AppCreateOptions): Promise<void> {
  const { io } = context;
  // Only the flag: a profile that USERINFO_PROFILE puts in play is not one to write to.
  const { profile } = options;
  const style = await outputStyle(options, io);
  const { tenantCode, channel, appKey, signing } = options;
  const baseUrl = parseBaseUrl(options.baseUrl, '--base-url');
  const existing = profile === undefined ? undefined : await profileOfService(context, profile, baseUrl);
  const recipes = signing === undefined ? undefined : parseSigningRecipes(await readJson(context, signing));
  if (recipes !== undefined) await warnOfRecipes(context, recipes);
  const made = await withAdmin(
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
        await admin.removeApp({ appKey: app.app_key }); // nobody would know its secret
        throw error;
      }
      return app;
    },
    true,
  );
  const { app_secret, ...shown } = made;
  if (profile === undefined) {
    await printData({ ...shown, app_secret: app_secret.reveal() }, io, style);
    await say(io, 'The secret is shown this once: "userinfo admin app rotate-secret" makes another.');
    return;
  }
  await printData({ ...shown, profile }, io, style);
  await say(io, `Its secret is in profile "${profile}": use it with -p ${profile}.`);
}

async function warnOfRecipes({ io }: CliContext, recipes: SigningRecipes): Promise<void> {
  const { recipeWarnings } = await import('../../../service/index.js');
  for (const warning of recipeWarnings(recipes)) await say(io, `warning: ${warning}`);
}

export function declareAppList(app: Command, context: CliContext): void {
  const command = app
    .command('list')
    .summary('list the apps')
    .description('List the apps, without their secrets; with --json one JSON object a line.');
  addDatabaseOption(command)
    .addHelpText(
      'after',
      examples(
        ['userinfo admin app list', 'as a table'],
        ['userinfo admin app list --json', 'one object a line'],
      ),
    )
    .action(() => runAppList(context, command.optsWithGlobals()));
}

async function runAppList(context: CliContext, options: AdminOptions): Promise<void> {
  const { io } = context;
  const style = await outputStyle(options, io);
  await withAdmin(context, options, (admin) => printList(admin.listApps(), io, style));
}

interface RotateOptions extends AdminOptions {
  readonly appKey: string;
}

export function declareAppRotateSecret(app: Command, context: CliContext): void {
  const command = app
    .command('rotate-secret')
    .summary('give an app a new secret')
    .description('Give an app a new secret and print it, this once. The old one holds no longer.')
    .requiredOption('--app-key <key>', 'the app');
  addDatabaseOption(command)
    .addHelpText(
      'after',
      examples(
        ['userinfo admin app rotate-secret --app-key app-1', 'as a table'],
        ['userinfo admin app rotate-secret --app-key app-1 --json', 'for a program'],
      ),
    )
    .action(() => runRotate(context, command.optsWithGlobals()));
}

async function runRotate(context: CliContext, options: RotateOptions): Promise<void> {
  const { io } = context;
  const style = await outputStyle(options, io);
  const { app_secret, ...app } = await withAdmin(context, options, (admin) => admin.rotateSecret(options));
  await printData({ ...app, app_secret: app_secret.reveal() }, io, style);
}

interface RemoveOptions extends AdminOptions {
  readonly appKey: string;
}

export function declareAppRemove(app: Command, context: CliContext): void {
  const command = app
    .command('remove')
    .summary('remove an app')
    .description('Remove an app: what it signs is refused from then on.')
    .requiredOption('--app-key <key>', 'the app');
  addDatabaseOption(command)
    .addHelpText(
      'after',
      examples(
        ['userinfo admin app remove --app-key app-1', 'in the default database'],
        ['userinfo admin app remove --app-key app-1 --database f.db', 'in another'],
      ),
    )
    .action(() => runRemove(context, command.optsWithGlobals()));
}

async function runRemove(context: CliContext, options: RemoveOptions): Promise<void> {
  await withAdmin(context, options, (admin) => admin.removeApp(options));
  await say(context.io, `removed app "${options.appKey}"`);
}
