import { forAppSign, forSign, type SignatureName } from '../core/signing/app-signatures.js';
import { paramOf, type SignableRequest } from '../core/signing/request.js';
import type { Secret } from '../core/signing/secret.js';
import type { Sample } from './samples/captured-request.js';

/** A captured request with the secret that it was signed with. */
export type SecretSample = Sample & { readonly secret: Secret };

/** One signature of a request. */
export interface SignedSample {
  /** As the signer sees it: without the signature, and for `app_sign` without `sign`. */
  readonly request: SignableRequest;
  readonly signature: string;
  readonly secret: Secret;
}

/** A captured request as the signer of this signature sees it. */
export function signedSample(signature: SignatureName, sample: SecretSample): SignedSample {
  const { secret } = sample;
  if (signature === 'sign')
    return { request: forSign(sample), signature: sample.signature ?? '', secret };
  return { request: forAppSign(sample), signature: paramOf(sample, 'app_sign') ?? '', secret };
}
