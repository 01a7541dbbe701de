import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import { type Endpoint, formContentType } from '../protocol/endpoints.js';

/** A signed request, ready for the wire. */
export interface WireRequest {
  readonly method: 'GET' | 'PUT';
  readonly url: URL;
  readonly contentType: string | null;
  readonly body: string | null;
}

/** A request that was signed for one deployment. */
export interface SignedRequest {
  readonly endpoint: Endpoint;
  /** Behind the base URL: path and query. */
  readonly target: string;
  /** A form, where there is one. */
  readonly body: string | null;
  /** The user that a passback names (§4.2); undefined where it names none by `union_id`. */
  readonly unionId: string | undefined;
}

/** A signed request as it is sent to `baseUrl`. */
export function toWireRequest({ endpoint, target, body }: SignedRequest, baseUrl: string): WireRequest {
  const contentType = body === null ? null : formContentType;
  return { method: endpoint.method, url: new URL(baseUrl + target), contentType, body };
}

/** What came back, whatever it is. Headers are as received; a missing content type is the empty string. */
export interface WireAnswer {
  readonly httpStatus: number;
  readonly contentType: string;
  readonly contentEncoding: string;
  readonly date: string | undefined;
  readonly retryAfter: string | undefined;
  readonly location: string | undefined;
  readonly body: Buffer;
}

/**
 * Lets what has come in on idle connections be read before one of them is written on: the service may have closed it,
 * or sent what nobody asked for. The first turn of the event loop may have looked already, the second looks again.
 */
export async function noticeClosedConnections(): Promise<void> {
  await nextTurn();
  await nextTurn();
}

/** Names and values by turns: undici takes them faster than an object. */
const headers = ['accept', 'application/json', 'accept-encoding', 'identity'];
const formHeaders = [...headers, 'content-type', formContentType];

/**
 * The request as undici takes it, which follows no redirect: a signed URL belongs to one host. No encoding of the
 * answer is accepted: it is read as it is. `pathPrefix` is what the base URL has behind its `origin`.
 */
export function dispatchOptions(
  { endpoint: { method }, target, body }: SignedRequest,
  { origin, pathPrefix }: { readonly origin: string; readonly pathPrefix: string },
): Dispatcher.DispatchOptions {
  return {
    origin,
    path: pathPrefix + target,
    method,
    headers: body === null ? headers : formHeaders,
    body,
  };
}
