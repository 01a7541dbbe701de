import { signBoth } from '../pair.js';
import type { SignableRequest } from '../request.js';
import { Secret } from '../secret.js';
import { type SigningChoice, signaturesOf } from '../signing-choice.js';
import type { MadeVector } from './vector-file.js';
import { vectorRequests } from './vector-requests.js';

/** The secret of the vectors: it opens nothing. */
export const vectorSecret = 'throw-away-secret-0123456789';

/** Test vectors for a team that signs in another language: requests that tell implementations apart, each stage. */
export function makeVectors(signing: SigningChoice): MadeVector[] {
  const secret = new Secret(vectorSecret);
  return vectorRequests.map(({ name, why, request }) => {
    const filled = fillAppSign(signing, request, secret);
    const signatures = signaturesOf(signing, filled).map((signature) => {
      const { params, message, digest } = signature.signer.sign(signature.request, secret);
      return [signature.name, { params, message, digest }];
    });
    return { name, why, request: filled, signatures: Object.fromEntries(signatures) };
  });
}

/** The request with its `app_sign`; without one where a single recipe signs. */
export function fillAppSign(
  signing: SigningChoice,
  request: SignableRequest,
  secret: Secret,
): SignableRequest {
  if (signing.kind === 'one') {
    return { ...request, params: request.params.filter(([name]) => name !== 'app_sign') };
  }
  const { digest } = signBoth(signing.signers, request, secret).app_sign;
  return {
    ...request,
    params: request.params.map(([name, value]) => [name, name === 'app_sign' ? digest : value]),
  };
}
