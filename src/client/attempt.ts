import { InvalidInputError } from '../protocol/errors.js';
import { type AnswerHeaders, headerOf, type WireAnswer } from './answer.js';
import type { DispatchController, DispatchHandler } from './dispatcher.js';
import { CancelledError, NoAnswerError } from './errors.js';
import { type NoAnswerEvent, type RequestEvent, showAnswer, showParameters } from './hooks.js';
import { parseAnswer } from './parse-answer.js';
import { dispatchOptions, type PlainRequest, type SignedRequest } from './request.js';
import { type AttemptOutcome, isSuccess, mayRetry, parseRetryAfter } from './retry.js';
import type { Sender } from './sender.js';
import { TunnelError, toNoAnswerError } from './transport-errors.js';

/** The outcome of one attempt. */
export interface AttemptResult {
  readonly outcome: AttemptOutcome;
  /** `Retry-After` of the answer, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** Whether the caller was refused with a value of a header that a function renews: it was not carried out. */
  readonly isOutdated: boolean;
}

/** Maximum size of an answer's body, in bytes. A larger one is not an envelope, and is not read to its end. */
const maxAnswerBytes = 16 * 1024 * 1024;

/** A request to send, and the function that receives the result. */
interface NewAttempt {
  readonly sender: Sender;
  readonly request: SignedRequest;
  /** 1 for the first of a call or a row. */
  readonly number: number;
  readonly done: (result: AttemptResult) => void;
  /** `context` of the call's options. */
  readonly context: unknown;
}

/** One request in flight: the handler of its answer. `done` is called once, unless it is cancelled. */
export class Attempt implements DispatchHandler {
  readonly #sender: Sender;
  readonly #request: SignedRequest;
  readonly #attempt: number;
  readonly #done: (result: AttemptResult) => void;
  readonly #context: unknown;
  readonly #sentAt = performance.now();
  #controller: DispatchController | undefined;
  #httpStatus = 0;
  #headers: AnswerHeaders | undefined;
  /** The body so far: the first `#size` bytes. */
  #body: Buffer = Buffer.alloc(0);
  #size = 0;
  #isOver = false;
  /** Whether the request is being written to a connection, or was: it may have arrived. */
  hasStarted = false;

  private constructor({ sender, request, number, done, context }: NewAttempt) {
    this.#sender = sender;
    this.#request = request;
    this.#attempt = number;
    this.#done = done;
    this.#context = context;
  }

  /**
   * Sends a request.
   *
   * @throws InvalidInputError if a dispatcher of the caller rejects the request
   */
  static send(given: NewAttempt): Attempt {
    const attempt = new Attempt(given);
    attempt.#dispatch();
    return attempt;
  }

  #dispatch(): void {
    const sender = this.#sender;
    sender.hooks.call('onRequest', () => this.#event());
    try {
      sender.connections.dispatcher.dispatch(dispatchOptions(this.#request, sender), this);
    } catch (cause) {
      const error = new InvalidInputError('the dispatcher rejects the request', {
        hint: 'Pass a dispatcher of undici 7 or later, or none.',
        cause,
      });
      this.#reportNoAnswer('connect', { received: false, message: error.message });
      throw error;
    }
  }

  /** Abandons the attempt because it took longer than `limitMs`. */
  timeOut(limitMs: number): void {
    this.#abandon(timedOut(this.#sender, this.#request, limitMs, this.hasStarted));
  }

  /** Abandons the attempt because the caller cancelled it: `done` is not called. */
  cancel(): void {
    this.#abandon(new CancelledError(undefined, this.hasStarted));
  }

  onRequestStart(controller: DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) controller.abort(new Error('abandoned'));
    else this.hasStarted = true;
  }

  onResponseStart(
    _: DispatchController,
    httpStatus: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    this.#httpStatus = httpStatus;
    this.#headers = headers;
    // A proxy that refuses the password answers the request itself, and does not forward it.
    if (httpStatus === 407 && this.#sender.connections.isForwarded)
      this.#abandon(this.#toNoAnswerError(TunnelError.refused(httpStatus)));
    this.#refuseBeyond(Number(headerOf(headers, 'content-length')));
  }

  onResponseData(_: DispatchController, bytes: Uint8Array): void {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    const size = this.#size + chunk.length;
    this.#refuseBeyond(size);
    if (this.#isOver) return;
    // An answer that came in one chunk, as nearly all do, is not copied. Of more, only their bytes are kept: a chunk of
    // one byte takes hundreds.
    if (this.#size === 0) {
      this.#body = chunk;
    } else {
      if (size > this.#body.length) this.#grow(size);
      chunk.copy(this.#body, this.#size);
    }
    this.#size = size;
  }

  onResponseEnd(): void {
    const headers = this.#headers;
    if (this.#isOver || headers === undefined) return;
    this.#isOver = true;
    const body = this.#body.subarray(0, this.#size);
    try {
      this.#answered({ httpStatus: this.#httpStatus, headers, body });
    } catch (cause) {
      // undici would swallow the error, and the request would never end.
      this.#failed(this.#notEnvelope('answered, but handling the answer failed', cause));
    }
  }

  onResponseError(_: DispatchController, error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#failed(this.#toNoAnswerError(error));
  }

  #toNoAnswerError(error: Error): NoAnswerError {
    const { host, connections } = this.#sender;
    const { proxy } = connections;
    const { endpoint } = this.#request;
    return toNoAnswerError(error, { host, proxy, started: this.hasStarted, endpoint });
  }

  #grow(size: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.min(maxAnswerBytes, 2 * size));
    this.#body.copy(larger, 0, 0, this.#size);
    this.#body = larger;
  }

  #refuseBeyond(bytes: number): void {
    if (bytes > maxAnswerBytes)
      this.#abandon(this.#notEnvelope(`answered with more than ${maxAnswerBytes} bytes`));
  }

  #notEnvelope(what: string, cause?: unknown): NoAnswerError {
    return new NoAnswerError(`${this.#sender.host} ${what}`, {
      reason: 'not-envelope',
      received: true,
      hint:
        cause === undefined
          ? 'Check that the base URL is that of the service.'
          : 'The cause says why; whether the request was carried out is not known.',
      cause,
    });
  }

  /** Ends the attempt: the request is not written if it was not yet. */
  #abandon(error: NoAnswerError | CancelledError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#body = Buffer.alloc(0);
    this.#controller?.abort(error);
    this.#failed(error);
  }

  #answered(answer: WireAnswer): void {
    const sender = this.#sender;
    const outcome = this.#describe(parseAnswer(answer, this.#request, this.#attempt, sender));
    const retryAfterMs = parseRetryAfter(answer.headers, sender.now());
    sender.hooks.call('onResponse', () => ({
      ...this.#event(),
      ...showAnswer(answer, outcome),
      durationMs: this.#durationMs(),
    }));
    const isOutdated = sender.headerValues.isOutdated(outcome, this.#sentAt);
    this.#done({ outcome, retryAfterMs, isOutdated });
  }

  #failed(error: NoAnswerError | CancelledError): void {
    const isCancelled = error instanceof CancelledError;
    this.#reportNoAnswer(isCancelled ? 'cancelled' : error.reason, error);
    if (!isCancelled)
      this.#done({ outcome: this.#describe(error), retryAfterMs: undefined, isOutdated: false });
  }

  /** Sets the details of an error. */
  #describe<Outcome extends AttemptOutcome>(outcome: Outcome): Outcome {
    if (isSuccess(outcome)) return outcome;
    const { endpoint } = this.#request;
    outcome.withDetails({
      operation: endpoint.operation,
      attempts: this.#attempt,
      requestId: this.#request.random,
      retryable: mayRetry(endpoint, outcome),
    });
    return outcome;
  }

  #reportNoAnswer(
    reason: NoAnswerEvent['reason'],
    { received, message }: Pick<NoAnswerEvent, 'received' | 'message'>,
  ): void {
    this.#sender.hooks.call('onNoAnswer', () => ({
      ...this.#event(),
      reason,
      received,
      message,
      durationMs: this.#durationMs(),
    }));
  }

  #event(): RequestEvent {
    const { operation, method, path } = this.#request.endpoint;
    const url = this.#sender.baseUrl + path;
    return {
      operation,
      method,
      url,
      attempt: this.#attempt,
      requestId: this.#request.random,
      context: this.#context,
      parameters: showParameters(this.#request),
    };
  }

  #durationMs(): number {
    return Math.round(performance.now() - this.#sentAt);
  }
}

/** The error of a call that took too long; `received` says whether the service may have acted on it. */
export function timedOut(
  { host, connections }: Pick<Sender, 'host' | 'connections'>,
  { endpoint }: Pick<PlainRequest, 'endpoint'>,
  limitMs: number,
  received: boolean,
): NoAnswerError {
  const route = connections.proxy === null ? 'the network' : 'the proxy';
  return new NoAnswerError(`${host} did not answer within ${limitMs} ms`, {
    reason: 'timeout',
    received,
    hint: received
      ? `${endpoint.doubt} Increase the timeout, or check that the base URL is right and the service is up.`
      : `The request was not sent: check the base URL, ${route}, and that the service is up.`,
  });
}
