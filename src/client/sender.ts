import { randomUUID } from 'node:crypto';
import type { Dispatcher } from 'undici';
import { parseBaseUrl, refusePlainHttp } from '../protocol/base-url.js';
import { InvalidInputError } from '../protocol/errors.js';
import { randomLength } from '../protocol/limits.js';
import { compileRecipes, type Signers } from '../signing/app-signatures.js';
import { defaultRecipes } from '../signing/presets.js';
import { parseSigningRecipes } from '../signing/recipe-json.js';
import { Secret } from '../signing/secret.js';
import { Attempt, type AttemptResult } from './attempt.js';
import { type Connections, openConnections } from './connections.js';
import { Hooks } from './hooks.js';
import { checkMembers, clientOptions, type UserInfoClientOptions } from './options.js';
import type { HttpProxy } from './proxy.js';
import {
  type Credentials,
  type PlainRequest,
  type SignedRequest,
  signRequest,
  toWireRequest,
  type WireRequest,
} from './request.js';

/** `random` (§5.4): the maximum length of §8, hexadecimal, 74 bits of it from a cryptographic source. */
const randomString = () => randomUUID().replaceAll('-', '').slice(0, randomLength.max);

/** Signs and sends the requests of one app to one deployment: single attempts, many at a time. */
export class Sender {
  readonly baseUrl: string;
  /** The two parts of the base URL. */
  readonly origin: string;
  readonly pathPrefix: string;
  /** Host and port of the base URL, for messages. */
  readonly host: string;
  readonly proxy: HttpProxy | null;
  readonly dispatcher: Pick<Dispatcher, 'dispatch'>;
  readonly hooks: Hooks;
  readonly #credentials: Credentials;
  readonly #random: () => string;
  readonly #now: () => number;
  readonly #connections: Connections;

  /**
   * @throws InvalidInputError that names the invalid option, or for plain http to another machine without
   * `allowHttp`
   * @throws RecipeError for an invalid recipe
   */
  constructor(options: UserInfoClientOptions) {
    checkMembers(clientOptions, options);
    this.baseUrl = parseBaseUrl(String(options.baseUrl), 'the option baseUrl');
    refusePlainHttp(this.baseUrl, options.allowHttp === true, 'allowHttp', 'the option baseUrl');
    const { host, origin } = new URL(this.baseUrl);
    this.host = host;
    this.origin = origin;
    this.pathPrefix = this.baseUrl.slice(origin.length);
    this.#credentials = {
      tenantCode: options.tenantCode,
      channel: options.channel,
      appKey: options.appKey,
      secret: options.appSecret instanceof Secret ? options.appSecret : new Secret(options.appSecret),
      signers: toSigners(options.signing),
    };
    this.#random = options.random ?? randomString;
    this.hooks = new Hooks(options);
    this.#now = options.now ?? Date.now;
    this.#connections = openConnections(this.baseUrl, options);
    this.proxy = this.#connections.proxy;
    this.dispatcher = this.#connections.dispatcher;
  }

  /** Milliseconds since 1970. */
  now(): number {
    return this.#now();
  }

  /**
   * Signs a request for one attempt, with a new `random` and `timestamp` (§5.4).
   *
   * @throws InvalidInputError for a request that breaks a rule of §4 or §8
   */
  sign(request: PlainRequest): SignedRequest {
    const random: unknown = this.#random();
    if (typeof random !== 'string') throw new InvalidInputError('what the option random returns is not text');
    const moment = { random, timestamp: Math.floor(this.#now() / 1000) };
    return signRequest(request, this.baseUrl, this.#credentials, moment);
  }

  /**
   * Signs a request, to be sent by other means.
   *
   * @throws InvalidInputError as `sign` does
   */
  toWire(request: PlainRequest): WireRequest {
    return toWireRequest(this.sign(request), this.baseUrl);
  }

  /** Sends a signed request, once; `attempt` counts from 1. `done` is called once, at the end. */
  send(request: SignedRequest, attempt: number, done: (result: AttemptResult) => void): Attempt {
    return new Attempt(this, request, attempt, done);
  }

  /** Closes its own connections, with the requests on them. */
  drop(): Promise<void> {
    return this.#connections.drop();
  }
}

/** Recipes may be in the short form of a file: missing parts have their defaults. */
function toSigners(signing: UserInfoClientOptions['signing']): Signers {
  if (signing === undefined) return compileRecipes(defaultRecipes);
  return 'digestLength' in signing.sign ? (signing as Signers) : compileRecipes(parseSigningRecipes(signing));
}
