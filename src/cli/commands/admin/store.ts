import type { Command } from 'commander';
import { InvalidInputError } from '../../../core/contract/errors.js';
import type { Admin, NamedUser } from '../../../service/index.js';
import {
  type CliContext,
  type CommandSpec,
  command,
  type Declare,
  type Invocation,
} from '../../command.js';
import { parseFilled } from '../../command-line/options.js';
import { readValue } from '../../io.js';
import type { OutputStyle } from '../../output/style.js';
import { databaseOption } from '../serve/database.js';

/** An invocation of a command of `userinfo admin`. */
export interface StoreInvocation<Options> extends Invocation<Options> {
  /** Opens the store until the command ends; only with `create` is a missing store created. */
  openStore(create?: true): Promise<Admin>;
}

/** The user that options name. */
export interface UserOptions {
  readonly tenantCode?: string;
  readonly unionId?: string;
  /**
   * The key of the value on standard input: an argument would show it to other users of the
   * machine.
   */
  readonly primaryKey?: string;
}

export function takesNamedUser(command: Command): Command {
  return command
    .option('--union-id <id>', 'union ID of the user', parseFilled('--union-id'))
    .option(
      '--primary-key <key>',
      'key of the value on standard input that names the user, such as mobile',
      parseFilled('--primary-key'),
    );
}

/**
 * The user that options name; `undefined` if they name none.
 *
 * @throws InvalidInputError for both a union ID and a value, or no tenant
 */
export async function namedUser(
  context: CliContext,
  { tenantCode, unionId, primaryKey: key }: UserOptions,
): Promise<NamedUser | undefined> {
  if (unionId === undefined && key === undefined) return undefined;
  if (unionId !== undefined && key !== undefined) {
    throw new InvalidInputError('give either --union-id or --primary-key');
  }
  if (tenantCode === undefined) {
    throw new InvalidInputError('the tenant of the user is missing', {
      hint: 'Add --tenant-code <code>.',
    });
  }
  if (unionId !== undefined) return { tenantCode, unionId };
  return { tenantCode, key: key ?? '', value: await readValue(context, 'value') };
}

/** JSON lines unless another format is asked for: there may be more items than fit into memory. */
export function linesByDefault({ io, options, style }: Invocation): OutputStyle {
  const isAsked = options.output !== undefined || Boolean(io.env.USERINFO_OUTPUT);
  if (isAsked || style.format !== 'table') return style;
  return { ...style, format: 'ndjson' };
}

/** A command that works on the store of `--database`. */
export function storeCommand<Options, Arguments extends unknown[]>({
  takes,
  action,
  ...spec
}: Omit<CommandSpec<Options, Arguments>, 'action'> & {
  readonly action: (invocation: StoreInvocation<Options>, ...operands: Arguments) => Promise<void>;
}): Declare {
  return command({
    ...spec,
    takes: (command, context) => (takes?.(command, context) ?? command).addOption(databaseOption()),
    action: async (
      invocation: Invocation<Options & { readonly database?: string }>,
      ...operands: Arguments
    ) => {
      let store: Admin | undefined;
      const openStore = async (create = false) => {
        store = await invocation.context.openAdmin(invocation.options.database, create);
        return store;
      };
      try {
        await action({ ...invocation, openStore }, ...operands);
      } finally {
        await store?.close();
      }
    },
  });
}
