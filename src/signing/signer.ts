import type { SignableRequest } from './request.js';
import type { Secret } from './secret.js';

/** What signing a request gives, stage by stage. */
export interface Signature {
  /** The parameter block; empty where none is signed. */
  readonly params: string;
  /** The text that is digested. */
  readonly message: string;
  /** What is sent. */
  readonly digest: string;
}

/** A signature as it may be shown: params and message with labels where the secret takes part. */
export interface Explanation extends Signature {
  /** The tokens, such as `$param:code`, that the request has nothing for. They stand for an empty text. */
  readonly missing: readonly string[];
}

/** What turns a request into a signature: a compiled recipe, or a module of the user's. */
export interface Signer {
  /** How many characters the digest has; null where that depends on the request. */
  readonly digestLength: number | null;
  sign(request: SignableRequest, secret: Secret): Signature;
  explain(request: SignableRequest, secret: Secret): Explanation;
}
