import { parameterText } from '../../protocol/parameters.js';
import { maskText } from '../../protocol/personal-data.js';
import { forAppSign, forSign, type SignaturePair, type Signers } from '../../signing/app-signatures.js';
import type { SignableRequest } from '../../signing/request.js';
import type { App } from '../store/apps.js';
import type { SignatureRejectedEvent } from './log.js';
import { cutStage, maskReceived, maskRequest, type RejectedRequest } from './mask-request.js';

/** A signature that was found wrong, and all that it was judged by. */
export interface RejectedSignature {
  readonly signature: 'app_sign' | 'sign';
  readonly request: RejectedRequest;
  readonly app: App;
  readonly signers: Signers;
  readonly expected: SignaturePair;
}

/**
 * How the service computes a signature that was found wrong, for the operator's log. The stages are those of a
 * masked copy of the request; the expected digest is the real one's, its middle hidden.
 */
export function explainRejection(rejected: RejectedSignature): SignatureRejectedEvent {
  const { signature, request, app, signers, expected } = rejected;
  const masked = asSeenBy(signature, maskRequest(request, app));
  const { params, message } = signers[signature].explain(masked, app.app_secret);
  return {
    event: 'signature_rejected',
    signature,
    app_key: app.app_key,
    params: cutStage(params),
    message: cutStage(message),
    expected: maskText(expected[signature].digest),
    received: maskReceived(parameterText(request.parameters, signature), app),
  };
}

/** The request as the recipe of that signature sees it. */
export function asSeenBy(signature: 'app_sign' | 'sign', request: SignableRequest): SignableRequest {
  return signature === 'app_sign' ? forAppSign(request) : forSign(request);
}
