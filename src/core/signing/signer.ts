import type { SignableRequest } from './request.js';
import type { Secret } from './secret.js';

/** A signature with its stages. */
export interface Signature {
  /** The parameter block; empty where the recipe has none. */
  readonly params: string;
  /** The text to digest. */
  readonly message: string;
  /** The signature as sent. */
  readonly digest: string;
}

/** A signature that may be shown: params and message have labels in place of the secret. */
export interface Explanation extends Signature {
  /** Tokens without a value in the request, such as `$param:code`. Their text is empty. */
  readonly missing: readonly string[];
}

/**
 * Signs the requests of a client: at once, or by a promise, as a key service does. `secret` is the
 * app secret of the client.
 *
 * @example
 * const sign: RequestSigner = { digestLength: 64, sign: async ({ params }) => ({ digest: await kms.mac(params) }) };
 */
export interface RequestSigner {
  /**
   * Whether it needs the `query` of a request.
   *
   * @default false
   */
  readonly usesQuery?: boolean;
  /** The length of the digest, in characters; null where it depends on the request. */
  readonly digestLength: number | null;
  /**
   * Signs a request; may return a promise.
   *
   * @throws RecipeError for a request without what the recipe signs, or a secret that is not the key
   * that the recipe says
   */
  sign(
    request: SignableRequest,
    secret: Secret,
  ): Pick<Signature, 'digest'> | PromiseLike<Pick<Signature, 'digest'>>;
}

/** Signs requests: a compiled recipe, or a signing module. */
export interface Signer extends RequestSigner {
  /** Signs a request at once. */
  sign(request: SignableRequest, secret: Secret): Signature;
  /** Signs a request, and shows how, with the secret masked. */
  explain(request: SignableRequest, secret: Secret): Explanation;
}

/** Whether a value has to be awaited; it may be a promise of another library. */
export function isPromise<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && 'then' in value;
}
