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
  const contentType = body === null ? null : formContentType;
  const url = new URL(baseUrl + target);
  return {
    method: endpoint.method,
    url,
    contentType,
    headers: Object.fromEntries(headers.given),
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

/** Shorter values are words, and no secrets. */
const shortestHidden = 8;

/**
 * The headers of requests: names and values alternating, which undici processes faster than an
 * object.
 */
export class RequestHeaders {
  /** Additional headers, by their names in lower case. */
  readonly given: ReadonlyMap<string, string>;
  readonly withoutForm: string[];
  readonly withForm: string[];

  constructor(given: ReadonlyMap<string, string>) {
    this.given = given;
    this.withoutForm = [...new Map([...Object.entries(usualHeaders), ...given])].flat();
    this.withForm = [...this.withoutForm, 'content-type', formContentType];
  }

  /** Hides their values in a text of an answer: gateways repeat the key that they refuse. */
  readonly hide = (text: string): string =>
    [...this.given.values()]
      .flatMap((value) => value.split(' '))
      .filter((value) => value.length >= shortestHidden)
      .reduce((shown, value) => shown.replaceAll(value, '…'), text);
}
