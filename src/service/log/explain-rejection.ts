import type { Endpoint } from '../../protocol/endpoints.js';
import { maskName } from '../../protocol/mask-name.js';
import type { Parameters } from '../../protocol/parameters.js';
import { encodePairs } from '../../protocol/percent-encoding.js';
import { maskParameter, maskText } from '../../protocol/personal-data.js';
import { forAppSign, forSign, type SignaturePair, type Signers } from '../../signing/pair.js';
import type { Param, SignableRequest } from '../../signing/request.js';
import type { App } from '../store/apps.js';
import type { SignatureRejectedEvent } from './log.js';

/** A stage is shown up to here, in characters; a value that is longer than this by itself is not shown at all. */
const maxShown = 4000;

/** What is explained: a request of an endpoint, and its form apart. */
export interface RejectedRequest {
  readonly endpoint: Endpoint;
  readonly parameters: Parameters;
  readonly signable: SignableRequest;
  readonly form: readonly Param[];
}

/**
 * How the service computes a signature that was found wrong, for the operator's log. The stages are those of a
 * masked copy of the request; the expected digest is the real one's, its middle hidden.
 */
export function explainRejection(
  signature: 'app_sign' | 'sign',
  request: RejectedRequest,
  app: App,
  signers: Signers,
  expected: SignaturePair,
): SignatureRejectedEvent {
  const masked = maskRequest(request, app);
  const seen = signature === 'app_sign' ? forAppSign(masked) : forSign(masked);
  const { params, message } = signers[signature].explain(seen, app.app_secret);
  const received = request.parameters.get(signature) ?? '';
  return {
    event: 'signature_rejected',
    signature,
    app_key: app.app_key,
    params: cut(params),
    message: cut(message),
    // Told apart by their ends: who reads the log must not be able to sign with it.
    expected: maskText(expected[signature].digest),
    received: isSecret(received, app) ? `${app.app_secret}` : maskText(received),
  };
}

function cut(text: string): string {
  return text.length > maxShown ? `${text.slice(0, maxShown)}…` : text;
}

/** Sent in the place of a signature, or of anything else, by mistake. */
function isSecret(value: string, { app_secret }: App): boolean {
  return value.includes(app_secret.reveal());
}

function maskRequest({ endpoint, signable, form }: RejectedRequest, app: App): SignableRequest {
  const known = new Set(endpoint.parameters.map(({ name }) => name));
  const mask = ([name, value]: Param): Param => {
    if (isSecret(value, app)) return [maskName(name), `${app.app_secret}`];
    if (value.length > maxShown) return [maskName(name), '****'];
    // What the endpoint has no parameter for may be anything.
    return known.has(name) ? [name, maskKnown(name, value)] : [maskName(name), maskText(value)];
  };
  return {
    ...signable,
    params: signable.params.map(mask),
    body: signable.body === null ? null : encodePairs(form.map(mask)),
  };
}

function maskKnown(name: string, value: string): string {
  switch (name) {
    case 'union_id':
      return maskText(value);
    case 'primary_key':
      return maskName(value);
    case 'info_name':
      return value.split(',').map(maskName).join(',');
    default:
      return maskParameter(name, value);
  }
}
