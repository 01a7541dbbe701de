import type { IncomingMessage } from 'node:http';
import {
  type Endpoint,
  formContentType,
  hasForm,
  type Parameter,
} from '../../core/contract/endpoints.js';
import { InvalidInputError, quoteName } from '../../core/contract/errors.js';
import { maxParameters } from '../../core/contract/limits.js';
import {
  checkParameters,
  checkPlace,
  checkRequired,
  collectParameters,
  type Parameters,
  parameterText,
} from '../../core/contract/parameters.js';
import { resultCode } from '../../core/contract/result-codes.js';
import type { Platform } from '../../core/platform/platform.js';
import type { Param, SignableRequest } from '../../core/signing/request.js';
import { countPairs, type DecodedPair, decodePairs } from '../../core/support/percent-encoding.js';
import type { CheckedSettings } from '../settings.js';
import type { HttpExchange } from './exchange.js';

/** A parsed request that may break rules. */
interface ParsedRequest {
  /**
   * The parameters of the endpoint's table, each from its place; values that cannot be decoded have
   * a placeholder.
   */
  readonly parameters: Parameters;
  /**
   * @throws InvalidInputError 41301, then 40001 for a missing parameter, then 40002 for a malformed
   * one
   */
  check(): ReceivedRequest;
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

/**
 * Parses a request whose body was read. It never throws: `check` reports the errors, in order.
 */
export function parseRequest(
  endpoint: Endpoint,
  exchange: HttpExchange,
  { publicUrl, platform }: Pick<CheckedSettings, 'publicUrl' | 'platform'>,
): ParsedRequest {
  const { path, query: queryText, request } = exchange;
  const { text: bodyText, fault: bodyFault } = parseBody(endpoint, exchange);
  const hasTooMany = countPairs(queryText) + countPairs(bodyText) > maxParameters;
  const queryPairs = hasTooMany ? [] : decodePairs(queryText);
  const formPairs = hasTooMany ? [] : decodePairs(bodyText);
  const parameters = new Map<string, string>();
  const places = [['query', queryPairs] as const, ['form', formPairs] as const];
  for (const [place, pairs] of places) {
    for (const [name, value] of pairs) {
      if (name === null || parameters.has(name) || placeOf(endpoint, name) !== place) continue;
      parameters.set(name, value ?? unreadable);
    }
  }
  const check = () => {
    if (hasTooMany) {
      throw new InvalidInputError(`the request has more than ${maxParameters} parameters`, {
        resultCode: resultCode.tooLarge,
      });
    }
    // A parameter in the wrong place is not missing.
    const anywhere = [...queryPairs, ...formPairs].map(
      ([name, value]) => [name ?? '', value ?? unreadable] as const,
    );
    const required = bodyFault === null ? endpoint : withoutForm(endpoint);
    checkRequired(required, new Map([...anywhere, ...parameters]));
    if (bodyFault !== null) throw new InvalidInputError(bodyFault);
    const host = addressedHost(request);
    const query = decoded(queryPairs);
    const form = decoded(formPairs).map(([name, value]): Param => [name, value, 'form']);
    const params = [...query, ...form];
    collectParameters(params);
    // The signatures do not cover the place: in the other place, a parameter would be signed but
    // ignored.
    for (const [place, pairs] of [['query', query] as const, ['form', form] as const]) {
      for (const [name] of pairs) {
        const isIgnored =
          platform.unknown_parameters === 'ignore' && placeOf(endpoint, name) === undefined;
        if (!isIgnored) checkPlace(endpoint, place, name);
      }
    }
    checkParameters(endpoint, parameters);
    checkScope(parameterText(parameters, 'scope'), platform.scopes);
    const body = hasForm(endpoint) ? bodyText : null;
    const signable = {
      method: endpoint.method,
      url: `${publicUrl?.replace(/(?<!\/)\/+$/, '') ?? `http://${host}`}${path}`,
      query: queryText,
      params,
      body,
      extra: {},
    };
    return { endpoint, parameters, signable, form };
  };
  return { parameters, check };
}

/** The `Host` header. RFC 9112 §3.2: an invalid one is ambiguous. */
function addressedHost({ headers, socket }: IncomingMessage): string {
  const { host = `${socket.localAddress}:${socket.localPort}` } = headers;
  if (/^[\w.~%!$&'()*+,;=:[\]-]*$/.test(host)) return host;
  throw new InvalidInputError('the Host header does not name one host');
}

/** §4.1 lists one authorization type; a platform may have others. */
function checkScope(scope: string, scopes: Platform['scopes']): void {
  if (scope === '' || scopes === 'any' || scopes.includes(scope)) return;
  throw new InvalidInputError(
    `scope ${quoteName(scope)} is not understood; it can be ${scopes.join(', ')}`,
    {
      detail: 'scopeNotAccepted',
    },
  );
}

/** Only for endpoints with form parameters; a missing content type counts as form. */
function parseBody(endpoint: Endpoint, { request: { headers }, body }: HttpExchange) {
  if (!hasForm(endpoint)) return { text: '', fault: null };
  const { type, charset } = parseContentType(headers['content-type'] || formContentType);
  if (type !== formContentType) return { text: '', fault: `the body is not ${formContentType}` };
  if (charset !== 'utf-8')
    return { text: '', fault: `the body is in ${quoteName(charset)}, not in UTF-8` };
  try {
    return { text: utf8.decode(body), fault: null };
  } catch {
    return { text: '', fault: 'the body is not UTF-8' };
  }
}

/** In lower case; the default charset is UTF-8. */
function parseContentType(text: string): { readonly type: string; readonly charset: string } {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const found = parameters.map((parameter) => /^charset\s*=\s*(.*)$/s.exec(parameter)?.[1]);
  const charset = found.find((value) => value !== undefined)?.replace(/^"(.*)"$/, '$1') ?? 'utf-8';
  return { type, charset: charset === 'utf8' ? 'utf-8' : charset };
}

function placeOf(endpoint: Endpoint, name: string): Parameter['in'] | undefined {
  return endpoint.parameters.find((parameter) => parameter.name === name)?.in;
}

function decoded(pairs: readonly DecodedPair[]): Param[] {
  return pairs.map(([name, value]) => {
    if (name === null) throw new InvalidInputError('a parameter name is not percent-encoded UTF-8');
    if (value !== null) return [name, value];
    throw new InvalidInputError(`parameter ${quoteName(name)} is not percent-encoded UTF-8`);
  });
}

function withoutForm(endpoint: Endpoint): Endpoint {
  return {
    ...endpoint,
    parameters: endpoint.parameters.filter((parameter) => parameter.in === 'query'),
  };
}
