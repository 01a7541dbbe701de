import type { IncomingMessage } from 'node:http';
import { type Endpoint, formContentType, hasForm } from '../../core/contract/endpoints.js';
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
import type { Param, Place, SignableRequest } from '../../core/signing/request.js';
import { countPairs, type DecodedPair, decodePairs } from '../../core/support/percent-encoding.js';
import type { CheckedSettings } from '../settings.js';
import type { HttpExchange } from './exchange.js';

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

/** A parsed request that may break rules. */
export class ParsedRequest {
  /**
   * The parameters of the endpoint's table, each from its place; values that cannot be decoded have
   * a placeholder.
   */
  readonly parameters: Parameters;
  readonly #endpoint: Endpoint;
  readonly #exchange: HttpExchange;
  readonly #settings: ParserSettings;
  readonly #body: FormBody;
  readonly #hasTooMany: boolean;
  readonly #query: readonly DecodedPair[];
  readonly #form: readonly DecodedPair[];

  /** The body was read. It throws nothing: `check` reports the errors, in order. */
  constructor(endpoint: Endpoint, exchange: HttpExchange, settings: ParserSettings) {
    this.#endpoint = endpoint;
    this.#exchange = exchange;
    this.#settings = settings;
    this.#body = parseBody(endpoint, exchange);
    const count = countPairs(exchange.query) + countPairs(this.#body.text);
    this.#hasTooMany = count > maxParameters;
    const decode = (text: string) => (this.#hasTooMany ? [] : decodePairs(text));
    this.#query = decode(exchange.query);
    this.#form = decode(this.#body.text);
    this.parameters = this.#parametersOfTable();
  }

  /**
   * @throws InvalidInputError 41301, then 40001 for a missing parameter, then 40002 for a malformed
   * one
   */
  check(): ReceivedRequest {
    const endpoint = this.#endpoint;
    const { parameters } = this;
    if (this.#hasTooMany) {
      throw new InvalidInputError(`the request has more than ${maxParameters} parameters`, {
        resultCode: resultCode.tooLarge,
      });
    }
    this.#checkRequired();
    const host = addressedHost(this.#exchange.request);
    const query = decoded(this.#query);
    const form = decoded(this.#form).map(([name, value]): Param => [name, value, 'form']);
    const params = [...query, ...form];
    collectParameters(params);
    this.#checkPlaces('query', query);
    this.#checkPlaces('form', form);
    checkParameters(endpoint, parameters);
    checkScope(parameterText(parameters, 'scope'), this.#settings.platform.scopes);
    const signable = {
      method: endpoint.method,
      url: this.#baseUrl(host) + this.#exchange.path,
      query: this.#exchange.query,
      params,
      body: hasForm(endpoint) ? this.#body.text : null,
    };
    return { endpoint, parameters, signable, form };
  }

  /** Without a slash at its end. */
  #baseUrl(host: string): string {
    const { publicUrl } = this.#settings;
    return publicUrl === undefined ? `http://${host}` : publicUrl.replace(/(?<!\/)\/+$/, '');
  }

  /** The first of each name counts; a second one is refused. */
  #parametersOfTable(): Parameters {
    const parameters = new Map<string, string>();
    const add = (place: Place, pairs: readonly DecodedPair[]) => {
      for (const [name, value] of pairs) {
        if (name === null || parameters.has(name)) continue;
        if (placeOf(this.#endpoint, name) !== place) continue;
        parameters.set(name, value ?? unreadable);
      }
    };
    add('query', this.#query);
    add('form', this.#form);
    return parameters;
  }

  /** @throws InvalidInputError for a missing parameter, or for a body that is no form */
  #checkRequired(): void {
    // A parameter in the wrong place is not missing.
    const anywhere = [...this.#query, ...this.#form].map(
      ([name, value]) => [name ?? '', value ?? unreadable] as const,
    );
    const { fault } = this.#body;
    const required = fault === null ? this.#endpoint : withoutForm(this.#endpoint);
    checkRequired(required, new Map([...anywhere, ...this.parameters]));
    if (fault !== null) throw new InvalidInputError(fault);
  }

  /**
   * The signatures do not cover the place: in the other place, a parameter would be signed but
   * ignored.
   *
   * @throws InvalidInputError for a parameter of the other place, and for an unknown one unless the
   * platform ignores it
   */
  #checkPlaces(place: Place, params: readonly Param[]): void {
    const ignoresUnknown = this.#settings.platform.unknown_parameters === 'ignore';
    for (const [name] of params) {
      if (ignoresUnknown && placeOf(this.#endpoint, name) === undefined) continue;
      checkPlace(this.#endpoint, place, name);
    }
  }
}

type ParserSettings = Pick<CheckedSettings, 'publicUrl' | 'platform'>;

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
    { detail: 'scopeNotAccepted' },
  );
}

/** The text of a body, and why it is not a form, or `null`. */
interface FormBody {
  readonly text: string;
  readonly fault: string | null;
}

/** Only for endpoints with form parameters; a missing content type counts as form. */
function parseBody(endpoint: Endpoint, { request, body }: HttpExchange): FormBody {
  if (!hasForm(endpoint)) return { text: '', fault: null };
  const { type, charset } = parseContentType(request.headers['content-type'] || formContentType);
  if (type !== formContentType) return { text: '', fault: `the body is not ${formContentType}` };
  if (charset !== 'utf-8') {
    return { text: '', fault: `the body is in ${quoteName(charset)}, not in UTF-8` };
  }
  try {
    return { text: utf8.decode(body), fault: null };
  } catch {
    return { text: '', fault: 'the body is not UTF-8' };
  }
}

/** In lower case; the default charset is UTF-8. */
function parseContentType(text: string): { readonly type: string; readonly charset: string } {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const values = parameters.map((parameter) => /^charset\s*=\s*(.*)$/s.exec(parameter)?.[1]);
  const charset = values.find((value) => value !== undefined)?.replace(/^"(.*)"$/, '$1');
  if (charset === undefined || charset === 'utf8') return { type, charset: 'utf-8' };
  return { type, charset };
}

function placeOf(endpoint: Endpoint, name: string): Place | undefined {
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
