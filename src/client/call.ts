import { once, setMaxListeners } from 'node:events';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { leadToCaller } from '../support/errors.js';
import type { Answer } from './answer.js';
import { Attempt, type AttemptResult, timedOut } from './attempt.js';
import { CancelledError, NoAnswerError } from './errors.js';
import { callHeaders } from './header-values.js';
import { traceCall } from './hooks.js';
import { type CallOptions, clientDefaults } from './options.js';
import { didNotReturn } from './renewed-value.js';
import type { PlainRequest } from './request.js';
import { type AttemptOutcome, isSuccess, mayHaveActed, mayRetry, pauseBefore } from './retry.js';
import type { Sender } from './sender.js';

/** The reason of a call that took too long. */
const timeOut = Symbol('time-out');

/** One call, with all its attempts. */
export class ClientCall {
  readonly #sender: Sender;
  readonly #request: PlainRequest;
  readonly #options: CallOptions;
  readonly #headers: ReadonlyMap<string, string>;
  readonly #limitMs: number;
  /** When the call must end, by `performance.now()`. */
  readonly #deadline: number;
  /** Ends the call early. Its reason is that of a cancelled call, or `timeOut`. */
  readonly end = new AbortController();
  /** Number of requests sent. */
  #attempts = 0;
  /** `random` of the last one. */
  #requestId: string | undefined;
  /** Whether the service may have acted on one of them. */
  #received = false;

  /** @throws InvalidInputError for an invalid header */
  constructor(sender: Sender, request: PlainRequest, options: CallOptions) {
    this.#sender = sender;
    this.#request = request;
    this.#options = options;
    this.#headers = callHeaders(options.headers);
    this.#limitMs = options.timeoutMs ?? sender.options.timeoutMs ?? clientDefaults.timeoutMs;
    this.#deadline = performance.now() + this.#limitMs;
  }

  /** @throws RejectedError, NoAnswerError, CancelledError, InvalidInputError */
  async run(): Promise<Answer> {
    const { signal, context } = this.#options;
    if (signal?.aborted) throw this.#failure(new CancelledError(signal.reason, false));
    const timer = setTimeout(() => this.end.abort(timeOut), this.#limitMs);
    const cancel = () => this.end.abort(signal?.reason);
    // As fetch does: any number of calls may have one signal.
    if (signal instanceof EventTarget) setMaxListeners(0, signal);
    signal?.addEventListener('abort', cancel);
    const { operation } = this.#request.endpoint;
    const trace = { operation, baseUrl: this.#sender.baseUrl, context };
    try {
      return await traceCall(trace, () => this.#untilSettled());
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', cancel);
    }
  }

  /** Sends the request until its outcome is final. */
  async #untilSettled(): Promise<Answer> {
    const { endpoint } = this.#request;
    const maxAttempts = this.#options.attempts ?? this.#sender.options.attempts ?? clientDefaults.attempts;
    const { signal } = this.end;
    for (;;) {
      await noticeClosedConnections();
      const isPrepared = await this.#prepare();
      const result = signal.aborted ? null : await this.#sendOnce();
      if (result === null) throw this.#failure(this.#endedEarly(isPrepared));
      const { outcome, retryAfterMs, isOutdated } = result;
      this.#received ||= !isOutdated && mayHaveActed(outcome);
      const delayMs = pauseBefore(this.#attempts + 1, retryAfterMs);
      const isLast =
        this.#attempts >= maxAttempts ||
        !(isOutdated || mayRetry(endpoint, outcome)) ||
        performance.now() + delayMs >= this.#deadline;
      if (isLast || isSuccess(outcome)) return settle(outcome, this.#received);
      this.#sender.hooks.call('onRetry', () => ({
        operation: endpoint.operation,
        attempt: this.#attempts,
        requestId: this.#requestId,
        context: this.#options.context,
        delayMs,
        error: outcome,
      }));
      await sleep(delayMs, undefined, { signal }).catch(() => {}); // an early end is noticed above
    }
  }

  /**
   * Fetches the app secret and the values of headers, for as long as the call may take.
   *
   * @returns whether they are there
   * @throws NoAnswerError if a function that returns one fails
   */
  async #prepare(): Promise<boolean> {
    const { signal } = this.end;
    const fetched = this.#sender.prepare();
    if (fetched === undefined) return true;
    let isHere = false;
    const noticed = fetched.then(() => {
      isHere = true;
    });
    noticed.catch(() => {}); // after the end of the call nobody waits for it
    try {
      if (!signal.aborted) await Promise.race([noticed, once(signal, 'abort')]);
    } catch (error) {
      if (error instanceof NoAnswerError) throw this.#failure(error);
      throw error;
    }
    return isHere;
  }

  /** The error of a call that was cancelled, or took too long. */
  #endedEarly(isPrepared: boolean): CancelledError | NoAnswerError {
    const { reason } = this.end.signal;
    if (reason !== timeOut) {
      const hint = this.#received ? this.#request.endpoint.doubt : undefined;
      return new CancelledError(reason, this.#received, hint);
    }
    if (isPrepared) return timedOut(this.#sender, this.#request.endpoint, this.#limitMs, this.#received);
    return didNotReturn(this.#sender.awaited, this.#limitMs);
  }

  /** Sets the details of an error that is not the outcome of an attempt. */
  #failure<E extends CancelledError | NoAnswerError>(error: E): E {
    if (error instanceof NoAnswerError && this.#received) error.afterEarlierAttempts();
    const { operation, repeatable } = this.#request.endpoint;
    error.withDetails({
      operation,
      attempts: this.#attempts,
      requestId: this.#requestId,
      retryable: !error.received || repeatable,
    });
    return error;
  }

  /** `null` if the call had to end. */
  #sendOnce(): Promise<AttemptResult | null> {
    const { signal } = this.end;
    const sender = this.#sender;
    const { context, attemptTimeoutMs: limitMs = sender.options.attemptTimeoutMs } = this.#options;
    this.#attempts += 1;
    return new Promise((resolve) => {
      let isOver = false;
      let attemptTimer: NodeJS.Timeout | undefined;
      const done = (result: AttemptResult | null) => {
        isOver = true;
        this.#requestId = result?.outcome.requestId ?? this.#requestId;
        clearTimeout(attemptTimer);
        resolve(result);
      };
      const [request, headers] = [this.#request, this.#headers];
      const attempt = Attempt.send({ sender, request, headers, number: this.#attempts, done, context });
      const abandon = () => {
        if (isOver) return;
        this.#received ||= attempt.hasStarted;
        this.#requestId = attempt.requestId ?? this.#requestId;
        if (signal.reason === timeOut) attempt.timeOut(this.#limitMs);
        else attempt.cancel();
        done(null);
      };
      if (limitMs !== undefined && limitMs < this.#limitMs) {
        attemptTimer = setTimeout(() => attempt.timeOut(limitMs), limitMs);
      }
      // A hook may have aborted the signal.
      if (signal.aborted) abandon();
      else signal.addEventListener('abort', abandon);
    });
  }
}

/**
 * Reads what arrived on idle connections before one of them is used again: the service may have closed it, or sent
 * unrequested bytes. The first turn of the event loop may have polled already, the second polls again.
 */
async function noticeClosedConnections(): Promise<void> {
  await nextTurn();
  await nextTurn();
}

function settle(outcome: AttemptOutcome, received: boolean): Answer {
  if (isSuccess(outcome)) return outcome;
  if (outcome instanceof NoAnswerError && received) outcome.afterEarlierAttempts();
  leadToCaller(outcome, settle);
  throw outcome;
}
