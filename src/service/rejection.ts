import type { Endpoint } from '../protocol/endpoints.js';
import { maskName, maskParameter, maskText } from '../protocol/masking.js';
import { type Parameters, parameterText } from '../protocol/parameters.js';
import { encodePairs } from '../protocol/percent-encoding.js';
import { forAppSign, forSign, type SignaturePair, type Signers } from '../signing/app-signatures.js';
import type { Param, SignableRequest } from '../signing/request.js';
import type { SignatureRejectedEvent } from './log.js';
import type { App } from './store/apps.js';

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

/** A stage is shown up to here, in characters; a value that is longer than this by itself is not shown at all. */
const maxShown = 4000;

/** What is explained: a request of an endpoint, and its form apart. */
interface RejectedRequest {
  readonly endpoint: Endpoint;
  readonly parameters: Parameters;
  readonly signable: SignableRequest;
  readonly form: readonly Param[];
}

/** A stage of a signature as it is shown: not longer than an operator would read. */
export function cutStage(text: string): string {
  return text.length > maxShown ? `${text.slice(0, maxShown)}…` : text;
}

/** A signature that was received: told apart by its ends, so that who reads it cannot sign with it. */
function maskReceived(received: string, app: App): string {
  return isSecret(received, app) ? `${app.app_secret}` : maskText(received);
}

/** Sent in the place of a signature, or of anything else, by mistake. */
function isSecret(value: string, { app_secret }: App): boolean {
  return value.includes(app_secret.reveal());
}

/** The same request, as far as an operator may see it. */
export function maskRequest({ signable, form }: RejectedRequest, app: App): SignableRequest {
  const mask = ([name, value]: Param): Param => {
    if (isSecret(value, app)) return [name, `${app.app_secret}`];
    return [name, value.length > maxShown ? '****' : maskValue(name, value)];
  };
  return {
    ...signable,
    params: signable.params.map(mask),
    body: signable.body === null ? null : encodePairs(form.map(mask)),
  };
}

function maskValue(name: string, value: string): string {
  switch (name) {
    case 'union_id':
    // Where `sign` alone is wrong, it is a signature that the service would take.
    case 'app_sign':
      return maskText(value);
    case 'random':
      // So many digits in a row may be a phone number that went astray.
      return /\d{11}/.test(value) ? maskText(value) : value;
    case 'primary_key':
      return maskName(value);
    case 'info_name':
      return value.split(',').map(maskName).join(',');
    default:
      return maskParameter(name, value);
  }
}
