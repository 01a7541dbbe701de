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
  /** For how many seconds the requests of an app are refused, by its key: 0 within the rate. */
  readonly appLimit: (appKey: string) => number;
  /**
   * For how many seconds the requests of an address are refused, if they are not authenticated: 0
   * within the rate.
   */
  readonly failureLimit: (address: string) => number;
  /** Whether the store accepted a write at the last probe, usually at most a second ago. */
  readonly isWritable: () => Promise<boolean>;
}
