import { randomUUID } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { configFolder } from '../profiles/config-folder.js';
import { ProfileStore } from '../profiles/profile-store.js';
import type { CliContext } from './context.js';
import type { Io } from './io.js';
import { createPrompt } from './prompt.js';

/** The context of a real run of `args`, without `node` and the script: the system's clock, the user's profiles, the network. */
export function createContext(io: Io, signal: AbortSignal, args: readonly string[]): CliContext {
  return {
    io,
    signal,
    prompt: createPrompt(io, signal, !args.includes('--no-input')),
    profiles: new ProfileStore(configFolder(io.env)),
    platform: process.platform,
    args,
    now: Date.now,
    steadyNow: () => performance.now(),
    uniqueText: randomUUID,
    async connect(options) {
      const { UserInfoClient } = await import('../client/client.js');
      // To optimize undici's parser takes Node 20 (V8 11.3) 100 ms, and one call gains nothing by it. Not before the
      // import: under other flags than at its start, V8 takes no code of Node's own from its cache.
      if (process.versions.v8.startsWith('11.')) setFlagsFromString('--liftoff-only');
      return new UserInfoClient(options);
    },
    async openSender(options) {
      const { Sender } = await import('../client/sender.js');
      return new Sender(options);
    },
    async openAdmin(database, { create }) {
      const [{ openAdmin }, { chooseDatabase }] = await Promise.all([
        import('../service/index.js'),
        import('./database.js'),
      ]);
      return openAdmin({ database: await chooseDatabase(database, create), create });
    },
    async openQueue(url) {
      const { openQueue } = await import('../queue/queue.js');
      return openQueue(url);
    },
  };
}
