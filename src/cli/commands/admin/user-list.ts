import type { Command } from 'commander';
import type { CliContext } from '../../context.js';
import { examples } from '../../options.js';
import { printList } from '../../output/print-data.js';
import { outputStyle } from '../../output/style.js';
import { type AdminOptions, addDatabaseOption, withAdmin } from './with-admin.js';

interface ListOptions extends AdminOptions {
  readonly tenantCode: string;
}

export function declareUserList(user: Command, context: CliContext): void {
  const command = user
    .command('list')
    .summary('print all user records of a tenant')
    .description('Print the records of a tenant, one JSON object a line, as they are read.')
    .requiredOption('--tenant-code <code>', 'the tenant');
  addDatabaseOption(command)
    .addHelpText(
      'after',
      examples(
        ['userinfo admin user list --tenant-code acme', 'all of them'],
        ['userinfo admin user list --tenant-code acme | wc -l', 'how many there are'],
      ),
    )
    .action(() => runUserList(context, command.optsWithGlobals()));
}

/** JSON lines in place of a table: a tenant may have more users than one can hold. */
async function runUserList(context: CliContext, options: ListOptions): Promise<void> {
  const { io } = context;
  const style = await outputStyle(options, io);
  const lines = style.format === 'table' ? ({ ...style, format: 'json' } as const) : style;
  await withAdmin(context, options, (admin) => printList(admin.listUsers(options), io, lines));
}
