import type { Command } from 'commander';
import type { CliContext } from '../../context.js';
import { say } from '../../io.js';
import { examples } from '../../options.js';
import { addUserOptions, type UserOptions } from './user-options.js';
import { withAdmin } from './with-admin.js';

export function declareUserDelete(user: Command, context: CliContext): void {
  const command = user
    .command('delete')
    .summary('delete a user')
    .description('Delete the record of a user, and the codes issued to it.');
  addUserOptions(command)
    .addHelpText(
      'after',
      examples(
        ['userinfo admin user delete --tenant-code acme --union-id u001', 'in the default database'],
        ['userinfo admin user delete --tenant-code acme --union-id u001 --database f.db', 'in another'],
      ),
    )
    .action(() => runUserDelete(context, command.optsWithGlobals()));
}

async function runUserDelete(context: CliContext, options: UserOptions): Promise<void> {
  await withAdmin(context, options, (admin) => admin.deleteUser(options));
  await say(context.io, `deleted user "${options.unionId}"`);
}
