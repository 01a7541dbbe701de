import { randomUUID } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import type { UserInfoClient } from '../client/client.js';
import type { UserInfoClientOptions } from '../client/options.js';
import type { Sender } from '../client/sender.js';
import { ProfileStore } from '../profiles/profile-store.js';
import type { Queue } from '../queue/queue.js';
import type { Admin } from '../service/index.js';
import { configFolder } from '../support/folders.js';
import type { Io } from './io.js';
import { createPrompt, type Prompt } from './prompt.js';

/** What a command is handed: everything that it does to the world goes through here. */
export interface CliContext {
  readonly io: Io;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  readonly prompt: Prompt;
  readonly profiles: ProfileStore;
  /** The operating system, as Node names it. */
  readonly platform: string;
  /** The command line, without `node` and the script. */
  readonly args: readonly string[];
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds that only go forward. */
  steadyNow(): number;
  /** A text that no other call returns, in this process or another. */
  uniqueText(): string;
  connect(options: UserInfoClientOptions): Promise<UserInfoClient>;
  /** What many requests are sent with. */
  openSender(options: UserInfoClientOptions): Promise<Sender>;
  /** The store of the service at `--database`, without HTTP; the default one where none is named. */
  openAdmin(database: string | undefined, options: { readonly create: boolean }): Promise<Admin>;
  /** The queue in the PostgreSQL database of a URL. */
  openQueue(url: string): Promise<Queue>;
}

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
