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
  /** For how many seconds a request of an app, by its key, is refused: 0 within the rate. */
  readonly appLimit: (appKey: string) => number;
  /** The same for an address whose requests are refused before they are authenticated. */
  readonly failureLimit: (address: string) => number;
  /** Whether the store is, or was a second ago. */
  readonly isWritable: () => Promise<boolean>;
}
