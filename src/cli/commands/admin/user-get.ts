import type { Command } from 'commander';
import type { CliContext } from '../../context.js';
import { examples } from '../../options.js';
import { printData } from '../../output/print-data.js';
import { outputStyle } from '../../output/style.js';
import { addUserOptions, type UserOptions } from './user-options.js';
import { withAdmin } from './with-admin.js';

export function declareUserGet(user: Command, context: CliContext): void {
  const command = user
    .command('get')
    .summary('print a user record')
    .description('Print the whole record of a user.');
  addUserOptions(command)
    .addHelpText(
      'after',
      examples(
        ['userinfo admin user get --tenant-code acme --union-id u001', 'as tables'],
        ['userinfo admin user get --tenant-code acme --union-id u001 --json', 'as one JSON object'],
      ),
    )
    .action(() => runUserGet(context, command.optsWithGlobals()));
}

async function runUserGet(context: CliContext, options: UserOptions): Promise<void> {
  const { io } = context;
  const style = await outputStyle(options, io);
  await printData(await withAdmin(context, options, (admin) => admin.getUser(options)), io, style);
}
