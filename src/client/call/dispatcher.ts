import type { Endpoint } from '../../core/contract/endpoints.js';

/**
 * What sends the requests of a client: a dispatcher of undici 7 or later (an `Agent`, a `Pool`, a
 * `MockAgent`), or an object with its method `dispatch`. Its types are written here so that no
 * program needs those of undici.
 *
 * @example
 * import { MockAgent } from 'undici';
 * const dispatcher: Dispatcher = new MockAgent();
 */
export interface Dispatcher {
  /**
   * Starts a request, and reports to the handler how it goes on. A result of `false` has no effect.
   */
  dispatch(request: DispatchedRequest, handler: DispatchHandler): boolean;
}

/** A request that a dispatcher sends. */
export interface DispatchedRequest {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path and query. */
  readonly path: string;
  /** The HTTP method. */
  readonly method: Endpoint['method'];
  /** Alternating names and values. */
  readonly headers: string[];
  /** The form of a passback; `null` for a request without a body. */
  readonly body: string | null;
}

/** Abandons a request. */
export interface DispatchController {
  /** Abandons the request: nothing more is reported than this reason, as an error. */
  abort(reason: Error): void;
}

/**
 * Receives the answer to a request: its start, its head, the parts of its body, and its end or an
 * error.
 */
export interface DispatchHandler {
  /** The request is about to be written to a connection. */
  onRequestStart(controller: DispatchController, context: unknown): void;
  /** `headers` by their names in lower case. */
  onResponseStart(
    controller: DispatchController,
    httpStatus: number,
    headers: Record<string, string | string[] | undefined>,
  ): void;
  /** A part of the body came. */
  onResponseData(controller: DispatchController, chunk: Uint8Array): void;
  /** The answer is complete. */
  onResponseEnd(controller: DispatchController, trailers: object): void;
  /** The request failed, or was abandoned: nothing follows. */
  onResponseError(controller: DispatchController, error: Error): void;
}
