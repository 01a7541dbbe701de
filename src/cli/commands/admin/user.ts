import { addAbortSignal, type Readable } from 'node:stream';
import type { Command } from 'commander';
import { InvalidInputError } from '../../../core/contract/errors.js';
import { openInput } from '../../../core/support/input-file.js';
import type { Admin, UserKey } from '../../../service/index.js';
import { type CliContext, command } from '../../command.js';
import { announceWait, decodeInput, explainUnreadable, inputName, readValue } from '../../input.js';
import { type Io, printMessage, write } from '../../io.js';
import { printList } from '../../output/print.js';
import { linesByDefault } from '../../output/style.js';
import { confirm } from '../../prompt.js';
import { splitLines } from '../bulk/source/lines.js';
import { unicodeLines } from '../bulk/source/text.js';
import { namedUser, takesNamedUser, type UserOptions } from './named-user.js';
import { type StoreInvocation, storeCommand } from './store.js';

const takesUser = (command: Command) =>
  command
    .requiredOption('--tenant-code <code>', 'tenant of the user')
    .requiredOption('--union-id <id>', 'union ID of the user');

const declarePut = storeCommand({
  name: 'put',
  common: ['output'],
  summary: 'store user records',
  takes: (command) => command.argument('[file]', 'file of JSON lines; - for standard input', '-'),
  action: async ({ context, io, isTable, print, openStore }, file: string) => {
    const put = await putRecords(context, await openStore(true), file);
    if (isTable) await printMessage(io, `put ${put} ${put === 1 ? 'user' : 'users'}`);
    else await print({ put });
  },
});

const declareShow = storeCommand({
  name: 'show',
  common: ['output'],
  summary: 'print a user record',
  takes: (command) => takesUser(command).alias('export'),
  action: async ({ options, print, openStore }: StoreInvocation<UserKey>) =>
    print(await (await openStore()).getUser(options)),
});

const declareFind = storeCommand({
  name: 'find',
  common: ['output'],
  summary: 'find users by a value',
  takes: (command) =>
    command
      .requiredOption('--tenant-code <code>', 'tenant of the users')
      .requiredOption('--key <name>', 'key of the value, such as mobile or id_card'),
  action: async (invocation: StoreInvocation<{ tenantCode: string; key: string }>) => {
    const value = await readValue(invocation.context, 'value');
    const store = await invocation.openStore();
    await printList(
      store.findUsers({ ...invocation.options, value }),
      invocation.io,
      linesByDefault(invocation),
    );
  },
});

const declareList = storeCommand({
  name: 'list',
  common: ['output'],
  summary: 'print all user records of a tenant',
  takes: (command) => command.requiredOption('--tenant-code <code>', 'tenant of the users'),
  action: async (invocation: StoreInvocation<{ readonly tenantCode: string }>) =>
    printList(
      (await invocation.openStore()).listUsers(invocation.options),
      invocation.io,
      linesByDefault(invocation),
    ),
});

const declareDigest = storeCommand({
  name: 'digest',
  common: ['output'],
  summary: 'print the digest that names a user in the log and the audit',
  takes: (command) =>
    takesNamedUser(command.requiredOption('--tenant-code <code>', 'tenant of the user')),
  action: async ({
    context,
    io,
    options,
    isTable,
    print,
    openStore,
  }: StoreInvocation<UserOptions>) => {
    const user = await namedUser(context, options);
    if (user === undefined) throw new InvalidInputError('give either --union-id or --primary-key');
    const user_digest = await (await openStore()).digestUser(user);
    if (isTable) await write(io.stdout, `${user_digest}\n`);
    else await print({ user_digest });
  },
});

const declareDelete = storeCommand({
  name: 'delete',
  common: ['output', 'confirm'],
  summary: 'delete a user',
  takes: takesUser,
  action: async ({ context, options, print, openStore }: StoreInvocation<UserKey>) => {
    const { tenantCode, unionId, yes } = options;
    const store = await openStore();
    await confirm(
      context,
      `Delete the record of user "${unionId}", and the codes issued for the user?`,
      yes,
    );
    await print(await store.deleteUser({ tenantCode, unionId }));
  },
});

export const declareUser = command({
  name: 'user',
  common: [],
  summary: 'manage user records',
  commands: [declarePut, declareShow, declareFind, declareList, declareDigest, declareDelete],
});

/**
 * Stores the records of all lines that are not blank, and returns their number.
 *
 * @throws InvalidInputError with the number of the line, AbortError
 */
async function putRecords({ io, signal }: CliContext, store: Admin, file: string): Promise<number> {
  const name = inputName(file);
  const input = await openRecords(io, file, signal).catch((error: unknown) => {
    throw explainUnreadable(error, name);
  });
  addAbortSignal(signal, input);
  /** The line of the record that the store has, and may refuse. */
  let line: number | null = null;
  async function* records(): AsyncGenerator<string> {
    for await (const record of numberedRecords(input, name)) {
      line = record.line;
      yield record.json;
      line = null;
    }
  }
  try {
    return await store.putUsers(records());
  } catch (error) {
    throw line === null ? error : atLine(line, error);
  }
}

/**
 * The text of the lines that are not blank; `name` is that of the input in messages.
 *
 * @throws InvalidInputError if it cannot be read, or a line is not UTF-8
 */
async function* numberedRecords(
  input: Readable,
  name: string,
): AsyncGenerator<{ readonly line: number; readonly json: string }> {
  try {
    for await (const block of unicodeLines(input)) {
      for (const { bytes, firstLine: line } of splitLines(block)) {
        const json = decodeRecord(bytes, line);
        if (json !== '') yield { line, json };
      }
    }
  } catch (error) {
    throw explainUnreadable(error, name);
  }
}

function decodeRecord(bytes: Buffer, line: number): string {
  try {
    return decodeInput(bytes, 'the record').trim();
  } catch (error) {
    throw atLine(line, error);
  }
}

/** The error of the record in a line; another error as it is. */
function atLine(line: number, error: unknown): unknown {
  if (!(error instanceof InvalidInputError)) return error;
  const stored = line === 1 ? 'Nothing was stored.' : 'The records of earlier lines are stored.';
  return new InvalidInputError(`line ${line}: ${error.message}`, {
    hint: `${stored} Correct the line and put the file again: records are replaced as a whole.`,
    cause: error,
  });
}

async function openRecords(io: Io, file: string, signal: AbortSignal): Promise<Readable> {
  if (file !== '-') return openInput(file, signal);
  await announceWait(io, 'records, one JSON object per line');
  return io.stdin;
}
