import { InvalidInputError } from '../protocol/errors.js';
import { AnswerCollector, type AnswerListener, parseAnswer, type WireAnswer } from './answer.js';
import { CancelledError, NoAnswerError } from './errors.js';
import { type NoAnswerEvent, type RequestEvent, showAnswer, showParameters } from './hooks.js';
import { dispatchOptions, type SignedRequest } from './request.js';
import { type AttemptOutcome, parseRetryAfter } from './retry.js';
import type { Sender } from './sender.js';
import { toNoAnswerError } from './transport-errors.js';

/** The outcome of one attempt. */
export interface AttemptResult {
  readonly outcome: AttemptOutcome;
  /** `Retry-After` of the answer, in milliseconds. */
  readonly retryAfterMs: number | undefined;
}

/** One request in flight. */
export class Attempt implements AnswerListener {
  readonly #sender: Sender;
  readonly #request: SignedRequest;
  readonly #attempt: number;
  readonly #done: (result: AttemptResult) => void;
  readonly #sentAt = performance.now();
  readonly #collector: AnswerCollector;
  /** Whether the request may have arrived. */
  hasStarted = false;

  /** @throws InvalidInputError if a dispatcher of the caller rejects the request */
  constructor(
    sender: Sender,
    request: SignedRequest,
    attempt: number,
    done: (result: AttemptResult) => void,
  ) {
    this.#sender = sender;
    this.#request = request;
    this.#attempt = attempt;
    this.#done = done;
    sender.hooks.call('onRequest', () => this.#describe());
    this.#collector = new AnswerCollector(this);
    try {
      sender.dispatcher.dispatch(dispatchOptions(request, sender), this.#collector);
    } catch (cause) {
      throw this.#rejectedByDispatcher(cause);
    }
  }

  /** Abandons the attempt because it took longer than `limitMs`. */
  timeOut(limitMs: number): void {
    this.#collector.abort(timedOut(this.#sender.host, limitMs, this.hasStarted));
  }

  /** Abandons the attempt because the caller cancelled it: `done` is not called. */
  cancel(): void {
    this.#collector.abort(new CancelledError(undefined, this.hasStarted));
  }

  started(): void {
    this.hasStarted = true;
  }

  answered(answer: WireAnswer): void {
    const { hooks, host } = this.#sender;
    const outcome = parseAnswer(answer, host, this.#request.unionId);
    const retryAfterMs = parseRetryAfter(answer.retryAfter, answer.date, this.#sender.now());
    hooks.call('onResponse', () => ({
      ...this.#describe(),
      ...showAnswer(answer, outcome),
      durationMs: this.#durationMs(),
    }));
    this.#done({ outcome, retryAfterMs });
  }

  failed(error: unknown): void {
    const { host, proxy } = this.#sender;
    if (error instanceof CancelledError) {
      this.#reportNoAnswer('cancelled', error);
      return;
    }
    const outcome =
      error instanceof NoAnswerError
        ? error
        : toNoAnswerError(error, {
            host,
            proxy,
            started: this.hasStarted,
            operation: this.#request.endpoint.operation,
          });
    this.#reportNoAnswer(outcome.reason, outcome);
    this.#done({ outcome, retryAfterMs: undefined });
  }

  #rejectedByDispatcher(cause: unknown): InvalidInputError {
    const error = new InvalidInputError('the dispatcher rejects the request', {
      hint: 'Pass a dispatcher of undici 7 or later, or none.',
      cause,
    });
    this.#reportNoAnswer('connect', { received: false, message: error.message });
    return error;
  }

  #reportNoAnswer(
    reason: NoAnswerEvent['reason'],
    { received, message }: Pick<NoAnswerEvent, 'received' | 'message'>,
  ): void {
    this.#sender.hooks.call('onNoAnswer', () => ({
      ...this.#describe(),
      reason,
      received,
      message,
      durationMs: this.#durationMs(),
    }));
  }

  #describe(): RequestEvent {
    const { operation, method, path } = this.#request.endpoint;
    const url = this.#sender.baseUrl + path;
    return { operation, method, url, attempt: this.#attempt, parameters: showParameters(this.#request) };
  }

  #durationMs(): number {
    return Math.round(performance.now() - this.#sentAt);
  }
}

/** The error of a call that took too long; `received` says whether the service may have acted on it. */
export function timedOut(host: string, limitMs: number, received: boolean): NoAnswerError {
  return new NoAnswerError(`${host} did not answer within ${limitMs} ms`, {
    reason: 'timeout',
    received,
    hint: received
      ? 'Increase the timeout, or check that the base URL is right and the service is up.'
      : 'The request was not sent: check the base URL, the network, and that the service is up.',
  });
}
