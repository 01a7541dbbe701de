import type { OwnParameterName } from '../core/contract/endpoints.js';
import { maskName, maskParameter, maskText } from '../core/contract/masking.js';
import { type Parameters, parameterText } from '../core/contract/parameters.js';
import {
  forAppSign,
  forSign,
  type SignatureName,
  type SignaturePair,
  type Signers,
} from '../core/signing/app-signatures.js';
import { type Param, type SignableRequest, withText } from '../core/signing/request.js';
import { encodePairs } from '../core/support/percent-encoding.js';
import type { ReceivedRequest } from './http/received-request.js';
import type { SignatureRejectedEvent } from './log.js';
import type { App } from './store/apps.js';

/** A wrong signature, with everything that it depends on. */
export interface RejectedSignature {
  readonly signature: SignatureName;
  readonly request: ReceivedRequest;
  readonly app: App;
  readonly signers: Signers;
  readonly expected: SignaturePair;
}

/**
 * Explains to the operator how the service computes a signature. The stages are those of a masked
 * copy of the request; the expected digest is that of the request itself, its middle masked.
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

/** The request as input of that signature's recipe. */
export function asSeenBy(signature: SignatureName, request: SignableRequest): SignableRequest {
  return signature === 'app_sign' ? forAppSign(request) : forSign(request);
}

/** Maximum length of a stage, in characters; a single value that is longer is masked whole. */
const maxShown = 4000;

/** Truncates a stage to a readable length. */
export function cutStage(text: string): string {
  return text.length > maxShown ? `${text.slice(0, maxShown)}…` : text;
}

/** Masks a received signature: its ends identify it, but nobody can sign with it. */
function maskReceived(received: string, app: App): string {
  return isSecret(received, app) ? `${app.app_secret}` : maskText(received);
}

/** Whether the secret was sent by mistake in a value. */
function isSecret(value: string, { app_secret }: App): boolean {
  return value.includes(app_secret.reveal());
}

/** The same request with its secrets and personal data masked. */
export function maskRequest({ signable, form }: ReceivedRequest, app: App): SignableRequest {
  const mask = (param: Param): Param => withText(param, maskedText(param, app));
  return {
    ...signable,
    params: signable.params.map(mask),
    body: signable.body === null ? null : encodePairs(form.map(mask)),
  };
}

function maskedText([name, value]: Param, app: App): string {
  if (isSecret(value, app)) return `${app.app_secret}`;
  if (value.length > maxShown) return '****';
  return maskValue(name, value);
}

/**
 * The parameters of any request, masked. Text that belongs to no app or no parameter may be
 * anything, such as a secret in the wrong place, so it is masked too.
 */
export function maskParameters(parameters: Parameters, app: App | null): Param[] {
  return [...parameters].map(([name, value]) => [maskName(name), maskSent(name, value, app)]);
}

function maskSent(name: string, value: string, app: App | null): string {
  if (app !== null && isSecret(value, app)) return `${app.app_secret}`;
  switch (name) {
    case 'app_key':
    case 'tenant_code':
    case 'channel':
      return app?.[name] === value ? value : maskText(value);
    case 'timestamp':
      return /^\d{10}(?:\d{3})?$/.test(value) ? value : maskText(value);
    case 'scope':
      return maskName(value);
    default:
      return Object.hasOwn(masks, name) ? maskValue(name, value) : maskText(value);
  }
}

/** A parameter that is masked by a rule of its own. */
type MaskedName = Exclude<OwnParameterName, 'scope'> | 'random' | 'app_sign';

const masks: Readonly<Record<MaskedName, (value: string) => string>> = {
  code: (value) => maskParameter('code', value),
  // A digit sequence of this length may be a misplaced phone number.
  random: (value) => (/\d{11}/.test(value) ? maskText(value) : value),
  union_id: maskText,
  primary_key: maskName,
  info_name: (value) => value.split(',').map(maskName).join(','),
  user_info: (value) => maskParameter('user_info', value),
  // If `sign` alone is wrong, this is a valid signature.
  app_sign: maskText,
};

function maskValue(name: string, value: string): string {
  if (!Object.hasOwn(masks, name)) return maskParameter(name, value);
  return masks[name as MaskedName](value);
}
