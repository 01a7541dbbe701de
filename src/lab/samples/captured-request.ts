import { type Param, queryWithout, type Sample } from '../../core/signing/request.js';
import { decodePercent } from '../../core/support/percent-encoding.js';
import { quoteWhereNeeded } from '../../core/support/shell.js';
import { jsonPairs } from './literal.js';
import { SampleError } from './sample-error.js';

export type Header = readonly [name: string, value: string];

/** A request as sent or logged; nothing in it is decoded. */
export interface CapturedRequest {
  readonly method: string;
  /**
   * With its query. Without a scheme and a host where they are unknown; empty where the path is
   * unknown, too.
   */
  readonly url: string;
  readonly headers: readonly Header[];
  readonly body: string | null;
  /** Parameters that are shown decoded, wherever they were sent. */
  readonly params?: readonly Param[];
  /** Whether the text has a host, but not the scheme of the URL. */
  readonly isSchemeGuessed?: boolean;
}

/** Scheme and host; without a scheme http for a loopback host, else https. */
export function originOf(host: string, scheme?: string): string {
  const isLoopback = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/i.test(host);
  return `${scheme ?? (isLoopback ? 'http' : 'https')}://${host}`;
}

/** The value of the last header with this name, whatever its letter case. */
export function headerValue(headers: readonly Header[], name: string): string | undefined {
  return headers.findLast(([known]) => isHeader(known, name))?.[1];
}

function isHeader(known: string, name: string): boolean {
  return known.toLowerCase() === name.toLowerCase();
}

/** Headers with a Content-Type before them, unless they have one, or the type is not known. */
export function withType(type: string | null | undefined, headers: readonly Header[]): Header[] {
  const isTyped = !type || headerValue(headers, 'content-type') !== undefined;
  return isTyped ? [...headers] : [['Content-Type', type], ...headers];
}

export function withScheme(address: string): string {
  return /^\w+:\/\//.test(address) ? address : `http://${address}`;
}

export function withQuery(url: string, query: string): string {
  if (query === '') return url;
  return `${url}${url.includes('?') ? '&' : '?'}${query}`;
}

/**
 * A request as a recipe sees it, without its signature. `params` are those of the query, then of
 * the form, decoded, in request order; and the members of a JSON body, where the signature is among
 * them, or where it is in a header and there are no other parameters. `extra` has the headers; if a
 * part of one is the signature, its parts.
 *
 * @throws SampleError for a parameter that is not UTF-8, too many of them, or for more than one
 * signature
 */
export function toSample(captured: CapturedRequest, signParam: string): Omit<Sample, 'secret'> {
  const request = withParts(captured, signParam);
  const { method, url, body } = request;
  const query = queryOf(url);
  const sent = parametersOf(request);
  if (sent.length > maxParams) throw new SampleError(`the request has ${sent.length} parameters`);
  const members = jsonMembersOf(request).filter(([name]) => !signParam.startsWith(`${name}.`));
  const isNamed = ([name]: Param) => name === signParam;
  const inHeaders = request.headers.filter(([name]) => isHeader(name, signParam));
  const signatures = [...sent.filter(isNamed), ...members.filter(isNamed), ...inHeaders];
  const hasMembers =
    !sent.some(isNamed) && (members.some(isNamed) || (inHeaders.length > 0 && sent.length === 0));
  const params = hasMembers ? [...sent, ...members] : sent;
  const headers = request.headers.filter((header) => !inHeaders.includes(header));
  return {
    method,
    url: url.split(/[?#]/, 1)[0] ?? '',
    ...(query !== '' && { query: queryWithout(query, [signParam]) }),
    params: params.filter((param) => !isNamed(param)),
    body,
    extra: Object.fromEntries(headers),
    headers: [...new Set(headers.map(([name]) => name))],
    signParam,
    signature: onlySignature(signatures, signParam),
  };
}

/**
 * Longest signature, in characters, and most parameters of a request: more take seconds, and no
 * service takes them.
 */
const longestSignature = 4096;
const maxParams = 10_000;

/** @throws SampleError for different ones, or one that is too long */
export function onlySignature(signatures: readonly Param[], signParam: string): string | null {
  const [first, ...others] = new Set(signatures.map(([, value]) => value));
  if ((first?.length ?? 0) > longestSignature)
    throw new SampleError(
      `${JSON.stringify(signParam)} has ${first?.length} characters: no signature is so long`,
    );
  if (others.length === 0) return first ?? null;
  throw new SampleError(`parameter ${JSON.stringify(signParam)} is given twice`);
}

function parametersOf({ url, body, headers, params = [] }: CapturedRequest): Param[] {
  const form = body !== null && isForm(body, headerValue(headers, 'content-type')) ? body : '';
  const fields = decodePairs(form).map(([name, value]): Param => [name, value, 'form']);
  return [...decodePairs(queryOf(url)), ...fields, ...params];
}

/** Copied from HTML, a query has `&amp;` between its pairs. */
function queryOf(url: string): string {
  const [address = ''] = url.split('#', 1);
  const at = address.indexOf('?');
  return at < 0 ? '' : address.slice(at + 1).replaceAll('&amp;', '&');
}

/**
 * The request with a header, parameter of the query or JSON member in parts if one is the
 * signature: `NAME.PART`.
 */
function withParts(request: CapturedRequest, signParam: string): CapturedRequest {
  const [, name = ''] = /^(.+)\.[\w-]+$/.exec(signParam) ?? [];
  const { url, headers } = request;
  const carriers = headers.filter(([known]) => isHeader(known, name));
  const query = queryOf(url);
  const values = [...decodePairs(query), ...jsonMembersOf(request)];
  const given = carriers.length > 0 ? carriers : values.filter(([known]) => known === name);
  if (given.length === 0) return request;
  const others = headers.filter((header) => !carriers.includes(header));
  const parts = given
    .flatMap(([, value]) => partsOf(name, value))
    .map(([part, text]): Header => [part, isHeader(part, signParam) ? decodePercent(text) : text]);
  const [base = ''] = url.split('?', 1);
  return {
    ...request,
    url: withQuery(base, queryWithout(query, [name])),
    headers: [...others, ...parts],
  };
}

/**
 * The parts of JSON, or `a=1, b="2"`, by their names; those of `SCHEME key:3`, or `time-random-3`,
 * by their numbers.
 */
function partsOf(name: string, value: string): Header[] {
  const members = jsonPairs(value);
  if (members.length > 0) return members.map(([part, text]) => [`${name}.${part}`, text]);
  const whole = /[\s=,;&]/.test(value) ? value : decodePercent(value);
  const pieces = whole.match(/(?:[^\s,;&"]|"[^"]*")+/g) ?? [];
  let number = 0;
  return pieces.flatMap((piece): Header[] => {
    const [, part, text = ''] = /^([A-Za-z][\w-]*)=(?!=*$)(.+)$/.exec(piece) ?? [];
    if (part !== undefined) return [[`${name}.${part}`, text.replace(/^"(.*)"$/, '$1')]];
    const texts = piece.split(pieces.length === 1 && !piece.includes(':') ? '-' : ':');
    return texts.map((one): Header => [`${name}.${++number}`, one]);
  });
}

function jsonMembersOf({ body, headers }: CapturedRequest): Param[] {
  const isJson = /\bjson\b/i.test(headerValue(headers, 'content-type') ?? 'json');
  return isJson ? jsonPairs(body ?? '') : [];
}

/** A body of unknown type is a form, unless it looks like JSON or XML. */
function isForm(body: string, contentType: string | undefined): boolean {
  if (contentType === undefined) return !/^\s*[{[<]/.test(body);
  return contentType.split(';', 1)[0]?.trim().toLowerCase() === 'application/x-www-form-urlencoded';
}

const replacement = '\ufffd';

/** Keeps a stray `%`: logs show half-decoded parameters. */
function decodePairs(text: string): Param[] {
  return text
    .split('&')
    .filter((part) => part !== '')
    .flatMap((part): Param[] => {
      const [name = '', value = ''] = [...new URLSearchParams(`?${part}`)][0] ?? [];
      if ((name + value).includes(replacement) && !/%EF%BF%BD|\ufffd/i.test(part)) {
        throw new SampleError(
          `parameter ${JSON.stringify(name)} is not percent-encoded UTF-8`,
          'Write the request as a sample file, with the text of its parameters.',
        );
      }
      return [[name, value]];
    });
}

/**
 * What to take instead of a text that has the headers of a request, but not its body; null for any
 * other.
 */
export function hiddenBody({ body, extra, params, query = '' }: Sample): string | null {
  const length = headerValue(Object.entries(extra), 'content-length') ?? '';
  const isShown = body !== null || params.length > query.split('&').length;
  return isShown || !/^[1-9]\d{0,9}$/.test(length)
    ? null
    : `The text lacks the body, of ${length} bytes: curl -v does not print it. Give the curl command, or what curl --trace - prints.`;
}

/** A name that is likely to be that of a signature. */
const signatureName = /sign|sig$|hmac|digest/i;
/** A text that may be a digest: 16 hex digits or more, or base64 of 16 bytes or more. */
const digestText = /(?<![\da-z])(?:[\da-f]{16,}|[\w+/-]{21,}={0,2})$/i;

export function isDigestText(text: string): boolean {
  return digestText.test(text.slice(-200));
}

/**
 * The error for a request without the signature that a command needs; it names what looks like one.
 */
export function unsignedSample(sample: Sample): SampleError {
  const { signParam, params, extra, body } = sample;
  const headers = Object.entries(extra).flatMap((header): Header[] => {
    const parts = partsOf(...header);
    const named = parts.filter(([name]) => !/\.\d+$/.test(name));
    return parts.length > 1 && named.length > 0 ? named : [header];
  });
  const likely = [...params, ...jsonPairs(body ?? ''), ...headers].filter(
    ([name, value]) => signatureName.test(name) && name !== 'app_sign' && isDigestText(value),
  );
  const names = [...new Set(likely.map(([name]) => name))].map(
    (name) => `--sign-param ${quoteWhereNeeded(name)}`,
  );
  return new SampleError(
    `the sample has no signature: there is no ${JSON.stringify(signParam)} among its parameters and headers`,
    names.length > 0
      ? `Try ${names.join(' or ')}.`
      : (hiddenBody(sample) ??
          'Name the parameter, header or member of a JSON body that carries it by --sign-param.'),
  );
}

export const defaultSignParam = 'sign';
