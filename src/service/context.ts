import type { TokenBuckets } from './http/token-bucket.js';
import type { Log } from './log.js';
import type { CheckedSettings, ServiceHost } from './settings.js';
import type { Store } from './store/store.js';

/** Everything besides a request that its answer depends on. */
export interface ServiceContext extends ServiceHost {
  readonly store: Store;
  readonly settings: CheckedSettings;
  readonly log: Log;
  /** The Unix time in seconds. */
  readonly unixSeconds: () => number;
  /** Rate limit of each app, by its key; `null` for no limit. */
  readonly appLimit: TokenBuckets | null;
  /** The rate at which requests of an address may be refused before they are authenticated; `null` for no limit. */
  readonly failureLimit: TokenBuckets | null;
  /** Whether the store is, or was a second ago. */
  readonly isWritable: () => Promise<boolean>;
}
