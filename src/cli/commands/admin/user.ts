import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import { InvalidInputError } from '../../../protocol/errors.js';
import { quoteName } from '../../../protocol/text.js';
import { parseUserRecord, type UserRecord } from '../../../protocol/user-record.js';
import type { UserKey } from '../../../service/index.js';
import type { CliContext } from '../../context.js';
import { say } from '../../io.js';
import { examples } from '../../options.js';
import { printData, printList } from '../../output/print.js';
import { isPlainTable, outputStyle } from '../../output/style.js';
import { type AdminOptions, addDatabaseOption, withAdmin } from './command.js';

interface UserOptions extends AdminOptions, UserKey {}

/** Says which user is meant, and in which store. */
function addUserOptions(command: Command): Command {
  return addDatabaseOption(
    command
      .requiredOption('--tenant-code <code>', 'the tenant')
      .requiredOption('--union-id <id>', 'the user'),
  );
}

export function declareUserPut(user: Command, context: CliContext): void {
  const command = user
    .command('put')
    .summary('store whole user records')
    .description(
      "Store user records, one JSON object a line, each in place of the user's present record. A record has " +
        'tenant_code, union_id and, where there are any, basic_info, extension_info, login_device_info, ' +
        'mobile_district_code and gps.',
    )
    .argument('[file]', 'a file of JSON lines; - or nothing reads standard input', '-');
  addDatabaseOption(command)
    .addHelpText(
      'after',
      examples(
        [
          'echo \'{"tenant_code":"acme","union_id":"u001","basic_info":{"mobile":"13800138000"}}\' | userinfo admin user put',
          'one user, from standard input',
        ],
        [
          'userinfo admin user list --tenant-code acme > users.ndjson && userinfo admin user put users.ndjson',
          'out, and back in',
        ],
      ),
    )
    .action((file: string) => runUserPut(context, file, command.optsWithGlobals()));
}

async function runUserPut(context: CliContext, file: string, options: AdminOptions): Promise<void> {
  const { io } = context;
  const style = await outputStyle(options, io);
  const put = await withAdmin(context, options, (admin) => admin.putUsers(readRecords(context, file)), true);
  if (isPlainTable(style)) await say(io, `put ${put} ${put === 1 ? 'user' : 'users'}`);
  else await printData({ put }, io, style);
}

/** The records of the lines that are not blank. Throws an InvalidInputError that names the line. */
async function* readRecords({ io, signal }: CliContext, file: string): AsyncGenerator<UserRecord> {
  const input = file === '-' ? io.stdin : createReadStream(file);
  let number = 0;
  try {
    for await (const line of createInterface({ input, signal, crlfDelay: Number.POSITIVE_INFINITY })) {
      number += 1;
      if (line.trim() !== '') yield parseUserRecord(line);
    }
  } catch (error) {
    if (error instanceof InvalidInputError) {
      throw new InvalidInputError(`line ${number}: ${error.message}`, {
        hint: 'The lines before it may be stored; correct it and put the file again: records are replaced whole.',
        cause: error,
      });
    }
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    throw new InvalidInputError(
      `${quoteName(file)} cannot be read (${(error as NodeJS.ErrnoException).code})`,
      { cause: error },
    );
  }
}

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
