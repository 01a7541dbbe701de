import type { Command } from 'commander';
import type { CliContext } from '../../context.js';
import { examples } from '../../options.js';
import { printData } from '../../output/print-data.js';
import { outputStyle } from '../../output/style.js';
import { type AdminOptions, addDatabaseOption, withAdmin } from './with-admin.js';

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
