import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Dispatcher } from 'undici';

/** A signed request, ready for the wire. */
export interface WireRequest {
  readonly method: 'GET' | 'PUT';
  readonly url: URL;
  readonly contentType: string | null;
  readonly body: string | null;
}

/** What came back, whatever it is. Headers are as received; a missing content type is the empty string. */
export interface WireAnswer {
  readonly httpStatus: number;
  readonly contentType: string;
  readonly contentEncoding: string;
  readonly date: string | undefined;
  readonly retryAfter: string | undefined;
  readonly location: string | undefined;
  readonly body: Uint8Array;
}

/**
 * Lets what has come in on idle connections be read before one of them is written on: the service may have closed it,
 * or sent what nobody asked for. The first turn of the event loop may have looked already, the second looks again.
 */
export async function noticeClosedConnections(): Promise<void> {
  await nextTurn();
  await nextTurn();
}

/**
 * The request as undici takes it, which follows no redirect: a signed URL belongs to one host. No encoding of the
 * answer is accepted: it is read as it is.
 */
export function dispatchOptions({ method, url, contentType, body }: WireRequest): Dispatcher.DispatchOptions {
  return {
    origin: url.origin,
    path: url.pathname + url.search,
    method,
    headers: {
      accept: 'application/json',
      'accept-encoding': 'identity',
      ...(contentType === null ? {} : { 'content-type': contentType }),
    },
    body,
  };
}
