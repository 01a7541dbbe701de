import type { Admin } from '../../../service/index.js';
import { type CommandSpec, command, type Declare, type Invocation } from '../../command.js';
import { databaseOption } from '../../command-line/database.js';

/** An invocation of a command of `userinfo admin`. */
export interface StoreInvocation<Options> extends Invocation<Options> {
  /** Opens the store until the command ends; only with `create` is a missing store created. */
  openStore(create?: true): Promise<Admin>;
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
