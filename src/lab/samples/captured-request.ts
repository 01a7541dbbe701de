import { endpoints, formNames, hasForm } from '../../core/contract/endpoints.js';
import { type Param, queryWithout, type SignableRequest } from '../../core/signing/request.js';
import type { Secret } from '../../core/signing/secret.js';
import { UserInfoError } from '../../core/support/errors.js';
import { decodePairs } from '../../core/support/percent-encoding.js';
import { withoutUndefined } from '../../core/support/without-undefined.js';

export type Header = readonly [name: string, value: string];

/** A request as sent or logged; nothing in it is decoded. */
export interface CapturedRequest {
  readonly method: string;
  /**
   * With its query. Without a scheme and a host where they are unknown; the query alone where the
   * path is, too.
   */
  readonly url: string;
  readonly headers: readonly Header[];
  readonly body: string | null;
  /** Whether the text has a host, but not the scheme of the URL. */
  readonly isSchemeGuessed?: boolean;
}

/** A signed request, or one to sign: the input of `sign explain`, `verify` and `solve`. */
export interface Sample extends SignableRequest {
  /** The headers of the request, which are never signed. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The value of `sign`, which is not among `params`; null for none, which only `explain` accepts.
   */
  readonly signature: string | null;
  /** The secret in the sample; null where it comes from elsewhere. */
  readonly secret: Secret | null;
}

/**
 * A text that is not a request, or has a part that cannot be read. The message contains no value
 * from the text.
 */
export class SampleError extends UserInfoError {
  readonly code = 'INVALID_SAMPLE';

  constructor(message: string, hint?: string) {
    super(message, { hint });
  }
}

/** The operation that a URL calls; undefined for a request to another service. */
export function operationOf(url: string) {
  const [address = ''] = url.split(/[?#]/, 1);
  return endpoints.find(({ path }) => address.endsWith(path));
}

/** The method of the operation that a URL calls; GET for a request to another service. */
export function methodOf(url: string): string {
  return operationOf(url)?.method ?? 'GET';
}

/** Scheme and host; without a scheme http for a loopback host, else https. */
export function originOf(host: string, scheme?: string): string {
  return `${scheme ?? usualScheme(host)}://${host}`;
}

function usualScheme(host: string): 'http' | 'https' {
  const isLoopback = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/i.test(host);
  return isLoopback ? 'http' : 'https';
}

/** An address as curl and Postman take it: one without a scheme is of http. */
export function withScheme(address: string): string {
  if (/^\w+:\/\//.test(address)) return address;
  return `http://${address}`;
}

/** The value of the last header with this name, whatever its letter case. */
export function headerValue(headers: readonly Header[], name: string): string | undefined {
  return headers.findLast(([headerName]) => headerName.toLowerCase() === name)?.[1];
}

/** The URL with a query after the one that it has. */
export function withQuery(url: string, query: string): string {
  if (query === '') return url;
  return `${url}${url.includes('?') ? '&' : '?'}${query}`;
}

/** The parameter that carries the signature (§5.4). */
export const dataSignature = 'sign';

/**
 * A request as a recipe sees it, without its signature. `params` are those of the query, then of
 * the form, decoded, in request order.
 *
 * @throws SampleError for a parameter that is not UTF-8, too many of them, or for more than one
 * signature
 */
export function toSample({ method, url, headers, body }: CapturedRequest): Omit<Sample, 'secret'> {
  const query = queryOf(url);
  const form = formOf(body, headerValue(headers, 'content-type'));
  const params = [
    ...paramsIn(query),
    ...paramsIn(form).map(([name, value]): Param => [name, value, 'form']),
  ];
  if (params.length > maxParams) {
    throw new SampleError(`the request has ${params.length} parameters`);
  }
  const isSignature = ([name]: Param) => name === dataSignature;
  return {
    method,
    url: url.split(/[?#]/, 1)[0] ?? '',
    ...withoutUndefined({ query: signedQuery(query) }),
    params: params.filter((param) => !isSignature(param)),
    body,
    headers: Object.fromEntries(headers),
    signature: onlySignature(params.filter(isSignature).map(([, value]) => value)),
  };
}

/** The query as it was signed: without its signature. Undefined for a URL that has no query. */
function signedQuery(query: string): string | undefined {
  if (query === '') return undefined;
  return queryWithout(query, [dataSignature]);
}

/** Longest signature, in characters, and most parameters of a request: no service takes more. */
const longestSignature = 4096;
const maxParams = 10_000;

/**
 * The signature that all of these are; null for none.
 *
 * @throws SampleError for different ones, or one that is too long
 */
export function onlySignature(signatures: readonly string[]): string | null {
  const [first = null, ...others] = new Set(signatures);
  if (others.length > 0) throw new SampleError(`parameter "${dataSignature}" is given twice`);
  if (first === null || first.length <= longestSignature) return first;
  throw new SampleError(
    `"${dataSignature}" has ${first.length} characters: no signature is so long`,
  );
}

/** Copied from HTML, a query has `&amp;` between its pairs. */
function queryOf(url: string): string {
  const [address = ''] = url.split('#', 1);
  const mark = address.indexOf('?');
  if (mark < 0) return '';
  return address.slice(mark + 1).replaceAll('&amp;', '&');
}

/** The form that a body is; nothing for a body of another type. */
function formOf(body: string | null, contentType: string | undefined): string {
  if (body === null || !isForm(body, contentType)) return '';
  return body;
}

/** A body of unknown type is a form, unless it looks like JSON or XML. */
function isForm(body: string, contentType: string | undefined): boolean {
  if (contentType === undefined) return !/^\s*[{[<]/.test(body);
  return contentType.split(';', 1)[0]?.trim().toLowerCase() === 'application/x-www-form-urlencoded';
}

/**
 * The parameters of a query or a form. A stray `%` is kept: logs show half-decoded values.
 *
 * @throws SampleError for a parameter that is not UTF-8
 */
function paramsIn(text: string): (readonly [name: string, value: string])[] {
  return decodePairs(text.replace(/%(?![\da-f]{2})/gi, '%25')).map(([name, value]) => {
    if (name === null) throw notUtf8('the name of a parameter is not percent-encoded UTF-8');
    if (value !== null) return [name, value];
    throw notUtf8(`parameter ${JSON.stringify(name)} is not percent-encoded UTF-8`);
  });
}

function notUtf8(problem: string): SampleError {
  return new SampleError(
    problem,
    'Write the request as a sample file, with the text of its parameters.',
  );
}

/**
 * What to take instead of a text that has a passback without its form; null for any other request.
 */
export function missingForm({ url, body, params }: Sample): string | null {
  if (body !== null || params.some(([name]) => formNames.has(name))) return null;
  const endpoint = operationOf(url);
  if (endpoint === undefined || !hasForm(endpoint)) return null;
  return (
    'A log and curl -v seldom have it. ' +
    'Take the curl command, a HAR file, or the text of the HTTP request.'
  );
}

/** A text that may be a digest: 16 hex digits or more, or base64 of 16 bytes or more. */
const digestText = /(?<![\da-z])(?:[\da-f]{16,}|[\w+/-]{21,}={0,2})$/i;

/** Whether a text ends like a digest, as a signature does. */
export function isDigestText(text: string): boolean {
  return digestText.test(text.slice(-200));
}

/** The error for a request without the signature that a command needs. */
export function unsignedSample(sample: Sample): SampleError {
  return new SampleError(
    `the sample has no signature: there is no "${dataSignature}" among its parameters`,
    missingForm(sample) ?? 'Take the request as it was sent.',
  );
}
