import { Option } from 'commander';
import { InvalidInputError, quoteName } from '../../../core/contract/errors.js';
import { parseInfoNames } from '../../../core/contract/info-names.js';
import { withoutUndefined } from '../../../core/support/without-undefined.js';
import type { Admin } from '../../../service/index.js';
import { command } from '../../command.js';
import { DependentOption } from '../../command-line/help-layout.js';
import { parseDuration, parseLimit } from '../../command-line/options.js';
import { printMessage, write } from '../../io.js';
import { printList } from '../../output/print.js';
import { linesByDefault } from '../../output/style.js';
import { addFormatOptions } from '../bulk/options.js';
import type { IssueManyOptions } from './issue-codes.late.js';
import { type StoreInvocation, storeCommand } from './store.js';

interface TenantOptions {
  readonly tenantCode: string;
}

interface IssueOptions extends TenantOptions, Omit<IssueManyOptions, 'from'> {
  readonly unionId?: string;
  /** A file, or - for standard input. */
  readonly from?: string;
  readonly names?: readonly string[];
  /** Milliseconds. */
  readonly ttl: number;
  readonly uses: number | 'unlimited';
}

const declareIssue = storeCommand({
  name: 'issue',
  common: ['output'],
  summary: 'issue authorization codes',
  takes: (command) =>
    addFormatOptions(
      command
        .requiredOption('--tenant-code <code>', 'tenant of the users')
        .option('--union-id <id>', 'union ID of the user')
        .option(
          '--names <names>',
          'information that the code authorizes, separated by commas (default: all)',
          (text: string) => parseInfoNames([text]),
        )
        .addOption(
          new Option('--ttl <duration>', 'time until the code expires')
            .argParser(parseDuration)
            .default(300_000, '5m'),
        )
        .option(
          '--uses <n>',
          'maximum number of reads with the code: a number or "unlimited"',
          parseLimit,
          1,
        )
        .optionsGroup('Many users:')
        .option('--from <file>', 'a row per user: CSV or NDJSON, .gz too; - is standard input'),
      ['--from'],
    )
      .addOption(
        new DependentOption('--union-id-column <name>', 'column of union IDs (default: union_id)', [
          '--from',
        ]),
      )
      .optionsGroup('Options:'),
  action: issueCode,
});

const declareList = storeCommand({
  name: 'list',
  common: ['output'],
  summary: 'list the codes of a tenant',
  takes: (command) => command.requiredOption('--tenant-code <code>', 'tenant of the codes'),
  action: async ({ io, options, style, openStore }: StoreInvocation<TenantOptions>) =>
    printList((await openStore()).listCodes(options), io, style, inWords),
});

const declareRevoke = storeCommand({
  name: 'revoke',
  common: [],
  summary: 'revoke an authorization code',
  takes: (command) =>
    command
      .argument('<code>', 'authorization code')
      .requiredOption('--tenant-code <code>', 'tenant of the code'),
  action: async ({ io, options, openStore }: StoreInvocation<TenantOptions>, code: string) => {
    await (await openStore()).revokeCode({ tenantCode: options.tenantCode, code });
    await printMessage(io, 'revoked');
  },
});

export const declareCode = command({
  name: 'code',
  common: [],
  summary: 'manage authorization codes, which a read needs',
  commands: [declareIssue, declareList, declareRevoke],
});

async function issueCode(invocation: StoreInvocation<IssueOptions>): Promise<void> {
  const { context, io, options, isTable, print, openStore } = invocation;
  const { tenantCode, unionId, from, names: infoNames, ttl, uses } = options;
  const ttlSeconds = Math.ceil(ttl / 1000);
  const code = withoutUndefined({ tenantCode, ttlSeconds, uses, infoNames });
  if (from !== undefined && unionId !== undefined) throw eitherUserOrFile();
  if (from !== undefined) {
    const { issueCodes } = await import('./issue-codes.late.js');
    const printCodes = (codes: AsyncIterable<object>) =>
      printList(codes, io, linesByDefault(invocation), inWords);
    return issueCodes(context, await openStore(), { ...options, from }, code, printCodes);
  }
  if (unionId === undefined) throw eitherUserOrFile();
  const store = await openStore();
  const issued = await store.issueCode({ ...code, unionId }).catch(async (error: Error) => {
    throw (await unknownTenant(store, tenantCode)) ?? error;
  });
  if (!isTable) return print(issued);
  await write(io.stdout, `${issued.code}\n`);
  const { timeInWords } = await import('../../output/data-table.late.js');
  const names = issued.info_names?.join(', ') ?? 'everything';
  const expiry = timeInWords(issued.expires_at);
  await printMessage(io, `The code gives access to ${names} and expires ${expiry}.`);
}

function eitherUserOrFile(): InvalidInputError {
  return new InvalidInputError('give either --union-id or --from');
}

/** The error of a tenant that has no app; `null` for one that has. */
async function unknownTenant(store: Admin, tenantCode: string): Promise<InvalidInputError | null> {
  const tenants = new Set<string>();
  for await (const app of store.listApps()) tenants.add(app.tenant_code);
  if (tenants.has(tenantCode)) return null;
  return new InvalidInputError(`no app belongs to the tenant ${quoteName(tenantCode)}`, {
    hint: 'The apps, with their tenants, are listed by:',
    commands: ['userinfo admin app list'],
  });
}

/** Words for what has no bound. */
function inWords(code: object): object {
  const { info_names, uses_left, expires_at, ...rest } = code as Awaited<
    ReturnType<Admin['issueCode']>
  >;
  const words = { names: info_names?.join(', ') ?? 'everything', uses: uses_left ?? 'unlimited' };
  return { ...rest, ...words, expires_at };
}
