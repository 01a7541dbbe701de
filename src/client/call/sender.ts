import { randomUUID } from 'node:crypto';
import { parseBaseUrl, ServiceAddress } from '../../core/contract/base-url.js';
import { InvalidInputError } from '../../core/contract/errors.js';
import { randomLength } from '../../core/contract/limits.js';
import { checkMembers } from '../../core/contract/members.js';
import { parseResultCodes } from '../../core/contract/result-code-table.js';
import { ownResultCodes, type ResultCodeTable } from '../../core/contract/result-codes.js';
import { type Platform, parsePlatform } from '../../core/platform/platform.js';
import { compileRecipes, type RequestSigners } from '../../core/signing/app-signatures.js';
import { Secret } from '../../core/signing/secret.js';
import { type Connections, openConnections } from './connections.js';
import { RejectedError } from './errors.js';
import { headerSource, type RequestHeaders } from './header-values.js';
import { Hooks } from './hooks.js';
import {
  clientDefaults,
  clientMembers,
  mustBeSecret,
  type SecretProvider,
  type SenderOptions,
} from './options.js';
import { nameHost } from './proxy.js';
import {
  type FixedValue,
  fetchFrom,
  notProvided,
  RenewedValue,
  type ValueSource,
  type ValueVerdict,
} from './renewed-value.js';
import type { PlainRequest } from './request.js';
import { type AttemptOutcome, isSuccess, refusesCaller, refusesSignature } from './retry.js';
import { type SignedRequest, type SigningApp, signRequest } from './sign-request.js';

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
  readonly options: SenderOptions;
  readonly address: ServiceAddress;
  /** Host and port of the service, for messages, with the proxy on the way to it. */
  readonly host: string;
  readonly connections: Connections;
  readonly hooks: Hooks;
  readonly #rules: PlatformRules;
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
  constructor(options: SenderOptions, shared?: Sender) {
    checkMembers(clientMembers, options);
    this.options = withHiddenSecret(options);
    this.address = shared?.address ?? addressOf(options);
    const hasSameRules =
      shared?.options.platform === options.platform && shared?.options.signing === options.signing;
    this.#rules = shared !== undefined && hasSameRules ? shared.#rules : rulesOf(options);
    this.#app = {
      tenantCode: options.tenantCode,
      channel: options.channel,
      appKey: options.appKey,
      signers: this.#rules.signers,
    };
    this.#random = options.random ?? randomString;
    this.now = options.now ?? Date.now;
    this.hooks = new Hooks(options);
    this.connections = shared?.connections ?? openConnections(this.address, options);
    this.#ownsConnections = shared === undefined;
    this.host = nameHost(this.address.url.host, this.connections.proxy);
    this.#secret = new RenewedValue(this.#secretSource());
    this.#headers = new RenewedValue(this.#headersSource());
  }

  /** The base URL, without a slash at the end. */
  get baseUrl(): string {
    return this.address.baseUrl;
  }

  /** What the spec leaves open, as the service does it. */
  get platform(): Platform {
    return this.#rules.platform;
  }

  /** The result codes of the service. */
  get resultCodes(): ResultCodeTable {
    return this.#rules.resultCodes;
  }

  /**
   * The headers of the next request, with those of its call or run, which take precedence.
   *
   * @throws InvalidInputError for one that would send the secret: either may have come from a
   * function meanwhile
   */
  headersWith(headersOfCall: ReadonlyMap<string, string> | undefined): RequestHeaders {
    const headers = this.#headers.current.with(headersOfCall);
    refuseSecretIn(headers.additional, this.#secret.inUse);
    return headers;
  }

  /** The name of the function that the next request waits for. */
  get awaitedFunction(): string {
    return this.#secret.inUse === null ? secretFunction : headerFunction;
  }

  /**
   * Fetches the app secret and the values of headers, if functions return them and they are old.
   * Returns a promise if the next request has to wait for them.
   *
   * @throws NoAnswerError with the reason `secret` if a function fails, returns no value, or takes
   * too long
   */
  prepare(): Promise<unknown> | undefined {
    const secret = this.#secret.prepare();
    const headers = this.#headers.prepare();
    if (secret === undefined) return headers;
    if (headers === undefined) return secret;
    return Promise.all([secret, headers]);
  }

  /**
   * Learns from the answer to a request that was sent at `sentAt`, of `performance.now()`, whether
   * the secret and the values of headers are good.
   *
   * @returns whether the request is to be sent again with another secret, or other values of headers
   */
  noteAnswer(outcome: AttemptOutcome, sentAt: number): 'send again' | 'settled' {
    const ofSecret = refusesSignature(outcome) ? 'refused' : verdictUnlessRefused(outcome);
    const ofHeaders = refusesCaller(outcome) ? 'refused' : verdictUnlessRefused(outcome);
    // A refused signature is a refused caller, too. One renewal for each answer: the secret's first.
    if (this.#secret.noteAnswer(ofSecret, sentAt) === 'send again') return 'send again';
    return this.#headers.noteAnswer(ofHeaders, sentAt);
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

  #secretSource(): ValueSource<Secret> | FixedValue<Secret> {
    const { appSecret } = this.options;
    if (typeof appSecret === 'string' || appSecret instanceof Secret)
      return { fixed: toSecret(appSecret) };
    if (typeof appSecret === 'function')
      return this.#functionSource(secretFunction, this.#secretFetch(appSecret));
    const { fetch, lifetimeMs } = appSecret;
    return {
      ...this.#functionSource(secretFunction, this.#secretFetch(fetch)),
      freshMs: renewalPart * lifetimeMs,
      lifetimeMs,
    };
  }

  #headersSource(): ValueSource<RequestHeaders> | FixedValue<RequestHeaders> {
    const headers = headerSource(this.platform.headers, this.options.headers ?? {});
    if (typeof headers === 'function') return this.#functionSource(headerFunction, headers);
    return { fixed: headers };
  }

  #functionSource<T>(functionName: string, fetch: ValueSource<T>['fetch']): ValueSource<T> {
    return {
      functionName,
      fetch,
      limitMs: this.options.timeoutMs ?? clientDefaults.timeoutMs,
      warn: (message) => this.hooks.warn('UserInfoSecretWarning', message),
      freshMs,
      lifetimeMs: Number.POSITIVE_INFINITY,
    };
  }

  #secretFetch(fetch: SecretProvider): ValueSource<Secret>['fetch'] {
    const parse = (value: unknown) => {
      const fault = mustBeSecret(value);
      if (fault !== null) {
        const hint = 'Try again when it returns the secret.';
        throw notProvided(secretFunction, `returned no secret: it ${fault}`, hint);
      }
      const secret = toSecret(value as string | Secret);
      refuseSecretIn(this.#headers.inUse?.additional, secret);
      return secret;
    };
    return (isRefused) => fetchFrom(secretFunction, () => fetch(isRefused), parse);
  }
}

/** How a service does what the spec leaves open. */
interface PlatformRules {
  readonly platform: Platform;
  readonly resultCodes: ResultCodeTable;
  readonly signers: RequestSigners;
}

/** @throws InvalidInputError, RecipeError for an invalid platform */
function rulesOf(options: SenderOptions): PlatformRules {
  const label = 'the option platform';
  const platform = parsePlatform(options.platform ?? {}, label);
  const { result_codes } = platform;
  return {
    platform,
    resultCodes: result_codes === null ? ownResultCodes : parseResultCodes(result_codes, label),
    signers: options.signing ?? compileRecipes(platform.signing),
  };
}

/** @throws InvalidInputError for a base URL to which nothing may be sent */
function addressOf({ baseUrl, allowHttp = false }: SenderOptions): ServiceAddress {
  if (baseUrl instanceof ServiceAddress) return baseUrl;
  const label = 'the option baseUrl';
  const permission = { allowHttp, option: 'allowHttp' };
  return new ServiceAddress(parseBaseUrl(String(baseUrl), label), permission, label);
}

/** Options are printed with a client. */
function withHiddenSecret(options: SenderOptions): SenderOptions {
  const { appSecret } = options;
  if (typeof appSecret !== 'string') return options;
  return { ...options, appSecret: new Secret(appSecret) };
}

/** What an answer shows of a value that it does not refuse: an envelope comes after the checks. */
function verdictUnlessRefused(outcome: AttemptOutcome): ValueVerdict {
  const isEnvelope = isSuccess(outcome) || outcome instanceof RejectedError;
  return isEnvelope ? 'accepted' : 'nothing';
}

const secretFunction = 'the function appSecret';
const headerFunction = 'the function of a header';

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
  for (const [name, value] of headers) {
    if (value.includes(secret.reveal()))
      throw new InvalidInputError(`the header ${name} would send the app secret`);
  }
}

function toSecret(secret: string | Secret): Secret {
  return secret instanceof Secret ? secret : new Secret(secret);
}
