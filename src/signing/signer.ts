import type { SignableRequest } from './request.js';
import type { Secret } from './secret.js';

/**
 * A signature with its stages.
 *
 * @example
 * const { params, message, digest }: Signature = signer.sign(request, new Secret('s'));
 */
export interface Signature {
  /** The parameter block; empty where the recipe has none. */
  readonly params: string;
  /** The text to digest. */
  readonly message: string;
  /** The signature as sent. */
  readonly digest: string;
}

/**
 * A signature that may be shown: params and message have labels in place of the secret.
 *
 * @example
 * const { message, missing }: Explanation = signer.explain(request, new Secret('s'));
 */
export interface Explanation extends Signature {
  /** Tokens without a value in the request, such as `$param:code`. Their text is empty. */
  readonly missing: readonly string[];
}

/**
 * Signs requests: a compiled recipe, or a signing module.
 *
 * @example
 * const signer: Signer = compileRecipe(defaultRecipes.sign);
 */
export interface Signer {
  /** Whether it needs the `query` of a request. Default: no. */
  readonly usesQuery?: boolean;
  /** The length of the digest in characters; null where it depends on the request. */
  readonly digestLength: number | null;
  sign(request: SignableRequest, secret: Secret): Signature;
  explain(request: SignableRequest, secret: Secret): Explanation;
}
