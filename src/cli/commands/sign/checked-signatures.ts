import { paramOf, type Sample } from '../../../signing/request.js';
import { type RequestSignature, type SigningChoice, signaturesOf } from '../../../signing/signing-choice.js';

/** A signature of a request, and what was received for it. */
export interface CheckedSignature extends RequestSignature {
  /** `null` where the request does not carry it. */
  readonly received: string | null;
}

/** The one signature that a recipe makes, or `app_sign` and `sign`. */
export function checkedSignatures(signing: SigningChoice, sample: Sample): CheckedSignature[] {
  return signaturesOf(signing, sample, sample.signParam).map((signature) => ({
    ...signature,
    received:
      signature.name === sample.signParam ? sample.signature : (paramOf(sample, signature.name) ?? null),
  }));
}
