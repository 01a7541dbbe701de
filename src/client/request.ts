import manifest from '../../package.json' with { type: 'json' };
import {
  type Endpoint,
  formContentType,
  hasForm,
  type Parameter,
  passbackEndpoint,
  readEndpoint,
} from '../protocol/endpoints.js';
import { InvalidInputError } from '../protocol/errors.js';
import { kindOf } from '../protocol/fields.js';
import { checkInfoNames } from '../protocol/info-names.js';
import { checkMembers, isFilledText, isPlainObject, isText, type Shape } from '../protocol/members.js';
import { checkParameters, checkSignatureLength, checkText, type Parameters } from '../protocol/parameters.js';
import { checkPassback, type PassbackTarget } from '../protocol/passback.js';
import { encodeText } from '../protocol/percent-encoding.js';
import type { InfoName } from '../protocol/read-data.js';
import { resultCode } from '../protocol/result-codes.js';
import {
  type FlatUserInfo,
  formatFlatJson,
  toUserInfo,
  type UserInfo,
  type UserInfoEntries,
} from '../protocol/user-info.js';
import { type Signers, signBoth } from '../signing/app-signatures.js';
import type { Param, SignableRequest } from '../signing/request.js';
import type { Secret } from '../signing/secret.js';
import type { DispatchedRequest } from './dispatcher.js';

/** An app as its requests name it, and its signers. */
export interface SigningApp {
  readonly tenantCode: string;
  readonly channel: string;
  readonly appKey: string;
  readonly signers: Signers;
}

/**
 * Input of a read (§4.1).
 *
 * @example
 * const input: ReadInput<'mobile'> = { code, infoNames: ['mobile'] };
 */
export interface ReadInput<Name extends string = string> {
  /** The authorization code issued to the user. */
  readonly code: string;
  /** Names of the requested pieces of information, at least one. Default: all that the code authorizes. */
  readonly infoNames?: readonly (Name & InfoName<Name>)[];
  /** Not sent unless given. */
  readonly scope?: string;
}

/**
 * Input of a passback (§4.2): `unionId` takes priority over `primaryKey`, the key of `userInfo` that identifies the
 * user.
 *
 * @example
 * const byId: PassbackInput = { unionId: 'u1', userInfo: { acme_level: 'gold' } };
 * const byKey: PassbackInput = { primaryKey: 'mobile', userInfo: { mobile: '13800001111' } };
 */
export type PassbackInput<Info extends object = UserInfo> = { readonly userInfo: FlatUserInfo<Info> } & (
  | { readonly unionId: string; readonly primaryKey?: string | undefined }
  | { readonly unionId?: undefined; readonly primaryKey: string & keyof Info }
);

/** A checked request before it is signed: the part that is the same for all attempts. */
export interface PlainRequest {
  readonly endpoint: Endpoint;
  /** The parameters of the operation, without those of the caller, in the order of the spec's tables. */
  readonly parameters: Parameters;
  /** The names that a read requests; none for the whole record, and for a passback. */
  readonly infoNames: readonly string[];
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
  const names = infoNames === undefined ? [] : checkInfoNames(infoNames);
  return plainRequest(readEndpoint, { code, scope, info_name: names.join(',') || undefined }, names);
}

const readMembers: Shape<ReadInput> = {
  what: 'the input of a read',
  members: {
    code: isText,
    infoNames: (value) =>
      Array.isArray(value) && Array.from(value).every((name) => typeof name === 'string')
        ? null
        : `is ${Array.isArray(value) ? 'an array with values other than text' : kindOf(value)}, not an array of texts`,
    scope: isFilledText,
  },
  required: ['code'],
};

const passbackMembers: Shape<{ unionId: string; primaryKey: string; userInfo: UserInfo }> = {
  what: 'the input of a passback',
  members: { unionId: isFilledText, primaryKey: isFilledText, userInfo: isPlainObject },
  required: ['userInfo'],
};

/**
 * Checks a caller's input and builds the request of a read; `isRow` allows further members.
 *
 * @throws InvalidInputError
 */
export function checkedRead<Name extends string>(input: ReadInput<Name>, isRow = false): PlainRequest {
  checkMembers(readMembers, input, isRow);
  return readRequest(input as unknown as ReadInput);
}

/**
 * Checks a caller's input and builds the request of a passback; `isRow` allows further members.
 *
 * @throws InvalidInputError
 */
export function checkedPassback<Info extends object>(
  input: PassbackInput<Info>,
  isRow = false,
): PlainRequest {
  checkMembers(passbackMembers, input, isRow);
  return passbackRequest(input, () => toUserInfo(Object.entries(input.userInfo)));
}

/**
 * Builds the request of a passback (§4.2).
 *
 * @throws InvalidInputError, also what `readUserInfo` throws
 */
export function passbackRequest(target: PassbackTarget, readUserInfo: () => UserInfoEntries): PlainRequest {
  const { userInfo } = checkPassback(target, readUserInfo);
  return plainRequest(passbackEndpoint, {
    union_id: target.unionId || undefined,
    primary_key: target.primaryKey || undefined,
    user_info: formatFlatJson(userInfo),
  });
}

function plainRequest(
  endpoint: Endpoint,
  values: Record<string, string | undefined>,
  infoNames: readonly string[] = [],
): PlainRequest {
  const parameters = new Map<string, string>();
  for (const name of Object.keys(values)) {
    const value = values[name];
    if (value === undefined) continue;
    checkText(name, value);
    parameters.set(name, value);
  }
  return { endpoint, parameters, infoNames };
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
  readonly method: Endpoint['method'];
  readonly url: URL;
  readonly contentType: string | null;
  /** The headers of the platform, such as the key of a gateway. */
  readonly headers: Readonly<Record<string, string>>;
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
  /** As in `PlainRequest`. */
  readonly infoNames: readonly string[];
  /** `random` (§5.4). */
  readonly random: string;
}

/** A signed request as a sender sends it. */
export function toWireRequest(
  { endpoint, target, body }: SignedRequest,
  { baseUrl, headers }: { readonly baseUrl: string; readonly headers: RequestHeaders },
): WireRequest {
  const contentType = body === null ? null : formContentType;
  const url = new URL(baseUrl + target);
  return { method: endpoint.method, url, contentType, headers: Object.fromEntries(headers.given), body };
}

/** The parameters that differ in each attempt (§5.4). */
interface Moment {
  /** 8 to 20 characters. */
  readonly random: string;
  /** Unix time in seconds. */
  readonly timestamp: number;
}

/** Who sends a request. */
type Caller = Omit<SigningApp, 'signers'>;

/**
 * The request that a recipe signs: its parameters in the order of the endpoint's table (§4), `app_sign` empty and
 * `sign` absent. The query is encoded only for signers that use it: each read would pay for it.
 */
export function signableRequest(
  request: PlainRequest,
  baseUrl: string,
  caller: Caller,
  moment: Moment,
  usesQuery = true,
): SignableRequest {
  const { endpoint, parameters } = request;
  const values = valuesOf(request, caller, moment, { app_sign: '' });
  const params: Param[] = [];
  for (const { name } of endpoint.parameters) {
    const value = values.get(name);
    if (value !== undefined) params.push([name, value]);
  }
  const body = hasForm(endpoint) ? encodeIn(endpoint, 'form', parameters) : null;
  const signable = { method: endpoint.method, url: baseUrl + endpoint.path, params, body, extra: {} };
  return usesQuery ? { ...signable, query: encodeIn(endpoint, 'query', values) } : signable;
}

/** The values of a request's parameters by name: those of §5.3, and those of its operation. */
function valuesOf(
  { parameters }: PlainRequest,
  caller: Caller,
  moment: Moment,
  signatures: { readonly app_sign: string; readonly sign?: string },
): Pick<Parameters, 'get'> {
  const get = (name: string) => {
    switch (name) {
      case 'tenant_code':
        return caller.tenantCode;
      case 'app_key':
        return caller.appKey;
      case 'channel':
        return caller.channel;
      case 'random':
        return moment.random;
      case 'timestamp':
        return String(moment.timestamp);
      case 'app_sign':
        return signatures.app_sign;
      case 'sign':
        return signatures.sign;
      default:
        return parameters.get(name);
    }
  };
  return { get };
}

/**
 * Signs a request for one attempt (§5).
 *
 * @throws InvalidInputError for a parameter that breaks a rule of §4 or §8
 */
export function signRequest(
  request: PlainRequest,
  baseUrl: string,
  app: SigningApp,
  secret: Secret,
  moment: Moment,
): SignedRequest {
  const { endpoint, parameters } = request;
  const { signers } = app;
  const usesQuery = signers.app_sign.usesQuery === true || signers.sign.usesQuery === true;
  const signable = signableRequest(request, baseUrl, app, moment, usesQuery);
  const { app_sign, sign } = signBoth(signers, signable, secret);
  const values = valuesOf(request, app, moment, { app_sign: app_sign.digest, sign: sign.digest });
  // The other texts were checked when the client was created, and when the request was built.
  checkText('random', moment.random);
  checkParameters(endpoint, values);
  checkSignatureLength('app_sign', app_sign.digest, signers.app_sign.digestLength);
  checkSignatureLength('sign', sign.digest, signers.sign.digestLength);
  return {
    endpoint,
    target: `${endpoint.path}?${encodeIn(endpoint, 'query', values)}`,
    body: signable.body,
    unionId: parameters.get('union_id'),
    infoNames: request.infoNames,
    random: moment.random,
  };
}

/** Encodes the values of one place, in the order of the endpoint's table; its names need no encoding. */
function encodeIn(endpoint: Endpoint, place: Parameter['in'], values: Pick<Parameters, 'get'>): string {
  let text = '';
  for (const parameter of endpoint.parameters) {
    const value = parameter.in === place ? values.get(parameter.name) : undefined;
    if (value !== undefined) text += `${text === '' ? '' : '&'}${parameter.name}=${encodeText(value)}`;
  }
  return text;
}

/** Protection services may refuse requests without a `User-Agent`. */
const usualHeaders = {
  accept: 'application/json',
  'accept-encoding': 'identity',
  'user-agent': `userinfo/${manifest.version}`,
};

/** The headers of requests: names and values alternating, which undici processes faster than an object. */
export class RequestHeaders {
  /** Those of the platform, by their names in lower case. */
  readonly given: ReadonlyMap<string, string>;
  readonly ofRead: string[];
  readonly ofPassback: string[];

  constructor(given: ReadonlyMap<string, string>) {
    this.given = given;
    this.ofRead = [...new Map([...Object.entries(usualHeaders), ...given])].flat();
    this.ofPassback = [...this.ofRead, 'content-type', formContentType];
  }
}

/**
 * The request for undici, which follows no redirect: a signed URL belongs to one host. It accepts no content
 * encoding: answers are read as they are. `pathPrefix` is the part of the base URL after its `origin`.
 */
export function dispatchOptions(
  { endpoint: { method }, target, body }: SignedRequest,
  {
    origin,
    pathPrefix,
    headers,
  }: { readonly origin: string; readonly pathPrefix: string; readonly headers: RequestHeaders },
): DispatchedRequest {
  return {
    origin,
    path: pathPrefix + target,
    method,
    headers: body === null ? headers.ofRead : headers.ofPassback,
    body,
  };
}
