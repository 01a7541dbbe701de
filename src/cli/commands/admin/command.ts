import type { Command } from 'commander';
import type { Admin } from '../../../service/index.js';
import type { CliContext } from '../../context.js';
import { databaseOption } from '../../database.js';
import { type CommonOptions, examples } from '../../options.js';

export interface AdminOptions extends CommonOptions {
  readonly database?: string;
}

type Examples = readonly (readonly [command: string, purpose: string])[];

/** Completes a command that works on an existing store: --database, the examples, and the action. */
export function onStore<Options extends AdminOptions>(
  command: Command,
  context: CliContext,
  shown: Examples,
  work: (admin: Admin, options: Options, argument: string) => Promise<void>,
): void {
  addStoreOptions(command, shown).action(() => {
    const options = command.optsWithGlobals<Options>();
    return withAdmin(context, options, (admin) => work(admin, options, command.args[0] ?? ''));
  });
}

export function addStoreOptions(command: Command, shown: Examples): Command {
  return command.addOption(databaseOption()).addHelpText('after', examples(...shown));
}

/** Opens the store for one command and closes it in any case; only with `create` is a missing store created. */
export async function withAdmin<T>(
  context: CliContext,
  { database }: AdminOptions,
  work: (admin: Admin) => Promise<T>,
  create = false,
): Promise<T> {
  const admin = await context.openAdmin(database, { create });
  try {
    return await work(admin);
  } finally {
    await admin.close();
  }
}
