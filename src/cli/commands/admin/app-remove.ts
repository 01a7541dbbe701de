import type { Command } from 'commander';
import type { CliContext } from '../../context.js';
import { say } from '../../io.js';
import { examples } from '../../options.js';
import { type AdminOptions, addDatabaseOption, withAdmin } from './with-admin.js';

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
