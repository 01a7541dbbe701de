import type { Command } from 'commander';
import type { CliContext } from '../../context.js';
import { examples } from '../../options.js';
import { printList } from '../../output/print-data.js';
import { outputStyle } from '../../output/style.js';
import { type AdminOptions, addDatabaseOption, withAdmin } from './with-admin.js';

interface ListOptions extends AdminOptions {
  readonly tenantCode: string;
}

export function declareCodeList(code: Command, context: CliContext): void {
  const command = code
    .command('list')
    .summary('list the codes of a tenant')
    .description('List the codes of a tenant; with --json one JSON object a line.')
    .requiredOption('--tenant-code <code>', 'the tenant');
  addDatabaseOption(command)
    .addHelpText(
      'after',
      examples(
        ['userinfo admin code list --tenant-code acme', 'as a table'],
        ['userinfo admin code list --tenant-code acme --json', 'one object a line'],
      ),
    )
    .action(() => runCodeList(context, command.optsWithGlobals()));
}

async function runCodeList(context: CliContext, options: ListOptions): Promise<void> {
  const { io } = context;
  const style = await outputStyle(options, io);
  await withAdmin(context, options, (admin) => printList(admin.listCodes(options), io, style));
}
