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

/** A request for an endpoint as it came over HTTP, its body whole. */
export interface RawRequest {
  readonly endpoint: Endpoint;
  /** Path and query, as they were sent. */
  readonly target: string;
  /** The service as the client addressed it: `host:port`; `null` where that can be read in more than one way. */
  readonly host: string | null;
  readonly contentType: string | undefined;
  /** `null` where there is none, or where it is no form. */
  readonly body: Buffer | null;
}

/** A request taken apart, as far as it can be read: `null` for a name or value that cannot. */
export interface LooseRequest {
  readonly raw: RawRequest;
  readonly query: readonly DecodedPair[];
  readonly form: readonly DecodedPair[];
  readonly bodyText: string;
  /** More parameters than are taken: none was read. */
  readonly hasTooMany: boolean;
  /** What keeps the body from being read, in words. */
  readonly bodyFault: string | null;
  /** What was sent in its place of the endpoint's table; unreadable values stand as something. */
  readonly parameters: Parameters;
}

/** A request whose parameters keep the rules of §4 and §8. */
export interface ReceivedRequest {
  readonly endpoint: Endpoint;
  /** Those of the endpoint's table, each from its place. */
  readonly parameters: Parameters;
  /** Everything that was sent, as the signatures see it. */
  readonly signable: SignableRequest;
  /** The form alone. */
  readonly form: readonly Param[];
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const unreadable = '\ufffd';

/** Takes a request apart. Never throws: what is wrong with it is for `checkRequest` to say, in order. */
export function readRequest(raw: RawRequest): LooseRequest {
  const { endpoint, target } = raw;
  const at = target.indexOf('?');
  const queryText = at < 0 ? '' : target.slice(at + 1);
  const { text: bodyText, fault: bodyFault } = readBody(raw);
  const hasTooMany = countPairs(queryText) + countPairs(bodyText) > maxParameters;
  const query = hasTooMany ? [] : decodePairs(queryText);
  const form = hasTooMany ? [] : decodePairs(bodyText);
  const parameters = new Map([...inPlace(endpoint, 'query', query), ...inPlace(endpoint, 'form', form)]);
  return { raw, query, form, bodyText, bodyFault, hasTooMany, parameters };
}

/** Throws an InvalidInputError: 41301, 40001 for what is missing, 40002 for anything that is malformed. */
export function checkRequest(request: LooseRequest): ReceivedRequest {
  const { raw, bodyText, bodyFault, parameters } = request;
  const { endpoint, host } = raw;
  if (request.hasTooMany) {
    throw new InvalidInputError(`the request has more than ${maxParameters} parameters`, {
      resultCode: resultCode.tooLarge,
    });
  }
  // What was sent in the wrong place is not missing.
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
  // What is signed does not say where it was sent: in the other place it could be signed for, and not be acted on.
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

/** Only an endpoint with form parameters looks at the body, and at its type; a missing one is taken as form. */
function readBody({ endpoint, body, contentType }: RawRequest) {
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

/** In lower case; a type without a charset is read as UTF-8. */
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
