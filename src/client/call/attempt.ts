import type { Endpoint } from '../../core/contract/endpoints.js';
import { InvalidInputError } from '../../core/contract/errors.js';
import { isPromise } from '../../core/signing/signer.js';
import { type AnswerHeaders, headerOf, type WireAnswer } from './answer.js';
import { maxAnswerBytes } from './decode-body.js';
import type { DispatchController, DispatchedRequest, DispatchHandler } from './dispatcher.js';
import { CancelledError, NoAnswerError } from './errors.js';
import type { RequestHeaders } from './header-values.js';
import { type NoAnswerEvent, type RequestEvent, showAnswer, showParameters } from './hooks.js';
import { parseAnswer } from './parse-answer.js';
import { notProvided } from './renewed-value.js';
import type { PlainRequest } from './request.js';
import { type AttemptOutcome, isSuccess, mayRetry, parseRetryAfter } from './retry.js';
import type { Sender } from './sender.js';
import type { SignedRequest } from './sign-request.js';
import { TunnelError, toNoAnswerError } from './transport-errors.js';

/** The outcome of one attempt. */
export interface AttemptResult {
  readonly outcome: AttemptOutcome;
  /** `Retry-After` of the answer, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /**
   * Whether the caller was refused with a value of a header that a function renews: it was not
   * carried out.
   */
  readonly isOutdated: boolean;
}

/** A request to send, and the function that receives the result. */
interface AttemptOptions {
  readonly sender: Sender;
  readonly request: PlainRequest;
  /** The headers of its call or run, by their names in lower case. */
  readonly headers?: ReadonlyMap<string, string> | undefined;
  /** 1 for the first of a call or a row. */
  readonly number: number;
  readonly done: (result: AttemptResult) => void;
  /** `context` of the call's options. */
  readonly context: unknown;
}

/**
 * One request in flight: the handler of its answer. `done` is called once, unless it is cancelled.
 */
export class Attempt implements DispatchHandler {
  readonly #options: AttemptOptions;
  readonly #sender: Sender;
  readonly #endpoint: Endpoint;
  /** `null` while a signer has not returned its signature. */
  #request: SignedRequest | null = null;
  readonly #requestHeaders: RequestHeaders;
  readonly #sentAt = performance.now();
  #controller: DispatchController | undefined;
  #httpStatus = 0;
  #answerHeaders: AnswerHeaders | undefined;
  /** The body so far: the first `#size` bytes. */
  #body: Buffer = Buffer.alloc(0);
  #size = 0;
  #isOver = false;
  /** Whether the request is being written to a connection, or was: it may have arrived. */
  hasStarted = false;

  private constructor(options: AttemptOptions) {
    this.#options = options;
    this.#sender = options.sender;
    this.#endpoint = options.request.endpoint;
    this.#requestHeaders = options.sender.headersWith(options.headers);
  }

  /**
   * Signs a request and sends it.
   *
   * @throws InvalidInputError for a request that breaks a rule of §4 or §8, or one that a
   * dispatcher of the caller rejects
   */
  static send(options: AttemptOptions): Attempt {
    const attempt = new Attempt(options);
    const signed = options.sender.signAttempt(options.request);
    if (isPromise(signed)) {
      signed.then(
        (request) => attempt.#dispatchLater(request),
        (cause) => attempt.#unsent(cause),
      );
    } else {
      attempt.#dispatch(signed);
    }
    return attempt;
  }

  /** The `random` of the request; undefined if it is not signed yet. */
  get requestId(): string | undefined {
    return this.#request?.random;
  }

  #dispatchLater(request: SignedRequest): void {
    if (this.#isOver) return;
    try {
      this.#dispatch(request);
    } catch (error) {
      this.#unsent(error);
    }
  }

  /** Ends the attempt because no signature came. */
  #unsent(cause: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const hint = 'Its error is the cause; try again when it returns a signature.';
    const fault = cause instanceof InvalidInputError ? cause.message : 'failed';
    this.#failed(notProvided('the signer', fault, hint, cause));
  }

  #dispatch(request: SignedRequest): void {
    this.#request = request;
    const sender = this.#sender;
    const { target, body } = request;
    sender.hooks.emit('onRequest', () => this.#event(request));
    try {
      // undici follows no redirect: a signed URL belongs to one host.
      const dispatched: DispatchedRequest = {
        origin: sender.address.origin,
        path: sender.address.pathPrefix + target,
        method: this.#endpoint.method,
        headers: body === null ? this.#requestHeaders.withoutForm : this.#requestHeaders.withForm,
        body,
      };
      sender.connections.dispatcher.dispatch(dispatched, this);
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
    this.#abandon(timedOut(this.#sender, this.#endpoint, limitMs, this.hasStarted));
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
    this.#sender.wasAnswered = true;
    this.#answerHeaders = headers;
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
    // An answer that came in one chunk, as nearly all do, is not copied. Of more, only their bytes
    // are kept: a chunk of one byte takes hundreds.
    if (this.#size === 0) {
      this.#body = chunk;
    } else {
      if (size > this.#body.length) this.#grow(size);
      chunk.copy(this.#body, this.#size);
    }
    this.#size = size;
  }

  onResponseEnd(): void {
    const headers = this.#answerHeaders;
    if (this.#isOver || headers === undefined) return;
    this.#isOver = true;
    const body = this.#body.subarray(0, this.#size);
    try {
      if (this.#request !== null)
        this.#answered({ httpStatus: this.#httpStatus, headers, body }, this.#request);
    } catch (cause) {
      // undici would swallow the error, and the request would never end.
      this.#failed(
        new NoAnswerError(`${this.#sender.host} answered, but handling the answer failed`, {
          reason: 'not-envelope',
          received: true,
          hint: 'The cause says why; whether the request was carried out is not known.',
          cause,
        }),
      );
    }
  }

  onResponseError(_: DispatchController, error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#failed(this.#toNoAnswerError(error));
  }

  #toNoAnswerError(error: Error): NoAnswerError {
    const { host, connections, wasAnswered } = this.#sender;
    return toNoAnswerError(error, {
      isOwn: connections.isOwn,
      mayWantCertificate: connections.mayWantCertificate && !wasAnswered,
      host,
      proxy: connections.proxy,
      started: this.hasStarted,
      endpoint: this.#endpoint,
    });
  }

  #grow(size: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.min(maxAnswerBytes, 2 * size));
    this.#body.copy(larger, 0, 0, this.#size);
    this.#body = larger;
  }

  /** Abandons an answer of more bytes than are read; `bytes` is NaN if their number is not known. */
  #refuseBeyond(bytes: number): void {
    if (Number.isNaN(bytes) || bytes <= maxAnswerBytes) return;
    const { host } = this.#sender;
    this.#abandon(
      new NoAnswerError(`${host} answered with more than ${maxAnswerBytes} bytes`, {
        reason: 'not-envelope',
        received: true,
        hint: `${this.#endpoint.doubt} Check that the base URL is that of the service.`,
      }),
    );
  }

  /** Ends the attempt: the request is not written if it was not yet. */
  #abandon(error: NoAnswerError | CancelledError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#body = Buffer.alloc(0);
    this.#controller?.abort(error);
    this.#failed(error);
  }

  #answered(answer: WireAnswer, request: SignedRequest): void {
    const sender = this.#sender;
    const retryAfterMs = parseRetryAfter(answer.headers, sender.now());
    const { hide } = this.#requestHeaders;
    const attempt = this.#options.number;
    const parsed = parseAnswer(answer, { request, attempt, sender, hide });
    const outcome = this.#setDetails(parsed, retryAfterMs);
    sender.hooks.emit('onResponse', () => ({
      ...this.#event(request),
      ...showAnswer(answer, outcome, hide),
      durationMs: this.#durationMs(),
    }));
    const isOutdated = sender.noteAnswer(outcome, this.#sentAt) === 'send again';
    this.#options.done({ outcome, retryAfterMs, isOutdated });
  }

  #failed(error: NoAnswerError | CancelledError): void {
    if (error instanceof CancelledError) {
      this.#reportNoAnswer('cancelled', error);
      return;
    }
    this.#reportNoAnswer(error.reason, error);
    const outcome = this.#setDetails(error);
    this.#options.done({ outcome, retryAfterMs: undefined, isOutdated: false });
  }

  /** Sets the details of an error. */
  #setDetails<Outcome extends AttemptOutcome>(outcome: Outcome, retryAfterMs?: number): Outcome {
    if (isSuccess(outcome)) return outcome;
    outcome.setDetails({
      operation: this.#endpoint.operation,
      attempts: this.#options.number,
      requestId: this.requestId,
      retryable: mayRetry(this.#endpoint, outcome),
      retryAfterMs,
    });
    return outcome;
  }

  #reportNoAnswer(
    reason: NoAnswerEvent['reason'],
    { received, message }: Pick<NoAnswerEvent, 'received' | 'message'>,
  ): void {
    const request = this.#request;
    // Nothing was about to be sent.
    if (request === null) return;
    this.#sender.hooks.emit('onNoAnswer', () => ({
      ...this.#event(request),
      reason,
      received,
      message,
      durationMs: this.#durationMs(),
    }));
  }

  #event(request: SignedRequest): RequestEvent {
    const { operation, method, path } = this.#endpoint;
    const url = this.#sender.baseUrl + path;
    return {
      operation,
      method,
      url,
      attempt: this.#options.number,
      requestId: request.random,
      context: this.#options.context,
      parameters: showParameters(request),
    };
  }

  #durationMs(): number {
    return Math.round(performance.now() - this.#sentAt);
  }
}

/**
 * The error of a call that took too long; `received` says whether the service may have acted on it.
 */
export function timedOut(
  { host, connections }: Pick<Sender, 'host' | 'connections'>,
  endpoint: Pick<Endpoint, 'doubt'>,
  limitMs: number,
  received: boolean,
): NoAnswerError {
  const message = `${host} did not answer within ${limitMs} ms`;
  if (received) {
    const hint = `${endpoint.doubt} Increase the timeout, or check that the base URL is right and the service is up.`;
    return new NoAnswerError(message, { reason: 'timeout', received, hint });
  }
  const route = connections.proxy === null ? 'the network' : 'the proxy';
  const hint = `The request was not sent: check the base URL, ${route}, and that the service is up.`;
  return new NoAnswerError(message, { reason: 'timeout', received, hint });
}
