import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import { InvalidInputError } from '../../../protocol/errors.js';
import { quoteName } from '../../../protocol/text.js';
import { parseUserRecord, type UserRecord } from '../../../protocol/user-record.js';
import type { CliContext } from '../../context.js';
import { say } from '../../io.js';
import { examples } from '../../options.js';
import { printData } from '../../output/print-data.js';
import { isPlainTable, outputStyle } from '../../output/style.js';
import { type AdminOptions, addDatabaseOption, withAdmin } from './with-admin.js';

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
