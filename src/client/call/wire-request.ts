import manifest from '../../../package.json' with { type: 'json' };
import { type Endpoint, formContentType } from '../../core/contract/endpoints.js';
import type { SignedRequest } from './sign-request.js';

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

/** A signed request as a sender sends it. */
export function toWireRequest(
  { endpoint, target, body }: SignedRequest,
  baseUrl: string,
  headers: RequestHeaders,
): WireRequest {
  return {
    method: endpoint.method,
    url: new URL(baseUrl + target),
    contentType: body === null ? null : formContentType,
    headers: Object.fromEntries(headers.additional),
    body,
  };
}

/**
 * Answers are read as they are: without a content encoding. Protection services may refuse requests
 * without a `User-Agent`.
 */
const usualHeaders = {
  accept: 'application/json',
  'accept-encoding': 'identity',
  'user-agent': `userinfo/${manifest.version}`,
};

/** Minimum length of a value that is hidden, in characters: shorter ones are words. */
const shortestHidden = 8;

/**
 * The headers of requests: names and values alternating, which undici processes faster than an
 * object.
 */
export class RequestHeaders {
  /** The headers besides those of every client, by their names in lower case. */
  readonly additional: ReadonlyMap<string, string>;
  /** All headers of a request without a form, names and values alternating. */
  readonly withoutForm: string[];
  /** All headers of a request with a form, names and values alternating. */
  readonly withForm: string[];

  constructor(additional: ReadonlyMap<string, string>) {
    this.additional = additional;
    this.withoutForm = [...new Map([...Object.entries(usualHeaders), ...additional])].flat();
    this.withForm = [...this.withoutForm, 'content-type', formContentType];
  }

  /** Hides their values in a text of an answer: gateways repeat the key that they refuse. */
  readonly hide = (text: string): string =>
    [...this.additional.values()]
      .flatMap((value) => value.split(' '))
      .filter((value) => value.length >= shortestHidden)
      .reduce((shown, value) => shown.replaceAll(value, '…'), text);
}
