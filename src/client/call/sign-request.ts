import { type Endpoint, formContentType, hasForm } from '../../core/contract/endpoints.js';
import {
  checkParameters,
  checkSignatureLength,
  checkText,
  type Parameters,
} from '../../core/contract/parameters.js';
import { type Digests, type RequestSigners, signBoth } from '../../core/signing/app-signatures.js';
import type { Param, Place, SignableRequest } from '../../core/signing/request.js';
import type { Secret } from '../../core/signing/secret.js';
import { isPromise } from '../../core/signing/signer.js';
import { encodeText } from '../../core/support/percent-encoding.js';
import type { PlainRequest } from './request.js';

/** An app as its requests name it, and its signers. */
export interface SigningApp {
  readonly tenantCode: string;
  readonly channel: string;
  readonly appKey: string;
  readonly signers: RequestSigners;
}

/** A request signed for one deployment. */
export interface SignedRequest {
  readonly endpoint: Endpoint;
  /** Path and query, after the base URL. */
  readonly target: string;
  /** The form, for a passback. */
  readonly body: string | null;
  /** The user that a passback names (§4.2); undefined if it names the user by `primary_key`. */
  readonly unionId: string | undefined;
  /** As in `PlainRequest`. */
  readonly infoNames: readonly string[];
  /** `random` (§5.4). */
  readonly random: string;
}

/** The parameters that differ in each attempt (§5.4). */
interface Moment {
  /** 8 to 20 characters. */
  readonly random: string;
  /** Unix time in seconds. */
  readonly timestamp: number;
}

/**
 * The request that a recipe signs: its parameters in the order of the endpoint's table (§4),
 * `app_sign` empty and `sign` absent. The query is encoded only for signers that use it: each read
 * would pay for it.
 */
export function signableRequest(
  request: PlainRequest,
  baseUrl: string,
  caller: Omit<SigningApp, 'signers'>,
  moment: Moment,
  usesQuery = true,
): SignableRequest {
  const { endpoint, parameters } = request;
  const values = valuesOf(request, caller, moment);
  const params: Param[] = [];
  for (const parameter of endpoint.parameters) {
    const { name } = parameter;
    const value = values.get(name);
    if (value === undefined) continue;
    params.push(parameter.in === 'form' ? [name, value, 'form'] : [name, value]);
  }
  const signable = {
    method: endpoint.method,
    url: baseUrl + endpoint.path,
    params,
    body: hasForm(endpoint) ? encodeIn('form', endpoint, parameters) : null,
  };
  if (!usesQuery) return signable;
  return { ...signable, query: encodeIn('query', endpoint, values) };
}

/**
 * The values of a request's parameters by name, before it is signed: those of §5.3, and those of
 * its operation.
 */
function valuesOf(
  { parameters }: PlainRequest,
  caller: Omit<SigningApp, 'signers'>,
  moment: Moment,
) {
  return new Map(parameters)
    .set('tenant_code', caller.tenantCode)
    .set('app_key', caller.appKey)
    .set('channel', caller.channel)
    .set('random', moment.random)
    .set('timestamp', String(moment.timestamp))
    .set('app_sign', '');
}

/**
 * Signs a request for one attempt (§5); a promise if a signer returns one.
 *
 * @throws InvalidInputError for a parameter that breaks a rule of §4 or §8
 */
export function signRequest(
  request: PlainRequest,
  baseUrl: string,
  app: SigningApp,
  secret: Secret,
  moment: Moment,
): SignedRequest | PromiseLike<SignedRequest> {
  const { endpoint, parameters, infoNames } = request;
  const { signers } = app;
  const usesQuery = signers.app_sign.usesQuery === true || signers.sign.usesQuery === true;
  const signable = signableRequest(request, baseUrl, app, moment, usesQuery);
  const withSignatures = ({ app_sign, sign }: Digests): SignedRequest => {
    const values = valuesOf(request, app, moment)
      .set('app_sign', app_sign.digest)
      .set('sign', sign.digest);
    // The other texts were checked when the client was created, and when the request was built.
    checkText('random', moment.random);
    checkParameters(endpoint, values);
    checkSignatureLength('app_sign', app_sign.digest, signers.app_sign.digestLength);
    checkSignatureLength('sign', sign.digest, signers.sign.digestLength);
    return {
      endpoint,
      target: `${endpoint.path}?${encodeIn('query', endpoint, values)}`,
      body: signable.body,
      unionId: parameters.get('union_id'),
      infoNames,
      random: moment.random,
    };
  };
  const signed = signBoth(signers, signable, secret);
  return isPromise(signed) ? signed.then(withSignatures) : withSignatures(signed);
}

/**
 * Encodes the values of the query or of the form, in the order of the endpoint's table; its names
 * need no encoding.
 */
function encodeIn(part: Place, { parameters }: Endpoint, values: Parameters): string {
  let text = '';
  for (const parameter of parameters) {
    const value = values.get(parameter.name);
    if (parameter.in !== part || value === undefined) continue;
    if (text !== '') text += '&';
    text += `${parameter.name}=${encodeText(value)}`;
  }
  return text;
}

/**
 * A signed request with its full URL.
 *
 * @example
 * const { method, url, contentType, headers, body }: WireRequest = client.signRead({ code });
 * const type = contentType === null ? {} : { 'content-type': contentType };
 * await fetch(url, { method, body, headers: { ...headers, ...type } });
 */
export interface WireRequest {
  /** The HTTP method. */
  readonly method: Endpoint['method'];
  /** The whole URL, with its query. */
  readonly url: URL;
  /** The value of `Content-Type`; `null` for a request without a body. */
  readonly contentType: string | null;
  /** The headers of the platform, such as the key of a gateway. */
  readonly headers: Readonly<Record<string, string>>;
  /** The form of a passback; `null` for a request without a body. */
  readonly body: string | null;
}

/** A signed request as a sender sends it, with these headers. */
export function toWireRequest(
  { endpoint, target, body }: SignedRequest,
  baseUrl: string,
  headers: ReadonlyMap<string, string>,
): WireRequest {
  return {
    method: endpoint.method,
    url: new URL(baseUrl + target),
    contentType: body === null ? null : formContentType,
    headers: Object.fromEntries(headers),
    body,
  };
}
