import { endpoints } from '../../core/contract/endpoints.js';
import { type Param, queryWithout, type Sample } from '../../core/signing/request.js';
import { decodePairs } from '../../core/support/percent-encoding.js';
import { SampleError } from './sample-error.js';

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
  const isLoopback = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/i.test(host);
  return `${scheme ?? (isLoopback ? 'http' : 'https')}://${host}`;
}

/** The value of the last header with this name, whatever its letter case. */
export function headerValue(headers: readonly Header[], name: string): string | undefined {
  return headers.findLast(([known]) => known.toLowerCase() === name)?.[1];
}

/** The URL with a query behind the one that it has. */
export function withQuery(url: string, query: string): string {
  if (query === '') return url;
  return `${url}${url.includes('?') ? '&' : '?'}${query}`;
}

/** The parameter that carries the signature (§5.4). */
export const signatureName = 'sign';

/**
 * A request as a recipe sees it, without its signature. `params` are those of the query, then of
 * the form, decoded, in request order.
 *
 * @throws SampleError for a parameter that is not UTF-8, too many of them, or for more than one
 * signature
 */
export function toSample({ method, url, headers, body }: CapturedRequest): Omit<Sample, 'secret'> {
  const query = queryOf(url);
  const form = body !== null && isForm(body, headerValue(headers, 'content-type')) ? body : '';
  const params = [...paramsIn(query, 'query'), ...paramsIn(form, 'form')];
  if (params.length > maxParams)
    throw new SampleError(`the request has ${params.length} parameters`);
  const isSignature = ([name]: Param) => name === signatureName;
  return {
    method,
    url: url.split(/[?#]/, 1)[0] ?? '',
    ...(query !== '' && { query: queryWithout(query, [signatureName]) }),
    params: params.filter((param) => !isSignature(param)),
    body,
    headers: Object.fromEntries(headers),
    signature: onlySignature(params.filter(isSignature).map(([, value]) => value)),
  };
}

/** Longest signature, in characters, and most parameters of a request: no service takes more. */
const longestSignature = 4096;
const maxParams = 10_000;

/** @throws SampleError for different ones, or one that is too long */
export function onlySignature(signatures: readonly string[]): string | null {
  const [first = null, ...others] = new Set(signatures);
  if (others.length > 0) throw new SampleError(`parameter "${signatureName}" is given twice`);
  if (first === null || first.length <= longestSignature) return first;
  throw new SampleError(
    `"${signatureName}" has ${first.length} characters: no signature is so long`,
  );
}

/** Copied from HTML, a query has `&amp;` between its pairs. */
function queryOf(url: string): string {
  const [address = ''] = url.split('#', 1);
  const at = address.indexOf('?');
  return at < 0 ? '' : address.slice(at + 1).replaceAll('&amp;', '&');
}

/** A body of unknown type is a form, unless it looks like JSON or XML. */
function isForm(body: string, contentType: string | undefined): boolean {
  if (contentType === undefined) return !/^\s*[{[<]/.test(body);
  return contentType.split(';', 1)[0]?.trim().toLowerCase() === 'application/x-www-form-urlencoded';
}

/** The parameters of a query or a form. A stray `%` is kept: logs show half-decoded values. */
function paramsIn(text: string, place: 'query' | 'form'): Param[] {
  return decodePairs(text.replace(/%(?![\da-f]{2})/gi, '%25')).map(([name, value]): Param => {
    if (name !== null && value !== null)
      return place === 'form' ? [name, value, place] : [name, value];
    throw new SampleError(
      name === null
        ? 'the name of a parameter is not percent-encoded UTF-8'
        : `parameter ${JSON.stringify(name)} is not percent-encoded UTF-8`,
      'Write the request as a sample file, with the text of its parameters.',
    );
  });
}

/** The fields of a form (§4.2). */
export const formFields: ReadonlySet<string> = new Set(
  endpoints.flatMap(({ parameters }) =>
    parameters.filter((one) => one.in === 'form').map(({ name }) => name),
  ),
);

/**
 * What to take instead of a text that has a passback without its form; null for any other request.
 */
export function missingForm({ url, body, params }: Sample): string | null {
  const hasForm = body !== null || params.some(([name]) => formFields.has(name));
  return hasForm || operationOf(url)?.operation !== 'passback'
    ? null
    : 'A log and curl -v seldom have it. Take the curl command, a HAR file, or the text of the HTTP request.';
}

/** A text that may be a digest: 16 hex digits or more, or base64 of 16 bytes or more. */
const digestText = /(?<![\da-z])(?:[\da-f]{16,}|[\w+/-]{21,}={0,2})$/i;

export function isDigestText(text: string): boolean {
  return digestText.test(text.slice(-200));
}

/** The error for a request without the signature that a command needs. */
export function unsignedSample(sample: Sample): SampleError {
  return new SampleError(
    `the sample has no signature: there is no "${signatureName}" among its parameters`,
    missingForm(sample) ?? 'Take the request as it was sent.',
  );
}
