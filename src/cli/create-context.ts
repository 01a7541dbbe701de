import { randomUUID } from 'node:crypto';
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
      const { OneCallClient } = await import('./one-call-client.js');
      return new OneCallClient(options);
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
