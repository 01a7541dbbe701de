import type { SignableRequest } from '../core/signing/request.js';
import type { Secret } from '../core/signing/secret.js';

/** A signed request. */
export interface SignedSample {
  /** As the signer sees it: without the signature, and for `app_sign` without `sign`. */
  readonly request: SignableRequest;
  readonly signature: string;
  readonly secret: Secret;
}
