import { InvalidInputError } from '../protocol/errors.js';
import { AnswerCollector, type AnswerListener, takeAnswer, type WireAnswer } from './answer.js';
import { CancelledError, NoAnswerError } from './errors.js';
import { type NoAnswerEvent, type RequestEvent, showAnswer, showParameters } from './hooks.js';
import { dispatchOptions, type SignedRequest } from './request.js';
import { type AttemptOutcome, parseRetryAfter } from './retry.js';
import type { Sender } from './sender.js';
import { toNoAnswerError } from './transport-errors.js';

/** What one attempt came to. */
export interface AttemptResult {
  readonly outcome: AttemptOutcome;
  /** How long the service asks to wait before the next one, in milliseconds. */
  readonly retryAfterMs: number | undefined;
}

/** One request on its way. */
export class Attempt implements AnswerListener {
  readonly #sender: Sender;
  readonly #request: SignedRequest;
  readonly #attempt: number;
  readonly #done: (result: AttemptResult) => void;
  readonly #sentAt = performance.now();
  readonly #collector: AnswerCollector;
  /** Whether it may have arrived. */
  hasStarted = false;

  /** Throws an InvalidInputError for a dispatcher of the caller's that takes no request. */
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
    sender.hooks.tell('onRequest', () => this.#describe());
    this.#collector = new AnswerCollector(this);
    try {
      sender.dispatcher.dispatch(dispatchOptions(request, sender), this.#collector);
    } catch (cause) {
      throw this.#notTaken(cause);
    }
  }

  /** Gives it up, because it took longer than `limitMs`. */
  timeOut(limitMs: number): void {
    this.#collector.abort(timedOut(this.#sender.host, limitMs, this.hasStarted));
  }

  /** Gives it up because the caller no longer wants it: `done` is not called. */
  cancel(): void {
    this.#collector.abort(new CancelledError(undefined, this.hasStarted));
  }

  started(): void {
    this.hasStarted = true;
  }

  answered(answer: WireAnswer): void {
    const { hooks, host } = this.#sender;
    const outcome = takeAnswer(answer, host, this.#request.unionId);
    const retryAfterMs = parseRetryAfter(answer.retryAfter, answer.date, this.#sender.now());
    hooks.tell('onResponse', () => ({
      ...this.#describe(),
      ...showAnswer(answer, outcome),
      durationMs: this.#durationMs(),
    }));
    this.#done({ outcome, retryAfterMs });
  }

  failed(error: unknown): void {
    const { host, proxy } = this.#sender;
    if (error instanceof CancelledError) {
      this.#tellNoAnswer('cancelled', error);
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
    this.#tellNoAnswer(outcome.reason, outcome);
    this.#done({ outcome, retryAfterMs: undefined });
  }

  #notTaken(cause: unknown): InvalidInputError {
    const error = new InvalidInputError('the dispatcher does not take the request', {
      hint: 'Give a dispatcher of undici 7 or later, or none.',
      cause,
    });
    this.#tellNoAnswer('connect', { received: false, message: error.message });
    return error;
  }

  #tellNoAnswer(
    reason: NoAnswerEvent['reason'],
    { received, message }: Pick<NoAnswerEvent, 'received' | 'message'>,
  ): void {
    this.#sender.hooks.tell('onNoAnswer', () => ({
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

/** What a call ends with that took too long; `received` says whether the service may have acted on it. */
export function timedOut(host: string, limitMs: number, received: boolean): NoAnswerError {
  return new NoAnswerError(`${host} did not answer within ${limitMs} ms`, {
    reason: 'timeout',
    received,
    hint: received
      ? 'Give it more time, or check that the base URL is right and the service is up.'
      : 'The request was not sent: check the base URL, the network, and that the service is up.',
  });
}
