import { randomUUID } from 'node:crypto';
import { randomLength } from '../protocol/limits.js';
import { compileRecipes, type Signers } from '../signing/app-signatures.js';
import { defaultRecipes } from '../signing/presets.js';
import { parseSigningRecipes } from '../signing/recipe-json.js';
import { Secret } from '../signing/secret.js';
import type { UserInfoClientOptions } from './options.js';
import { type Credentials, type PlainRequest, signRequest } from './request.js';
import type { SignedRequest } from './transport.js';

/** `random` of §5.4: the longest that §8 allows, hexadecimal, 74 bits of it from a cryptographic source. */
const randomString = () => randomUUID().replaceAll('-', '').slice(0, randomLength.max);

/** Signs the requests of one app to one deployment, each with a `random` and a `timestamp` of its own (§5.4). */
export class RequestSigner {
  readonly #baseUrl: string;
  readonly #credentials: Credentials;
  readonly #random: () => string;
  readonly #now: () => number;

  /** `baseUrl` as `parseBaseUrl` gives it. Throws a RecipeError for a recipe that says nothing sensible. */
  constructor(baseUrl: string, { appSecret, ...options }: UserInfoClientOptions) {
    this.#baseUrl = baseUrl;
    this.#credentials = {
      tenantCode: options.tenantCode,
      channel: options.channel,
      appKey: options.appKey,
      secret: appSecret instanceof Secret ? appSecret : new Secret(appSecret),
      signers: toSigners(options.signing),
    };
    this.#random = options.random ?? randomString;
    this.#now = options.now ?? Date.now;
  }

  /** Signs a request for one attempt. Throws an InvalidInputError for one that breaks a rule of §4 or §8. */
  sign(request: PlainRequest): SignedRequest {
    const moment = { random: this.#random(), timestamp: Math.floor(this.#now() / 1000) };
    return signRequest(request, this.#baseUrl, this.#credentials, moment);
  }
}

/** Recipes may be as a file holds them: what they leave out has its default. */
function toSigners(signing: UserInfoClientOptions['signing']): Signers {
  if (signing === undefined) return compileRecipes(defaultRecipes);
  return 'digestLength' in signing.sign ? (signing as Signers) : compileRecipes(parseSigningRecipes(signing));
}
