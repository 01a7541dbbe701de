import type { UserInfoClientOptions } from '../client/options.js';
import { ProfileStore } from '../profiles/profile-store.js';
import type { Admin } from '../service/index.js';
import { configFolder } from '../support/folders.js';
import type { Io } from './io.js';
import { createPrompt } from './prompt.js';

/** The dependencies of a command: all its effects go through them. */
export type CliContext = ReturnType<typeof createContext>;

/** The context of a real run of `args` (without `node` and the script): the user's profiles, the network. */
export function createContext(io: Io, signal: AbortSignal, args: readonly string[]) {
  return {
    io,
    /** Aborted by Ctrl-C, SIGTERM and SIGHUP. A second SIGTERM dispatches `terminate`, on this signal alone. */
    signal,
    prompt: createPrompt(io, signal, !args.includes('--no-input')),
    profiles: new ProfileStore(configFolder(io.env)),
    args,
    async connect(options: UserInfoClientOptions) {
      const { CallClient } = await import('../client/client.js');
      return new CallClient(options);
    },
    /** Opens the store of the service directly, without HTTP: `--database`, or the default one. */
    async openAdmin(database: string | undefined, { create }: { readonly create: boolean }): Promise<Admin> {
      const [{ openAdmin }, { chooseDatabase, masterKeys, mayMigrate }] = await Promise.all([
        import('../service/index.js'),
        import('./service/database.js'),
      ]);
      return openAdmin({
        database: await chooseDatabase(database, create),
        create,
        upgrade: mayMigrate(io.env),
        masterKeys: await masterKeys(io.env),
      });
    },
  };
}
