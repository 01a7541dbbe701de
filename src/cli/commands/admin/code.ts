import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseInfoNames } from '../../../protocol/info-names.js';
import type { Admin } from '../../../service/index.js';
import type { CliContext } from '../../context.js';
import { say, write } from '../../io.js';
import { parseCount, parseDuration } from '../../options.js';
import { printData, printList } from '../../output/print.js';
import { isPlainTable, outputStyle } from '../../output/style.js';
import { type AdminOptions, onStore } from './command.js';

interface TenantOptions extends AdminOptions {
  readonly tenantCode: string;
}

interface IssueOptions extends TenantOptions {
  readonly unionId: string;
  readonly infoNames?: readonly string[];
  /** Milliseconds. */
  readonly ttl: number;
  readonly uses: number | 'unlimited';
}

export function declareCode(admin: Command, context: CliContext): void {
  const code = admin.command('code').description('Authorization codes: a read needs one.');
  declareIssue(code, context);
  declareList(code, context);
  declareRevoke(code, context);
}

function declareIssue(code: Command, context: CliContext): void {
  onStore(
    code
      .command('issue')
      .summary('issue an authorization code')
      .description('Issue an authorization code for a user, and print it.')
      .requiredOption('--tenant-code <code>', 'tenant of the user')
      .requiredOption('--union-id <id>', 'union ID of the user')
      .option(
        '--info-names <names>',
        'information that the code authorizes, separated by commas (default: all)',
        (text: string) => parseInfoNames([text]),
      )
      .addOption(
        new Option('--ttl <duration>', 'time until the code expires')
          .argParser(parseDuration)
          .default(300_000, '5m'),
      )
      .addOption(
        new Option('--uses <n>', 'maximum number of reads with the code: a number or "unlimited"')
          .argParser(parseUses)
          .default(1),
      ),
    context,
    [
      [
        'userinfo admin code issue --tenant-code acme --union-id u001',
        'valid for one read within five minutes',
      ],
      [
        'userinfo read "$(userinfo admin code issue --tenant-code acme --union-id u001)"',
        'issue a code and use it',
      ],
    ],
    (admin, options: IssueOptions) => runIssue(context, admin, options),
  );
}

async function runIssue({ io }: CliContext, admin: Admin, options: IssueOptions): Promise<void> {
  const style = await outputStyle(options, io);
  const { tenantCode, unionId, infoNames, uses } = options;
  const { info_names, expires_at, uses_left, ...issued } = await admin.issueCode({
    tenantCode,
    unionId,
    ttlSeconds: Math.ceil(options.ttl / 1000),
    uses,
    ...(infoNames === undefined ? {} : { infoNames }),
  });
  if (!isPlainTable(style)) {
    await printData({ ...issued, info_names, expires_at, uses_left }, io, style);
    return;
  }
  await write(io.stdout, `${issued.code}\n`);
  const until = new Date(expires_at * 1000).toISOString().replace('.000Z', 'Z');
  await say(io, `for ${info_names === null ? 'everything' : info_names.join(', ')}, until ${until}`);
}

function parseUses(text: string): number | 'unlimited' {
  if (text === 'unlimited') return text;
  try {
    return parseCount(text, 'uses');
  } catch {
    throw new InvalidArgumentError('Give a number from 1, or "unlimited".');
  }
}

function declareList(code: Command, context: CliContext): void {
  onStore(
    code
      .command('list')
      .summary('list the codes of a tenant')
      .description('List the codes of a tenant; with --json, one JSON object per line.')
      .requiredOption('--tenant-code <code>', 'tenant of the codes'),
    context,
    [
      ['userinfo admin code list --tenant-code acme', 'as a table'],
      ['userinfo admin code list --tenant-code acme --json', 'one object per line'],
    ],
    async (admin, options: TenantOptions) =>
      printList(admin.listCodes(options), context.io, await outputStyle(options, context.io)),
  );
}

function declareRevoke(code: Command, context: CliContext): void {
  onStore(
    code
      .command('revoke')
      .summary('revoke an authorization code')
      .description('Revoke an authorization code. A read with it is refused from then on.')
      .argument('<code>', 'authorization code')
      .requiredOption('--tenant-code <code>', 'tenant of the code'),
    context,
    [
      [
        'userinfo admin code revoke --tenant-code acme "$(userinfo admin code issue --tenant-code acme --union-id u001)"',
        'revoke a code that was just issued',
      ],
      [
        'userinfo admin code revoke --database f.db --tenant-code acme ' +
          '"$(userinfo admin code issue --database f.db --tenant-code acme --union-id u001)"',
        'in another database',
      ],
    ],
    async (admin, { tenantCode }: TenantOptions, value) => {
      await admin.revokeCode({ tenantCode, code: value });
      await say(context.io, 'revoked');
    },
  );
}
