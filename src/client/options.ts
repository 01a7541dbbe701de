import type { PlatformResultCodes } from '../protocol/result-code-table.js';
import type { Signers } from '../signing/app-signatures.js';
import type { SigningRecipes } from '../signing/recipe.js';
import type { Secret } from '../signing/secret.js';
import type { Dispatcher } from './dispatcher.js';
import type { ClientHooks } from './hooks.js';
import {
  hasMembers,
  isA,
  isCount,
  isDuration,
  isFunction,
  isParameter,
  isSecret,
  isSignal,
  isText,
  type Shape,
} from './members.js';

/**
 * Options of a client: deployment, credentials, timeouts.
 *
 * @example
 * const options: UserInfoClientOptions = {
 *   baseUrl: 'https://users.example.com',
 *   tenantCode: 'acme',
 *   channel: 'web',
 *   appKey: 'app-1',
 *   appSecret: async () => (await secrets.get('app-secret')).value,
 * };
 */
export interface UserInfoClientOptions extends ClientHooks {
  /** Base URL of the test or the production deployment (§1): everything before `/api/v1/`. */
  readonly baseUrl: string | URL;
  readonly tenantCode: string;
  readonly channel: string;
  readonly appKey: string;
  /** The app secret, or a function that returns it, for each attempt anew: a secret that is rotated. */
  readonly appSecret: string | Secret | SecretProvider;
  /** The rules of `app_sign` and `sign` (§5.5, §5.6). Default: the default recipes. */
  readonly signing?: SigningRecipes | Signers;
  /** Maximum duration of a call with all its attempts, in milliseconds. Default: 10 seconds. */
  readonly timeoutMs?: number;
  /** Maximum time to open a connection, in milliseconds. Default: 5 seconds. */
  readonly connectTimeoutMs?: number;
  /** Maximum number of attempts. Default: 3. */
  readonly attempts?: number;
  /** Maximum number of open connections; further requests wait for one. Default: 128. */
  readonly connections?: number;
  /** Whether plain http to another machine is allowed. */
  readonly allowHttp?: boolean;
  /** PEM certificates of authorities to trust in addition to Node's. */
  readonly extraCa?: string;
  /**
   * Address of an http proxy, such as `http://user:password@proxy.example:3128`. Loopback addresses are reached
   * directly.
   */
  readonly proxy?: string;
  /**
   * A dispatcher, of undici 7 or later or of your own, to use instead of the client's own connections; `close` leaves it open.
   * `connections`, `connectTimeoutMs`, `extraCa` and `proxy` then have no effect.
   */
  readonly dispatcher?: Dispatcher;
  /**
   * The result codes of the platform (§7.2), in place of those of this project: retries, throttling, hints and
   * `error.means` depend on them.
   */
  readonly resultCodes?: PlatformResultCodes;
  /** Returns milliseconds since 1970. Default: the system clock. */
  readonly now?: () => number;
  /** Returns a new `random` (§5.4). Default: from a cryptographic source. */
  readonly random?: () => string;
}

/**
 * Returns the current app secret. It is called for each attempt.
 *
 * @example
 * const appSecret: SecretProvider = async () => (await vault.read('app-secret')).value;
 */
export type SecretProvider = () => string | Secret | Promise<string | Secret>;

/**
 * The options of a client that `withOptions` can replace: all but those of its connections.
 *
 * @example
 * const forJobs: DerivedOptions = { timeoutMs: 60_000, attempts: 5 };
 * const patient = client.withOptions(forJobs);
 */
export type DerivedOptions = Partial<
  Omit<
    UserInfoClientOptions,
    'baseUrl' | 'allowHttp' | 'connectTimeoutMs' | 'connections' | 'extraCa' | 'proxy' | 'dispatcher'
  >
>;

/**
 * Options of one call.
 *
 * @example
 * const options: CallOptions = { timeoutMs: 2_000, attempts: 1, context: { job: 7 } };
 * await client.read({ code }, options);
 */
export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds. Default: that of the client. */
  readonly timeoutMs?: number;
  /** Maximum number of attempts. Default: that of the client. */
  readonly attempts?: number;
  /** Any value, such as the ID of a request of your own: hooks and traces of this call receive it. */
  readonly context?: unknown;
}

export const clientMembers: Shape<UserInfoClientOptions> = {
  what: 'the options of UserInfoClient',
  members: {
    baseUrl: (value) => (hasMembers(value, { href: 'string', origin: 'string' }) ? null : isText(value)),
    tenantCode: isParameter,
    channel: isParameter,
    appKey: isParameter,
    appSecret: isSecret,
    signing: isA('an object of app_sign and sign', (value) =>
      hasMembers(value, { app_sign: 'object', sign: 'object' }),
    ),
    resultCodes: () => null, // parseResultCodes checks them
    timeoutMs: isDuration,
    connectTimeoutMs: isDuration,
    attempts: isCount,
    connections: isCount,
    allowHttp: isA('true or false', (value) => typeof value === 'boolean'),
    extraCa: isText,
    proxy: isText,
    dispatcher: isA('a dispatcher of undici', (value) => hasMembers(value, { dispatch: 'function' })),
    now: isFunction,
    random: isFunction,
    onRequest: isFunction,
    onResponse: isFunction,
    onNoAnswer: isFunction,
  },
  required: ['baseUrl', 'tenantCode', 'channel', 'appKey', 'appSecret'],
};

const { baseUrl, allowHttp, connectTimeoutMs, connections, extraCa, proxy, dispatcher, ...derivable } =
  clientMembers.members;

export const derivedMembers: Shape<DerivedOptions> = {
  what: 'the options of withOptions',
  members: derivable,
  required: [],
};

export const callMembers: Shape<CallOptions> = {
  what: 'the options of a call',
  members: { signal: isSignal, timeoutMs: isDuration, attempts: isCount, context: () => null },
  required: [],
};
