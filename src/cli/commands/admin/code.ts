import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseInfoNames } from '../../../protocol/info-names.js';
import type { CliContext } from '../../context.js';
import { say, write } from '../../io.js';
import { examples, parseCount, parseDuration } from '../../options.js';
import { printData, printList } from '../../output/print.js';
import { isPlainTable, outputStyle } from '../../output/style.js';
import { type AdminOptions, addDatabaseOption, withAdmin } from './command.js';

interface IssueOptions extends AdminOptions {
  readonly tenantCode: string;
  readonly unionId: string;
  readonly infoNames?: readonly string[];
  /** Milliseconds. */
  readonly ttl: number;
  readonly uses: number | 'unlimited';
}

export function declareCodeIssue(code: Command, context: CliContext): void {
  const command = code
    .command('issue')
    .summary('issue an authorization code')
    .description('Issue an authorization code to a user, and print it.')
    .requiredOption('--tenant-code <code>', 'the tenant')
    .requiredOption('--union-id <id>', 'the user')
    .option(
      '--info-names <names>',
      'what it authorizes, separated by commas; everything unless given',
      (text: string) => parseInfoNames([text]),
    )
    .addOption(
      new Option('--ttl <duration>', 'how long it is good').argParser(parseDuration).default(300_000, '5m'),
    )
    .addOption(
      new Option('--uses <n>', 'how often it can be used: a number or "unlimited"')
        .argParser(parseUses)
        .default(1),
    );
  addDatabaseOption(command)
    .addHelpText(
      'after',
      examples(
        ['userinfo admin code issue --tenant-code acme --union-id u001', 'good once, for five minutes'],
        [
          'userinfo read "$(userinfo admin code issue --tenant-code acme --union-id u001)"',
          'issued and used in one go',
        ],
      ),
    )
    .action(() => runIssue(context, command.optsWithGlobals()));
}

async function runIssue(context: CliContext, options: IssueOptions): Promise<void> {
  const { io } = context;
  const style = await outputStyle(options, io);
  const { tenantCode, unionId, infoNames, uses } = options;
  const { info_names, expires_at, uses_left, ...issued } = await withAdmin(context, options, (admin) =>
    admin.issueCode({
      tenantCode,
      unionId,
      ttlSeconds: Math.ceil(options.ttl / 1000),
      uses,
      ...(infoNames === undefined ? {} : { infoNames }),
    }),
  );
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
