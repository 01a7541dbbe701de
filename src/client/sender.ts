import { randomUUID } from 'node:crypto';
import { parseBaseUrl, refusePlainHttp } from '../protocol/base-url.js';
import { InvalidInputError } from '../protocol/errors.js';
import { isObject } from '../protocol/fields.js';
import { randomLength } from '../protocol/limits.js';
import { parseResultCodes } from '../protocol/result-code-table.js';
import { ownResultCodes, type ResultCodeTable } from '../protocol/result-codes.js';
import { compileRecipes, type Signers } from '../signing/app-signatures.js';
import { defaultRecipes } from '../signing/presets.js';
import { parseSigningRecipes } from '../signing/recipe-json.js';
import { Secret } from '../signing/secret.js';
import { type Connections, openConnections } from './connections.js';
import { Hooks } from './hooks.js';
import { checkMembers, isSecret } from './members.js';
import { clientMembers, type SecretProvider, type UserInfoClientOptions } from './options.js';
import { nameHost } from './proxy.js';
import { type PlainRequest, type SignedRequest, type SigningApp, signRequest } from './request.js';

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
  /** The result codes of the service. */
  readonly resultCodes: ResultCodeTable;
  readonly #app: SigningApp;
  readonly #provideSecret: SecretProvider | null;
  /** The last result of the function; it is used until the function returns another. */
  #secret: Secret | null;
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
    refusePlainHttp(this.baseUrl, options.allowHttp === true, 'allowHttp', 'the option baseUrl');
    const { host, origin } = new URL(this.baseUrl);
    this.origin = origin;
    this.pathPrefix = this.baseUrl.slice(origin.length);
    this.#app = {
      tenantCode: options.tenantCode,
      channel: options.channel,
      appKey: options.appKey,
      signers: toSigners(options.signing),
    };
    const { appSecret } = options;
    this.#provideSecret = typeof appSecret === 'function' ? appSecret : null;
    this.#secret = typeof appSecret === 'function' ? null : toSecret(appSecret);
    this.resultCodes =
      options.resultCodes === undefined
        ? ownResultCodes
        : parseResultCodes(options.resultCodes, 'the option resultCodes');
    this.#random = options.random ?? randomString;
    this.hooks = new Hooks(options);
    this.now = options.now ?? Date.now;
    this.connections = connections ?? openConnections(this.baseUrl, options);
    this.#ownsConnections = connections === undefined;
    this.host = nameHost(host, this.connections.proxy);
  }

  /**
   * Fetches the app secret if a function returns it.
   *
   * @throws InvalidInputError if the function fails, or returns no secret
   */
  prepare(): Promise<void> | undefined {
    const provide = this.#provideSecret;
    if (provide === null) return undefined;
    return (async () => provide())()
      .catch(refuseFailure)
      .then((given) => {
        this.#secret = provided(given);
      });
  }

  /**
   * Signs a request for one attempt, with a new `random` and `timestamp` (§5.4).
   *
   * @throws InvalidInputError for a request that breaks a rule of §4 or §8
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
 * The secret of a request that is signed before any call was made.
 *
 * @throws InvalidInputError if the function fails, or returns a promise
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
  throw new InvalidInputError('the function appSecret failed: nothing was sent', {
    hint: 'The cause says why.',
    cause,
  });
}

function provided(given: unknown): Secret {
  const fault = isSecret(given);
  if (fault === null && typeof given !== 'function') return toSecret(given as string | Secret);
  throw new InvalidInputError(`what the function appSecret returns ${fault ?? 'is a function'}`);
}

function toSecret(given: string | Secret): Secret {
  return given instanceof Secret ? given : new Secret(given);
}

/** Recipes may be in the short form of a file: missing parts have their defaults. */
function toSigners(signing: UserInfoClientOptions['signing']): Signers {
  if (signing === undefined) return compileRecipes(defaultRecipes);
  return 'digestLength' in signing.sign ? (signing as Signers) : compileRecipes(parseSigningRecipes(signing));
}
