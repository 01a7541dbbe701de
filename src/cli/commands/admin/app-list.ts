import type { Command } from 'commander';
import type { CliContext } from '../../context.js';
import { examples } from '../../options.js';
import { printList } from '../../output/print-data.js';
import { outputStyle } from '../../output/style.js';
import { type AdminOptions, addDatabaseOption, withAdmin } from './with-admin.js';

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
