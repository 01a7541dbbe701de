import type { Dispatcher } from 'undici';
import { type Endpoint, formContentType, passbackEndpoint, readEndpoint } from '../protocol/endpoints.js';
import { InvalidInputError } from '../protocol/errors.js';
import { joinInfoNames } from '../protocol/info-names.js';
import { checkSignatureLength, checkText, checkValues, type Parameters } from '../protocol/parameters.js';
import { checkPassback, type PassbackTarget } from '../protocol/passback.js';
import { encodeText } from '../protocol/percent-encoding.js';
import { resultCode } from '../protocol/result-codes.js';
import { formatUserInfo, toUserInfo, type UserInfo } from '../protocol/user-info.js';
import { type Signers, signBoth } from '../signing/app-signatures.js';
import type { Param, SignableRequest } from '../signing/request.js';
import type { Secret } from '../signing/secret.js';
import { checkPassbackInput, checkReadInput } from './options.js';

/** The credentials of an app, and its signers. */
export interface Credentials {
  readonly tenantCode: string;
  readonly channel: string;
  readonly appKey: string;
  readonly secret: Secret;
  readonly signers: Signers;
}

/** Input of a read (§4.1). */
export interface ReadInput {
  /** The authorization code issued to the user. */
  readonly code: string;
  /** Names of the requested pieces of information, at least one. Default: all that the code authorizes. */
  readonly infoNames?: readonly string[];
  /** Not sent unless given. */
  readonly scope?: string;
}

/** Input of a passback (§4.2): `unionId` takes priority over `primaryKey`. */
export interface PassbackInput {
  readonly unionId?: string | undefined;
  /** The key of `userInfo` that identifies the user. */
  readonly primaryKey?: string | undefined;
  readonly userInfo: UserInfo;
}

/** A checked request before it is signed: the part that is the same for all attempts. */
export interface PlainRequest {
  readonly endpoint: Endpoint;
  /** The parameters of the operation, without those of the caller, in the order of the spec's tables. */
  readonly parameters: Parameters;
}

/**
 * Builds the request of a read (§4.1).
 *
 * @throws InvalidInputError
 */
export function readRequest({ code, infoNames, scope }: ReadInput): PlainRequest {
  // Checked again when the request is signed; here the stack of the error leads to the caller.
  if (code === '') {
    throw new InvalidInputError('parameter code is missing', { resultCode: resultCode.missingParameter });
  }
  return plainRequest(readEndpoint, { code, scope, info_name: infoNames && joinInfoNames(infoNames) });
}

/**
 * Checks a caller's input and builds the request of a read; `isRow` allows further members.
 *
 * @throws InvalidInputError
 */
export function checkedRead(input: ReadInput, isRow = false): PlainRequest {
  checkReadInput(input, isRow);
  return readRequest(input);
}

/**
 * Checks a caller's input and builds the request of a passback; `isRow` allows further members.
 *
 * @throws InvalidInputError
 */
export function checkedPassback(input: PassbackInput, isRow = false): PlainRequest {
  checkPassbackInput(input, isRow);
  const { unionId, primaryKey, userInfo } = input;
  return passbackRequest({ unionId, primaryKey, userInfo: Object.entries(userInfo) });
}

/** The user of a passback, and the entries of its `user_info`. */
export interface PassbackEntries extends PassbackTarget {
  readonly userInfo: Iterable<readonly [key: string, value: unknown]>;
}

/**
 * Builds the request of a passback (§4.2).
 *
 * @throws InvalidInputError
 */
export function passbackRequest({ unionId, primaryKey, userInfo }: PassbackEntries): PlainRequest {
  const checked = checkPassback({ unionId, primaryKey }, () => toUserInfo(userInfo));
  return plainRequest(passbackEndpoint, {
    union_id: unionId || undefined,
    primary_key: primaryKey || undefined,
    user_info: formatUserInfo(checked.userInfo),
  });
}

function plainRequest(endpoint: Endpoint, values: Record<string, string | undefined>): PlainRequest {
  const parameters = new Map<string, string>();
  for (const name of Object.keys(values)) {
    const value = values[name];
    if (value === undefined) continue;
    checkText(name, value);
    parameters.set(name, value);
  }
  return { endpoint, parameters };
}

/** A signed request with its full URL. */
export interface WireRequest {
  readonly method: 'GET' | 'PUT';
  readonly url: URL;
  readonly contentType: string | null;
  readonly body: string | null;
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
}

/** A signed request with the URL at `baseUrl`. */
export function toWireRequest({ endpoint, target, body }: SignedRequest, baseUrl: string): WireRequest {
  const contentType = body === null ? null : formContentType;
  return { method: endpoint.method, url: new URL(baseUrl + target), contentType, body };
}

/** The parameters that differ in each attempt (§5.4). */
export interface Moment {
  /** 8 to 20 characters. */
  readonly random: string;
  /** Unix time in seconds. */
  readonly timestamp: number;
}

/** The values of the parameters, at the index of their name in the endpoint's table. */
type Values = (string | undefined)[];

/** The request that a recipe signs: `app_sign` is empty, `sign` is absent. */
export function signableRequest(
  request: PlainRequest,
  baseUrl: string,
  caller: Omit<Credentials, 'secret' | 'signers'>,
  moment: Moment,
): SignableRequest {
  return toSignable(request.endpoint, baseUrl, valuesToSign(request, caller, moment));
}

function toSignable(endpoint: Endpoint, baseUrl: string, values: Values): SignableRequest {
  const params: Param[] = [];
  let hasBody = false;
  for (let index = 0; index < values.length; index++) {
    const parameter = endpoint.parameters[index];
    const value = values[index];
    if (parameter === undefined) continue;
    if (parameter.in === 'form') hasBody = true;
    if (value !== undefined) params.push([parameter.name, value]);
  }
  return {
    method: endpoint.method,
    url: baseUrl + endpoint.path,
    params,
    body: hasBody ? encodeIn(endpoint, 'form', values) : null,
    extra: {},
  };
}

/** `app_sign` is still empty. */
function valuesToSign(
  { endpoint, parameters }: PlainRequest,
  { tenantCode, appKey, channel }: Omit<Credentials, 'secret' | 'signers'>,
  { random, timestamp }: Moment,
): Values {
  return endpoint.parameters.map(({ name }) => {
    switch (name) {
      case 'tenant_code':
        return tenantCode;
      case 'app_key':
        return appKey;
      case 'app_sign':
        return '';
      case 'channel':
        return channel;
      case 'random':
        return random;
      case 'timestamp':
        return String(timestamp);
      default:
        return parameters.get(name);
    }
  });
}

/**
 * Signs a request for one attempt (§5).
 *
 * @throws InvalidInputError for a parameter that breaks a rule of §4 or §8
 */
export function signRequest(
  request: PlainRequest,
  baseUrl: string,
  credentials: Credentials,
  moment: Moment,
): SignedRequest {
  const { endpoint } = request;
  const { signers, secret, tenantCode, appKey, channel } = credentials;
  const values = valuesToSign(request, credentials, moment);
  const signable = toSignable(endpoint, baseUrl, values);
  const { app_sign, sign } = signBoth(signers, signable, secret);
  values[placeOf(endpoint, 'app_sign')] = app_sign.digest;
  values[placeOf(endpoint, 'sign')] = sign.digest;
  // The parameters of the operation were checked when the request was built.
  checkText('tenant_code', tenantCode);
  checkText('app_key', appKey);
  checkText('channel', channel);
  checkText('random', moment.random);
  checkValues(endpoint, values);
  checkSignatureLength('app_sign', app_sign.digest, signers.app_sign.digestLength);
  checkSignatureLength('sign', sign.digest, signers.sign.digestLength);
  return {
    endpoint,
    target: `${endpoint.path}?${encodeIn(endpoint, 'query', values)}`,
    body: signable.body,
    unionId: request.parameters.get('union_id'),
  };
}

function placeOf({ parameters }: Endpoint, name: string): number {
  return parameters.findIndex((parameter) => parameter.name === name);
}

/** Encodes the values of one place, in the order of the endpoint's table; its names need no encoding. */
function encodeIn({ parameters }: Endpoint, place: 'query' | 'form', values: Values): string {
  let text = '';
  for (let index = 0; index < values.length; index++) {
    const parameter = parameters[index];
    const value = values[index];
    if (value === undefined || parameter?.in !== place) continue;
    text += `${text === '' ? '' : '&'}${parameter.name}=${encodeText(value)}`;
  }
  return text;
}

/** Alternating names and values: undici processes them faster than an object. */
const headers = ['accept', 'application/json', 'accept-encoding', 'identity'];
const formHeaders = [...headers, 'content-type', formContentType];

/**
 * The request for undici, which follows no redirect: a signed URL belongs to one host. It accepts no content
 * encoding: answers are read as they are. `pathPrefix` is the part of the base URL after its `origin`.
 */
export function dispatchOptions(
  { endpoint: { method }, target, body }: SignedRequest,
  { origin, pathPrefix }: { readonly origin: string; readonly pathPrefix: string },
): Dispatcher.DispatchOptions {
  return {
    origin,
    path: pathPrefix + target,
    method,
    headers: body === null ? headers : formHeaders,
    body,
  };
}
