import type { UserInfoClient } from '../client/client.js';
import type { UserInfoClientOptions } from '../client/options.js';
import type { Sender } from '../client/sender.js';
import type { ProfileStore } from '../profiles/profile-store.js';
import type { Queue } from '../queue/queue.js';
import type { Admin } from '../service/index.js';
import type { Io } from './io.js';
import type { Prompt } from './prompt.js';

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
