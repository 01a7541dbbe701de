import { randomUUID } from 'node:crypto';
import { type Platform, parsePlatform } from '../platform/platform.js';
import { parseBaseUrl, refuseApiPath, refusePlainHttp } from '../protocol/base-url.js';
import { InvalidInputError } from '../protocol/errors.js';
import { isObject } from '../protocol/fields.js';
import { randomLength } from '../protocol/limits.js';
import { checkMembers } from '../protocol/members.js';
import { parseResultCodes } from '../protocol/result-code-table.js';
import { ownResultCodes, type ResultCodeTable } from '../protocol/result-codes.js';
import { compileRecipes } from '../signing/app-signatures.js';
import { Secret } from '../signing/secret.js';
import { type Connections, openConnections } from './connections.js';
import { NoAnswerError } from './errors.js';
import { HeaderValues } from './header-values.js';
import { Hooks } from './hooks.js';
import { clientMembers, isSecret, type SecretProvider, type UserInfoClientOptions } from './options.js';
import { nameHost } from './proxy.js';
import {
  type PlainRequest,
  type RequestHeaders,
  type SignedRequest,
  type SigningApp,
  signRequest,
} from './request.js';

/** `random` (§5.4): the maximum length of §8, hexadecimal, 74 bits of it from a cryptographic source. */
const randomString = () => randomUUID().replaceAll('-', '').slice(0, randomLength.max);

/** Signs the requests of one app to one deployment, and has the connections to it; an `Attempt` sends each of them. */
export class Sender {
  readonly baseUrl: string;
  /** The two parts of the base URL. */
  readonly origin: string;
  readonly pathPrefix: string;
  /** Host and port of the base URL, for messages, with the proxy on the way to it. */
  readonly host: string;
  readonly connections: Connections;
  readonly hooks: Hooks;
  /** What the spec leaves open, as the service does it. */
  readonly platform: Platform;
  readonly headerValues: HeaderValues;
  /** The result codes of the service. */
  readonly resultCodes: ResultCodeTable;
  readonly #app: SigningApp;
  readonly #provideSecret: SecretProvider | null;
  /** The last result of the function; it is used until the function returns another. */
  #secret: Secret | null;
  /** Number of calls of the function. */
  #secretsAsked = 0;
  /** Which of them returned the secret in use. */
  #secretOrder = 0;
  readonly #ownsConnections: boolean;
  readonly #random: () => string;
  /** Returns milliseconds since 1970. */
  readonly now: () => number;

  /**
   * `connections` are those of another sender to the same base URL, which closes them. Default: its own.
   *
   * @throws InvalidInputError that names the invalid option, or for plain http to another machine without
   * `allowHttp`
   * @throws RecipeError for an invalid recipe
   */
  constructor(options: UserInfoClientOptions, connections?: Connections) {
    checkMembers(clientMembers, options);
    this.baseUrl = parseBaseUrl(String(options.baseUrl), 'the option baseUrl');
    refuseApiPath(this.baseUrl, 'the option baseUrl');
    refusePlainHttp(this.baseUrl, options.allowHttp === true, 'allowHttp', 'the option baseUrl');
    this.platform = parsePlatform(options.platform ?? {}, 'the option platform');
    const { host, origin } = new URL(this.baseUrl);
    this.origin = origin;
    this.pathPrefix = this.baseUrl.slice(origin.length);
    this.#app = {
      tenantCode: options.tenantCode,
      channel: options.channel,
      appKey: options.appKey,
      signers: options.signing ?? compileRecipes(this.platform.signing),
    };
    const { appSecret } = options;
    this.#provideSecret = typeof appSecret === 'function' ? appSecret : null;
    this.#secret = typeof appSecret === 'function' ? null : toSecret(appSecret);
    this.hooks = new Hooks(options);
    this.headerValues = new HeaderValues(
      this.platform.headers,
      options.headers ?? {},
      (headers) => refuseSecretIn(headers, this.#secret),
      (message) => this.hooks.warn('UserInfoSecretWarning', message),
    );
    const { result_codes } = this.platform;
    this.resultCodes =
      result_codes === null ? ownResultCodes : parseResultCodes(result_codes, 'the option platform');
    this.#random = options.random ?? randomString;
    this.now = options.now ?? Date.now;
    this.connections = connections ?? openConnections(this.baseUrl, options);
    this.#ownsConnections = connections === undefined;
    this.host = nameHost(host, this.connections.proxy);
  }

  /** The headers of the next request, besides those of HTTP. */
  get headers(): RequestHeaders {
    return this.headerValues.current;
  }

  /** Whether a request can be signed: a function that returns the app secret has done so. */
  get hasSecret(): boolean {
    return this.#secret !== null;
  }

  /**
   * Fetches the app secret if a function returns it; `undefined` if none does. A secret that comes late is used unless
   * a later call has returned another.
   *
   * @throws NoAnswerError with the reason `secret` if the function fails, returns no secret, or takes longer than
   * `limitMs`
   */
  prepare(limitMs = Number.POSITIVE_INFINITY): Promise<void> | undefined {
    const provide = this.#provideSecret;
    if (provide === null) return undefined;
    this.#secretsAsked += 1;
    const order = this.#secretsAsked;
    const fetched = (async () => provide())()
      .catch(refuseFailure)
      .then((given) => {
        const secret = provided(given);
        refuseSecretIn(this.headerValues.known, secret);
        if (order < this.#secretOrder) return;
        this.#secretOrder = order;
        this.#secret = secret;
      });
    return limitMs === Number.POSITIVE_INFINITY ? fetched : within(fetched, limitMs);
  }

  /**
   * Signs a request for one attempt, with a new `random` and `timestamp` (§5.4).
   *
   * @throws InvalidInputError for a request that breaks a rule of §4 or §8
   * @throws NoAnswerError as `prepare` does, if no secret was fetched before
   */
  sign(request: PlainRequest): SignedRequest {
    const random: unknown = this.#random();
    if (typeof random !== 'string') throw new InvalidInputError('what the option random returns is not text');
    const moment = { random, timestamp: Math.floor(this.now() / 1000) };
    const secret = this.#secret ?? secretAtOnce(this.#provideSecret);
    return signRequest(request, this.baseUrl, this.#app, secret, moment);
  }

  /** Closes its own connections, with the requests on them. */
  async drop(): Promise<void> {
    if (this.#ownsConnections) await this.connections.drop();
  }
}

/**
 * §5.2: the secret is never sent.
 *
 * @throws InvalidInputError for a header that holds it
 */
function refuseSecretIn(headers: RequestHeaders | null, secret: Secret | null): void {
  if (secret === null || headers === null) return;
  const [name] = [...headers.given].find(([, value]) => value.includes(secret.reveal())) ?? [];
  if (name !== undefined) throw new InvalidInputError(`the header ${name} would send the app secret`);
}

/**
 * The secret of a request that is signed before any call was made.
 *
 * @throws NoAnswerError if the function fails, or returns no secret
 * @throws InvalidInputError if it returns a promise
 */
function secretAtOnce(provide: SecretProvider | null): Secret {
  let given: unknown;
  try {
    given = provide?.();
  } catch (error) {
    refuseFailure(error);
  }
  if (!isObject(given) || !('then' in given)) return provided(given);
  Promise.resolve(given).catch(() => {});
  throw new InvalidInputError(
    'the function appSecret returns a promise: a request is not signed by it alone',
    { hint: 'Make a call first, or use a function that returns the secret itself.' },
  );
}

function refuseFailure(cause: unknown): never {
  throw secretFault('failed', 'Its error is the cause; try again when it returns the secret.', cause);
}

/** The error of a function `appSecret`, or of one of a header, that took too long. */
export function secretTimedOut(limitMs: number, ofHeader = false): NoAnswerError {
  return secretFault(
    `did not return within ${Math.ceil(limitMs)} ms`,
    'Try again; give the function a shorter time-out of its own, which says what it waits for.',
    undefined,
    ofHeader ? 'of a header' : 'appSecret',
  );
}

/** No request can be signed. Nothing was sent, unless by earlier attempts of the call. */
function secretFault(did: string, hint: string, cause?: unknown, what = 'appSecret'): NoAnswerError {
  const details = { reason: 'secret', received: false, attempts: 0, hint, cause } as const;
  return new NoAnswerError(`the function ${what} ${did}`, details);
}

async function within(fetched: Promise<void>, limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(secretTimedOut(limitMs)), limitMs);
  });
  try {
    await Promise.race([fetched, late]);
  } finally {
    clearTimeout(timer);
    fetched.catch(() => {});
  }
}

function provided(given: unknown): Secret {
  const fault = isSecret(given);
  if (fault === null && typeof given !== 'function') return toSecret(given as string | Secret);
  throw secretFault(
    `returned no secret: it ${fault ?? 'is a function'}`,
    'Try again when it returns the secret.',
  );
}

function toSecret(given: string | Secret): Secret {
  return given instanceof Secret ? given : new Secret(given);
}
