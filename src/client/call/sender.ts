import { randomUUID } from 'node:crypto';
import { parseBaseUrl, refuseApiPath, refusePlainHttp } from '../../core/contract/base-url.js';
import { InvalidInputError } from '../../core/contract/errors.js';
import { randomLength } from '../../core/contract/limits.js';
import { checkMembers } from '../../core/contract/members.js';
import { parseResultCodes } from '../../core/contract/result-code-table.js';
import { ownResultCodes, type ResultCodeTable } from '../../core/contract/result-codes.js';
import { type Platform, parsePlatform } from '../../core/platform/platform.js';
import { compileRecipes } from '../../core/signing/app-signatures.js';
import { Secret } from '../../core/signing/secret.js';
import { type Connections, openConnections } from './connections.js';
import { RejectedError } from './errors.js';
import { headerSource } from './header-values.js';
import { hooksOf } from './hooks.js';
import {
  clientDefaults,
  clientMembers,
  isSecret,
  type SecretProvider,
  type UserInfoClientOptions,
  type VaultSecret,
} from './options.js';
import { nameHost } from './proxy.js';
import { callProvider, notProvided, RenewedValue } from './renewed-value.js';
import type { PlainRequest } from './request.js';
import { type AttemptOutcome, isSuccess, refusesCaller, refusesSignature } from './retry.js';
import { type SignedRequest, type SigningApp, signRequest } from './sign-request.js';
import { RequestHeaders } from './wire-request.js';

/**
 * `random` (§5.4): the maximum length of §8, hexadecimal, 74 bits of it from a cryptographic
 * source.
 */
export const randomString = () => randomUUID().replaceAll('-', '').slice(0, randomLength.max);

/**
 * Age from which the value of a function is renewed, in milliseconds, unless it has a life time of
 * its own.
 */
const freshMs = 1_000;
/** The part of its life after which a value is renewed. */
const renewalPart = 0.8;

/**
 * Signs the requests of one app to one deployment, and has the connections to it; an `Attempt`
 * sends each of them.
 */
export class Sender {
  readonly options: UserInfoClientOptions;
  readonly baseUrl: string;
  /** The two parts of the base URL. */
  readonly origin: string;
  readonly pathPrefix: string;
  /** Host and port of the base URL, for messages, with the proxy on the way to it. */
  readonly host: string;
  readonly connections: Connections;
  readonly hooks: ReturnType<typeof hooksOf>;
  /** What the spec leaves open, as the service does it. */
  readonly platform: Platform;
  /** The result codes of the service. */
  readonly resultCodes: ResultCodeTable;
  readonly #app: SigningApp;
  readonly #secret: RenewedValue<Secret>;
  readonly #headers: RenewedValue<RequestHeaders>;
  readonly #ownsConnections: boolean;
  readonly #random: () => string;
  /** Returns milliseconds since 1970. */
  readonly now: () => number;
  /** Whether an answer to any of its requests came. */
  wasAnswered = false;

  /**
   * `shared` is another sender to the same base URL, whose connections this one uses and does not
   * close.
   *
   * @throws InvalidInputError that names the invalid option, or for plain http to another machine
   * without `allowHttp`
   * @throws RecipeError for an invalid recipe
   */
  constructor(options: UserInfoClientOptions, shared?: Sender) {
    checkMembers(clientMembers, options);
    const { appSecret, platform, signing } = options;
    // Options are printed with a client.
    this.options =
      typeof appSecret === 'string' ? { ...options, appSecret: new Secret(appSecret) } : options;
    this.baseUrl = parseBaseUrl(String(options.baseUrl), 'the option baseUrl');
    refuseApiPath(this.baseUrl, 'the option baseUrl');
    refusePlainHttp(this.baseUrl, options.allowHttp === true, 'allowHttp', 'the option baseUrl');
    const { host, origin } = new URL(this.baseUrl);
    this.origin = origin;
    this.pathPrefix = this.baseUrl.slice(origin.length);
    const isAlike = shared?.options.platform === platform && shared?.options.signing === signing;
    const like = isAlike ? shared : undefined;
    this.platform = like?.platform ?? parsePlatform(platform ?? {}, 'the option platform');
    const { result_codes } = this.platform;
    this.resultCodes =
      like?.resultCodes ??
      (result_codes === null
        ? ownResultCodes
        : parseResultCodes(result_codes, 'the option platform'));
    this.#app = {
      tenantCode: options.tenantCode,
      channel: options.channel,
      appKey: options.appKey,
      signers:
        like === undefined ? (signing ?? compileRecipes(this.platform.signing)) : like.#app.signers,
    };
    this.#random = options.random ?? randomString;
    this.now = options.now ?? Date.now;
    this.hooks = hooksOf(options);
    this.connections = shared?.connections ?? openConnections(this.baseUrl, options);
    this.#ownsConnections = shared === undefined;
    this.host = nameHost(host, this.connections.proxy);
    const source = {
      limitMs: options.timeoutMs ?? clientDefaults.timeoutMs,
      warn: (message: string) => this.hooks.warn('UserInfoSecretWarning', message),
      freshMs,
      lifetimeMs: Number.POSITIVE_INFINITY,
    };
    const given = typeof appSecret === 'function' ? { fetch: appSecret } : appSecret;
    this.#secret = new RenewedValue(
      typeof given === 'object' && 'fetch' in given
        ? {
            ...source,
            ...lifeOf(given),
            what: secretFunction,
            fetch: this.#secretFetch(given.fetch),
          }
        : { fixed: toSecret(given) },
    );
    const headers = headerSource(this.platform.headers, options.headers ?? {});
    this.#headers = new RenewedValue(
      typeof headers === 'function'
        ? { ...source, what: 'the function of a header', fetch: headers }
        : { fixed: headers },
    );
  }

  #secretFetch(fetch: SecretProvider) {
    const parse = (given: unknown) => {
      const fault = isSecret(given);
      if (fault !== null) {
        const hint = 'Try again when it returns the secret.';
        throw notProvided(secretFunction, `returned no secret: it ${fault}`, hint);
      }
      const secret = toSecret(given as string | Secret);
      refuseSecretIn(this.#headers.known?.given, secret);
      return secret;
    };
    return (isRefused: boolean) => callProvider(secretFunction, () => fetch(isRefused), parse);
  }

  /**
   * The headers of the next request, with those of its call or run, which take precedence.
   *
   * @throws InvalidInputError for one that would send the secret: either may have come from a
   * function meanwhile
   */
  headersWith(more: ReadonlyMap<string, string> | undefined): RequestHeaders {
    const own = this.#headers.current;
    const isOwn = more === undefined || more.size === 0;
    const headers = isOwn ? own : new RequestHeaders(new Map([...own.given, ...more]));
    refuseSecretIn(headers.given, this.#secret.known);
    return headers;
  }

  /** The function that the next request waits for. */
  get awaited(): string {
    return this.#secret.known === null ? secretFunction : 'the function of a header';
  }

  /**
   * Fetches the app secret and the values of headers, if functions return them and they are old.
   * Returns a promise if the next request has to wait for them.
   *
   * @throws NoAnswerError with the reason `secret` if a function fails, returns no value, or takes
   * too long
   */
  prepare(): Promise<unknown> | undefined {
    const [secret, headers] = [this.#secret.prepare(), this.#headers.prepare()];
    return secret === undefined || headers === undefined
      ? (secret ?? headers)
      : Promise.all([secret, headers]);
  }

  /**
   * Whether a request that was sent at `sentAt` is to be sent again with another secret, or other
   * values of headers.
   */
  isOutdated(outcome: AttemptOutcome, sentAt: number): boolean {
    const isAnswer = isSuccess(outcome) || outcome instanceof RejectedError;
    return (
      this.#secret.isOutdated(refusesSignature(outcome), isAnswer, sentAt) ||
      this.#headers.isOutdated(refusesCaller(outcome), isAnswer, sentAt)
    );
  }

  /**
   * Signs a request for one attempt, with a new `random` and `timestamp` (§5.4); a promise if a
   * signer returns one.
   *
   * @throws InvalidInputError for a request that breaks a rule of §4 or §8
   * @throws NoAnswerError as `prepare` does, if no secret was fetched before
   */
  signAttempt(request: PlainRequest): SignedRequest | PromiseLike<SignedRequest> {
    const random: unknown = this.#random();
    if (typeof random !== 'string')
      throw new InvalidInputError('what the option random returns is not text');
    const moment = { random, timestamp: Math.floor(this.now() / 1000) };
    return signRequest(request, this.baseUrl, this.#app, this.#secret.current, moment);
  }

  /** Closes its own connections, with the requests on them. */
  async drop(): Promise<void> {
    if (this.#ownsConnections) await this.connections.drop();
  }
}

const secretFunction = 'the function appSecret';

function lifeOf({ lifetimeMs }: Partial<VaultSecret>) {
  return lifetimeMs === undefined ? {} : { freshMs: renewalPart * lifetimeMs, lifetimeMs };
}

/**
 * §5.2: the secret is never sent.
 *
 * @throws InvalidInputError for a header that holds it
 */
function refuseSecretIn(
  headers: ReadonlyMap<string, string> | undefined,
  secret: Secret | null,
): void {
  if (secret === null || headers === undefined) return;
  const [name] = [...headers].find(([, value]) => value.includes(secret.reveal())) ?? [];
  if (name !== undefined)
    throw new InvalidInputError(`the header ${name} would send the app secret`);
}

function toSecret(given: string | Secret): Secret {
  return given instanceof Secret ? given : new Secret(given);
}
