import type { Dispatcher } from 'undici';
import type { Signers } from '../signing/app-signatures.js';
import type { SigningRecipes } from '../signing/recipe.js';
import type { Secret } from '../signing/secret.js';
import type { ClientHooks } from './events.js';

/** Where a client sends its requests, as whom, and how patiently. */
export interface UserInfoClientOptions extends ClientHooks {
  /** Address of the test or the production deployment (§1): all of it that comes before `/api/v1/`. */
  readonly baseUrl: string | URL;
  readonly tenantCode: string;
  readonly channel: string;
  readonly appKey: string;
  readonly appSecret: string | Secret;
  /** How `app_sign` and `sign` are computed (§5.5, §5.6); the default recipes unless given. */
  readonly signing?: SigningRecipes | Signers;
  /** How long a whole call may take, further attempts included, in milliseconds. 10 seconds unless given. */
  readonly timeoutMs?: number;
  /** How long a connection may take to open, in milliseconds. 5 seconds unless given. */
  readonly connectTimeoutMs?: number;
  /** How often a request is sent at most. 3 unless given. */
  readonly attempts?: number;
  /** How many connections may be open at once; further requests wait for one of them. 128 unless given. */
  readonly connections?: number;
  /** Allows a base URL of plain http that leads to another machine. */
  readonly allowHttp?: boolean;
  /** PEM certificates of authorities to trust, beside those that Node trusts. */
  readonly extraCa?: string;
  /** Address of an http proxy, such as `http://user:password@proxy.example:3128`. This machine is reached without. */
  readonly proxy?: string;
  /**
   * A dispatcher of undici 7 or later, used in place of connections of the client's own, and left open by `close`.
   * `connections`, `connectTimeoutMs`, `extraCa` and `proxy` have no effect then.
   */
  readonly dispatcher?: Dispatcher;
  /** Milliseconds since 1970; the system's clock unless given. */
  readonly now?: () => number;
  /** A new `random` of §5.4; from a cryptographic source unless given. */
  readonly random?: () => string;
}

/** What one call may change. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds, as in the client's options. */
  readonly timeoutMs?: number;
}
