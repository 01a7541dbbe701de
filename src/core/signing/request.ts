import { decodePercent } from '../support/percent-encoding.js';
import { encoders } from './encodings.js';

/** Where a parameter is sent (§4). */
export type Place = 'query' | 'form';

/** A parameter as it is signed: raw, not encoded. Without a place it is one of the query. */
export type Param = readonly [name: string, value: string, place?: Place];

/** Whether a parameter is a field of the form (§4.2). */
export function isInForm([, , place]: Param): boolean {
  return place === 'form';
}

/** The parameter with another value, in the same place. */
export function withText(param: Param, value: string): Param {
  return [param[0], value, param[2] ?? 'query'];
}

/**
 * A request as a recipe sees it.
 *
 * @example
 * const request: SignableRequest = {
 *   method: 'GET',
 *   url: 'https://users.example.com/api/v1/server/user/user_info_for_third',
 *   params: [['app_key', 'app-1']],
 *   body: null,
 * };
 */
export interface SignableRequest {
  /** The HTTP method, in capital letters. */
  readonly method: string;
  /** Scheme, host and path, without the query. */
  readonly url: string;
  /**
   * The query as sent, without the parameter that carries the signature; absent where it is not
   * known.
   */
  readonly query?: string;
  /** Query parameters, then form fields, in request order, raw and unencoded. */
  readonly params: readonly Param[];
  /** The body as sent; null for none. */
  readonly body: string | null;
}

/** The value of the first parameter with this name. */
export function paramOf({ params }: SignableRequest, name: string): string | undefined {
  return params.find((param) => param[0] === name)?.[1];
}

/** The request without the parameters of these names, in `params` and in the query. */
export function withoutParams(request: SignableRequest, names: readonly string[]): SignableRequest {
  const { query } = request;
  const params = request.params.filter(([name]) => !names.includes(name));
  if (query === undefined) return { ...request, params };
  return { ...request, params, query: queryWithout(query, names) };
}

/** The query of these parameters. */
export function queryOf(params: readonly Param[]): string {
  return params
    .map(([name, value]) => `${encoders.rfc3986(name)}=${encoders.rfc3986(value)}`)
    .join('&');
}

/** The query without the parameters of these names. */
export function queryWithout(query: string, names: readonly string[]): string {
  return pairsOf(query)
    .filter((pair) => !names.includes(nameIn(pair)))
    .join('&');
}

/**
 * The query with this value in the place of the parameter; without one, at its end if `isAdded`.
 */
export function withQueryValue(
  query: string,
  name: string,
  value: string,
  isAdded: boolean,
): string {
  const pair = `${name}=${encoders.rfc3986(value)}`;
  const pairs = pairsOf(query);
  const index = pairs.findIndex((sentPair) => nameIn(sentPair) === name);
  if (index >= 0) pairs[index] = pair;
  else if (isAdded) pairs.push(pair);
  return pairs.join('&');
}

function pairsOf(query: string): string[] {
  if (query === '') return [];
  return query.split('&');
}

function nameIn(pair: string): string {
  const [name = ''] = pair.split('=', 1);
  return decodePercent(name.replaceAll('+', ' '));
}

const urlPattern = /^[a-z][a-z\d+.-]*:\/\/([^/]*)(.*)$/is;

/** The host of a URL, with its port if it has one. */
export function hostOf(url: string): string {
  return urlPattern.exec(url)?.[1] ?? '';
}

/** The path of a URL as written, not normalized; a text without a scheme is a path. */
export function pathOf(url: string): string {
  const match = urlPattern.exec(url);
  if (match === null) return url;
  return match[2] || '/';
}

/** The segment that the paths of all operations begin with (§9). */
export const versionSegment = '/api/v1/';

/**
 * The path of an operation, without the path of the base URL; the whole path where it is of no
 * operation.
 */
export function endpointOf(url: string): string {
  const path = pathOf(url);
  return path.slice(Math.max(0, path.indexOf(versionSegment)));
}
