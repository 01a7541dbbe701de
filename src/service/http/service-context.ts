import type { Signers } from '../../signing/app-signatures.js';
import type { Log } from '../log/log.js';
import type { Store } from '../store/store.js';
import type { TokenBuckets } from './token-bucket.js';

/** What the answer to a request depends on beside the request. */
export interface ServiceContext {
  readonly store: Store;
  readonly log: Log;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Milliseconds that only go forward. */
  readonly steadyNow: () => number;
  /** The present second, in Unix time. */
  readonly unixSeconds: () => number;
  /** How far a `timestamp` may be off, either way (§5.6). */
  readonly clockWindowSeconds: number;
  /** How often each app, by its key, may ask; `null` for no limit. */
  readonly appLimit: TokenBuckets | null;
  /** What signs by an app's recipes, given as JSON text; by the default ones for `null`. */
  readonly signersOf: (recipes: string | null) => Signers;
}
