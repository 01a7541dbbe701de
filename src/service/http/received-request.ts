import { defaultScope, type Endpoint, formContentType, type Parameter } from '../../protocol/endpoints.js';
import { InvalidInputError } from '../../protocol/errors.js';
import { maxParameters } from '../../protocol/limits.js';
import {
  checkParameters,
  checkPlace,
  checkRequired,
  collectParameters,
  type Parameters,
  parameterText,
} from '../../protocol/parameters.js';
import { countPairs, type DecodedPair, decodePairs } from '../../protocol/percent-encoding.js';
import { resultCode } from '../../protocol/result-codes.js';
import { quoteName } from '../../protocol/text.js';
import type { Param, SignableRequest } from '../../signing/request.js';

/** An HTTP request to an endpoint, with its complete body. */
export interface RawRequest {
  readonly endpoint: Endpoint;
  /** Path and query as sent. */
  readonly target: string;
  /** The `Host` of the request: `host:port`; `null` if it is ambiguous. */
  readonly host: string | null;
  readonly contentType: string | undefined;
  /** `null` if there is none, or if it is not a form. */
  readonly body: Buffer | null;
}

/** A parsed request; `null` stands for names and values that cannot be decoded. */
export interface ParsedRequest {
  readonly raw: RawRequest;
  readonly query: readonly DecodedPair[];
  readonly form: readonly DecodedPair[];
  readonly bodyText: string;
  /** Whether it has more parameters than allowed: none was parsed. */
  readonly hasTooMany: boolean;
  /** Why the body cannot be parsed. */
  readonly bodyFault: string | null;
  /**
   * The parameters of the endpoint's table, each from its place; values that cannot be decoded have a placeholder.
   */
  readonly parameters: Parameters;
}

/** A request whose parameters conform to §4 and §8. */
export interface ReceivedRequest {
  readonly endpoint: Endpoint;
  /** The parameters of the endpoint's table, each from its place. */
  readonly parameters: Parameters;
  /** Everything that was sent, as input of the signatures. */
  readonly signable: SignableRequest;
  /** The parameters of the form. */
  readonly form: readonly Param[];
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const unreadable = '\ufffd';

/** Parses a request. It never throws: `checkRequest` reports the errors, in order. */
export function parseRequest(raw: RawRequest): ParsedRequest {
  const { endpoint, target } = raw;
  const at = target.indexOf('?');
  const queryText = at < 0 ? '' : target.slice(at + 1);
  const { text: bodyText, fault: bodyFault } = parseBody(raw);
  const hasTooMany = countPairs(queryText) + countPairs(bodyText) > maxParameters;
  const query = hasTooMany ? [] : decodePairs(queryText);
  const form = hasTooMany ? [] : decodePairs(bodyText);
  const parameters = new Map([...inPlace(endpoint, 'query', query), ...inPlace(endpoint, 'form', form)]);
  return { raw, query, form, bodyText, bodyFault, hasTooMany, parameters };
}

/** @throws InvalidInputError 41301, then 40001 for a missing parameter, then 40002 for a malformed one */
export function checkRequest(request: ParsedRequest): ReceivedRequest {
  const { raw, bodyText, bodyFault, parameters } = request;
  const { endpoint, host } = raw;
  if (request.hasTooMany) {
    throw new InvalidInputError(`the request has more than ${maxParameters} parameters`, {
      resultCode: resultCode.tooLarge,
    });
  }
  // A parameter in the wrong place is not missing.
  const anywhere = [...request.query, ...request.form].map(
    ([name, value]) => [name ?? '', value ?? unreadable] as const,
  );
  checkRequired(bodyFault === null ? endpoint : withoutForm(endpoint), new Map([...anywhere, ...parameters]));
  if (bodyFault !== null) throw new InvalidInputError(bodyFault);
  if (host === null) throw new InvalidInputError('the Host header does not name one host');
  const query = decoded(request.query);
  const form = decoded(request.form);
  const params = [...query, ...form];
  collectParameters(params);
  // The signatures do not cover the place: in the other place, a parameter would be signed but ignored.
  for (const [name] of query) checkPlace(endpoint, 'query', name);
  for (const [name] of form) checkPlace(endpoint, 'form', name);
  checkParameters(endpoint, parameters);
  checkScope(parameterText(parameters, 'scope'));
  const signable = {
    method: endpoint.method,
    url: `http://${host}${raw.target.split('?', 1)[0]}`,
    params,
    body: hasForm(endpoint) ? bodyText : null,
    extra: {},
  };
  return { endpoint, parameters, signable, form };
}

/** §4.1 lists one authorization type. */
function checkScope(scope: string): void {
  if (scope === '' || scope === defaultScope) return;
  throw new InvalidInputError(`scope ${quoteName(scope)} is not understood; it can be ${defaultScope}`);
}

/** Only for endpoints with form parameters; a missing content type counts as form. */
function parseBody({ endpoint, body, contentType }: RawRequest) {
  if (!hasForm(endpoint)) return { text: '', fault: null };
  const { type, charset } = parseContentType(contentType || formContentType);
  if (type !== formContentType) return { text: '', fault: `the body is not ${formContentType}` };
  if (charset !== 'utf-8') return { text: '', fault: `the body is in ${quoteName(charset)}, not in UTF-8` };
  try {
    return { text: utf8.decode(body ?? Buffer.alloc(0)), fault: null };
  } catch {
    return { text: '', fault: 'the body is not UTF-8' };
  }
}

/** In lower case; the default charset is UTF-8. */
function parseContentType(text: string): { readonly type: string; readonly charset: string } {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const found = parameters.map((parameter) => /^charset\s*=\s*(.*)$/.exec(parameter)?.[1]);
  const charset = found.find((value) => value !== undefined)?.replace(/^"(.*)"$/, '$1') ?? 'utf-8';
  return { type, charset: charset === 'utf8' ? 'utf-8' : charset };
}

function* inPlace(
  endpoint: Endpoint,
  place: Parameter['in'],
  pairs: readonly DecodedPair[],
): Generator<[string, string]> {
  for (const { name } of endpoint.parameters.filter((parameter) => parameter.in === place)) {
    const pair = pairs.find(([sent]) => sent === name);
    if (pair !== undefined) yield [name, pair[1] ?? unreadable];
  }
}

function decoded(pairs: readonly DecodedPair[]): Param[] {
  return pairs.map(([name, value]) => {
    if (name === null) throw new InvalidInputError('a parameter name is not percent-encoded UTF-8');
    if (value !== null) return [name, value];
    throw new InvalidInputError(`parameter ${quoteName(name)} is not percent-encoded UTF-8`);
  });
}

function hasForm(endpoint: Endpoint): boolean {
  return endpoint.parameters.some((parameter) => parameter.in === 'form');
}

function withoutForm(endpoint: Endpoint): Endpoint {
  return { ...endpoint, parameters: endpoint.parameters.filter((parameter) => parameter.in === 'query') };
}
