import type { Admin } from '../../../service/index.js';
import { type Call, type CommandSpec, command, type Declare } from '../../command.js';
import { databaseOption, namedDatabase } from '../../database.js';
import type { OutputStyle } from '../../output/style.js';

/** A call of a command of `userinfo admin`. */
export interface StoreCall<Options> extends Call<Options> {
  /** Opens the store for `work` and closes it in any case; only with `create` is a missing store created. */
  withStore<T>(work: (admin: Admin) => Promise<T>, create?: true): Promise<T>;
}

/** JSON lines unless another format is asked for: there may be more items than fit into memory. */
export function linesByDefault({ io, options, style }: Call): OutputStyle {
  const isDefault = options.output === undefined && !io.env.USERINFO_OUTPUT;
  return isDefault && style.format === 'table' ? { ...style, format: 'ndjson' } : style;
}

/** A command that works on the store of `--database`. */
export function storeCommand<Options, Arguments extends unknown[]>({
  takes,
  run,
  ...spec
}: Omit<CommandSpec<Options, Arguments>, 'run'> & {
  readonly run: (call: StoreCall<Options>, ...given: Arguments) => Promise<void>;
}): Declare {
  return command({
    ...spec,
    takes: (command) => (takes?.(command) ?? command).addOption(databaseOption()),
    run: (call: Call<Options & { readonly database?: string }>, ...given: Arguments) => {
      const withStore: StoreCall<Options>['withStore'] = async (work, create) => {
        const admin = await call.context.openAdmin(namedDatabase(call.options.database, call.io.env), {
          create: create === true,
        });
        try {
          return await work(admin);
        } finally {
          await admin.close();
        }
      };
      return run({ ...call, withStore }, ...given);
    },
  });
}
