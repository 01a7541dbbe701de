import { ServiceAddress } from '../../core/contract/base-url.js';
import {
  hasMembers,
  type MemberCheck,
  mustBe,
  mustBeCount,
  mustBeDuration,
  mustBeFilledText,
  mustBeFunction,
  mustBeParameter,
  mustBePlainObject,
  mustBeSignal,
  mustBeText,
  type Shape,
} from '../../core/contract/members.js';
import type { PlatformFile } from '../../core/platform/platform.js';
import type { RequestSigners } from '../../core/signing/app-signatures.js';
import { Secret, secretLabel } from '../../core/signing/secret.js';
import type { Dispatcher } from './dispatcher.js';
import type { ClientHooks, Logger } from './hooks.js';

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
  /** The code of the tenant (§5.3). */
  readonly tenantCode: string;
  /** The code of the channel, which the platform assigns (§5.3). */
  readonly channel: string;
  /** The key of the server application (§5.3). */
  readonly appKey: string;
  /**
   * The app secret, or where it is fetched: a secret that is rotated needs no new client. A
   * function is called before a request, not more often than once a second; while it takes its
   * time, other requests use the last secret. With `lifetimeMs` a secret is used for that long, and
   * fetched anew before its end.
   */
  readonly appSecret: string | Secret | SecretProvider | VaultSecret;
  /**
   * What the spec leaves open, as the platform does it: the content of a platform file. Its recipes
   * sign; on its result codes depend retries, throttling, hints and `error.means`.
   *
   * @default the defaults of docs/platform.md
   */
  readonly platform?: PlatformFile;
  /**
   * Signers of your own (§5.5, §5.6), in place of the recipes of `platform`; they may return
   * promises.
   *
   * @default the recipes of `platform`
   */
  readonly signing?: RequestSigners;
  /**
   * Headers of every request, such as the key of a gateway, besides those whose value `platform`
   * has: values, or functions that return them, for a token that expires.
   *
   * @default none
   */
  readonly headers?: Readonly<Record<string, string | Secret | HeaderProvider>>;
  /**
   * Maximum duration of a call with all its attempts, in milliseconds.
   *
   * @default 10_000
   */
  readonly timeoutMs?: number;
  /**
   * Maximum duration of one attempt, of a call and of a row, in milliseconds.
   *
   * @default `timeoutMs`
   */
  readonly attemptTimeoutMs?: number;
  /**
   * Maximum time to open a connection, in milliseconds.
   *
   * @default 5_000
   */
  readonly connectTimeoutMs?: number;
  /**
   * Maximum number of attempts of a call or a row.
   *
   * @default 3
   */
  readonly attempts?: number;
  /**
   * Maximum number of open connections; further requests wait for one.
   *
   * @default 128
   */
  readonly connections?: number;
  /**
   * Whether plain http to another machine is allowed.
   *
   * @default false
   */
  readonly allowHttp?: boolean;
  /**
   * PEM certificates of authorities to trust in addition to Node's.
   *
   * @default none
   */
  readonly extraCa?: string;
  /**
   * PEM certificate of this client, with its chain, for a service or gateway that asks for one. It
   * needs `key`.
   *
   * @default none
   */
  readonly cert?: string;
  /**
   * PEM private key of `cert`.
   *
   * @default none
   */
  readonly key?: string | Secret;
  /**
   * Address of an http proxy, such as `http://user:password@proxy.example:3128`. Loopback addresses
   * are reached directly.
   *
   * @default none
   */
  readonly proxy?: string;
  /**
   * A dispatcher, of undici 7 or later or of your own, to use instead of the client's own
   * connections; `close` leaves it open. `connections`, `connectTimeoutMs`, `extraCa`, `cert`,
   * `key` and `proxy` then have no effect.
   *
   * @default connections of the client's own
   */
  readonly dispatcher?: Dispatcher;
  /**
   * Returns the current time, in milliseconds since 1970.
   *
   * @default the system clock
   */
  readonly now?: () => number;
  /**
   * Returns a new `random` (§5.4): 8 to 20 characters.
   *
   * @default from a cryptographic source
   */
  readonly random?: () => string;
  /**
   * Receives each attempt, its answer or why there is none, as `debug`, without secrets and
   * personal data; and as `warn` what is a process warning otherwise: pino, console, or your own.
   *
   * @default none
   */
  readonly logger?: Logger;
}

/**
 * Returns the current app secret. One call is made at a time, and another one, with `true`, after
 * the service has refused the signature of the secret in use; that request is then sent once more.
 * If there is no secret, and the function fails, returns none or takes longer than `timeoutMs` of
 * the client, a call throws a NoAnswerError with the reason `secret`; if there is one, it stays in
 * use.
 */
export type SecretProvider = (isRefused: boolean) => string | Secret | Promise<string | Secret>;

/**
 * Where the app secret is fetched, and its lifetime in milliseconds. The next secret is fetched
 * before the lifetime ends; after its end, requests wait for the next one.
 *
 * @example
 * const appSecret: VaultSecret = {
 *   fetch: async () => (await vault.read('app-secret')).value,
 *   lifetimeMs: 60_000,
 * };
 */
export interface VaultSecret {
  /** Returns the current secret. */
  readonly fetch: SecretProvider;
  /** How long one secret is used, in milliseconds. */
  readonly lifetimeMs: number;
}

/**
 * Returns the current value of a header. It is called before a request, at most once a second.
 * After the service has refused the caller, such as by HTTP 401, it is called with `true`, and the
 * request is sent once more. Until it has returned, other requests are sent with the last value. If
 * there is no last value and it fails, a call throws a NoAnswerError with the reason `secret`.
 *
 * @example
 * let token = '';
 * const authorization: HeaderProvider = async (isRefused) => {
 *   if (token === '' || isRefused) token = await gateway.newToken();
 *   return `Bearer ${token}`;
 * };
 */
export type HeaderProvider = (isRefused: boolean) => string | Secret | Promise<string | Secret>;

/** Options of a client whose base URL may have been judged already, as by the command line. */
export type SenderOptions = Omit<UserInfoClientOptions, 'baseUrl'> & {
  readonly baseUrl: string | URL | ServiceAddress;
};

/** The options of a client that `withOptions` can replace: all but those of its connections. */
export type DerivedOptions = Partial<
  Omit<
    UserInfoClientOptions,
    | 'baseUrl'
    | 'allowHttp'
    | 'connectTimeoutMs'
    | 'connections'
    | 'extraCa'
    | 'cert'
    | 'key'
    | 'proxy'
    | 'dispatcher'
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
  /**
   * Ends the call: it throws a CancelledError.
   *
   * @default none
   */
  readonly signal?: AbortSignal;
  /**
   * Maximum duration of the call with all its attempts, in milliseconds.
   *
   * @default `timeoutMs` of the client
   */
  readonly timeoutMs?: number;
  /**
   * Maximum duration of one attempt, in milliseconds.
   *
   * @default `attemptTimeoutMs` of the client
   */
  readonly attemptTimeoutMs?: number;
  /**
   * Maximum number of attempts.
   *
   * @default `attempts` of the client
   */
  readonly attempts?: number;
  /**
   * Headers of this call besides those of the client, such as the ID of a trace; they take
   * precedence.
   *
   * @default none
   */
  readonly headers?: Readonly<Record<string, string | Secret>>;
  /**
   * Any value, such as the ID of a request of your own: hooks and traces of this call receive it.
   *
   * @default none
   */
  readonly context?: unknown;
}

/** The values of options that are absent; times in milliseconds. */
export const clientDefaults = {
  timeoutMs: 10_000,
  connectTimeoutMs: 5_000,
  attempts: 3,
  connections: 128,
} as const;

/** Accepts text or a Secret. */
export const mustBeSecret: MemberCheck = (value) => {
  const text = value instanceof Secret ? value.reveal() : value;
  if (text === secretLabel) return 'is <secret>, the placeholder that a Secret prints';
  return mustBeFilledText(text);
};

/** Accepts what `mustBeSecret` does, and where a secret is fetched. */
const mustBeSecretOrSource: MemberCheck = (value) => {
  if (typeof value === 'function') return null;
  const { fetch, lifetimeMs } = (value ?? {}) as Partial<VaultSecret>;
  if (typeof fetch !== 'function') return mustBeSecret(value);
  const fault = mustBeDuration(lifetimeMs);
  return fault === null ? null : `has a lifetimeMs that ${fault}`;
};

/** The checks of the options of a client. */
export const clientMembers: Shape<UserInfoClientOptions> = {
  what: 'the options of UserInfoClient',
  members: {
    baseUrl: mustBeBaseUrl,
    tenantCode: mustBeParameter,
    channel: mustBeParameter,
    appKey: mustBeParameter,
    appSecret: mustBeSecretOrSource,
    platform: () => null, // parsePlatform checks it
    signing: mustBe(
      'the signers app_sign and sign (recipes belong into platform.signing)',
      isSignerPair,
    ),
    headers: mustBePlainObject,
    timeoutMs: mustBeDuration,
    attemptTimeoutMs: mustBeDuration,
    connectTimeoutMs: mustBeDuration,
    attempts: mustBeCount,
    connections: mustBeCount,
    allowHttp: mustBe('true or false', (value) => typeof value === 'boolean'),
    extraCa: mustBeText,
    cert: mustBeText,
    key: (value) => mustBeText(value instanceof Secret ? value.reveal() : value),
    proxy: mustBeText,
    dispatcher: mustBe('a dispatcher of undici', (value) =>
      hasMembers(value, { dispatch: 'function' }),
    ),
    now: mustBeFunction,
    random: mustBeFunction,
    logger: mustBe('a logger with debug and warn', (value) =>
      hasMembers(value, { debug: 'function', warn: 'function' }),
    ),
    onRequest: mustBeFunction,
    onResponse: mustBeFunction,
    onNoAnswer: mustBeFunction,
    onRetry: mustBeFunction,
  },
  required: ['baseUrl', 'tenantCode', 'channel', 'appKey', 'appSecret'],
};

function mustBeBaseUrl(value: unknown): string | null {
  const isUrl = hasMembers(value, { href: 'string', origin: 'string' });
  return isUrl || value instanceof ServiceAddress ? null : mustBeText(value);
}

function isSignerPair(value: unknown): boolean {
  const { app_sign, sign } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return [app_sign, sign].every((signer) => hasMembers(signer, { sign: 'function' }));
}

// What DerivedOptions omits, and the rest.
const {
  baseUrl,
  allowHttp,
  connectTimeoutMs,
  connections,
  extraCa,
  cert,
  key,
  proxy,
  dispatcher,
  ...derivable
} = clientMembers.members;

/** The checks of the options of `withOptions`. */
export const derivedMembers: Shape<DerivedOptions> = {
  what: 'the options of withOptions',
  members: derivable,
};

/** The checks of the options of a call. */
export const callMembers: Shape<CallOptions> = {
  what: 'the options of a call',
  members: {
    signal: mustBeSignal,
    timeoutMs: mustBeDuration,
    attemptTimeoutMs: mustBeDuration,
    attempts: mustBeCount,
    headers: mustBePlainObject,
    context: () => null,
  },
};
