import type { Command } from 'commander';
import type { CliContext } from '../../context.js';
import { say } from '../../io.js';
import { examples } from '../../options.js';
import { type AdminOptions, addDatabaseOption, withAdmin } from './with-admin.js';

interface RevokeOptions extends AdminOptions {
  readonly tenantCode: string;
}

export function declareCodeRevoke(code: Command, context: CliContext): void {
  const command = code
    .command('revoke')
    .summary('make a code good for nothing')
    .description('Revoke an authorization code: a read with it is refused from then on.')
    .argument('<code>', 'the authorization code')
    .requiredOption('--tenant-code <code>', 'the tenant');
  addDatabaseOption(command)
    .addHelpText(
      'after',
      examples(
        [
          'userinfo admin code revoke --tenant-code acme "$(userinfo admin code issue --tenant-code acme --union-id u001)"',
          'a code that was just issued',
        ],
        [
          'userinfo admin code revoke --database f.db --tenant-code acme ' +
            '"$(userinfo admin code issue --database f.db --tenant-code acme --union-id u001)"',
          'in another database',
        ],
      ),
    )
    .action((value: string) => runRevoke(context, value, command.optsWithGlobals()));
}

async function runRevoke(context: CliContext, code: string, options: RevokeOptions): Promise<void> {
  await withAdmin(context, options, (admin) => admin.revokeCode({ tenantCode: options.tenantCode, code }));
  await say(context.io, 'revoked');
}
