import type { SignableRequest } from './request.js';
import type { Secret } from './secret.js';

/** A request that was signed, or is to be: what `sign explain`, `verify` and `solve` take in. */
export interface Sample extends SignableRequest {
  /** The parameter that carries the signature; it is not among `params`. */
  readonly signParam: string;
  /** The signature; null where there is none, which only explaining can do without. */
  readonly signature: string | null;
  /** The secret that the sample itself holds; null where it comes from elsewhere. */
  readonly secret: Secret | null;
}
