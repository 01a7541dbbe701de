import { once, setMaxListeners } from 'node:events';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { leadToCaller } from '../../core/support/errors.js';
import type { Answer } from './answer.js';
import { Attempt, type AttemptResult, timedOut } from './attempt.js';
import { CancelledError, NoAnswerError, type RejectedError } from './errors.js';
import { callHeaders } from './header-values.js';
import { traceCall } from './hooks.js';
import { type CallOptions, clientDefaults } from './options.js';
import { didNotReturn } from './renewed-value.js';
import type { PlainRequest } from './request.js';
import { isSuccess, judge, mayHaveActed, mayRetry, pauseBefore } from './retry.js';
import type { Sender } from './sender.js';

/** The reason of a call that took too long. */
const timeOut = Symbol('time-out');

/**
 * Makes one call, with all its attempts. `end` ends it early.
 *
 * @throws RejectedError, NoAnswerError, CancelledError, InvalidInputError
 */
export async function makeCall(
  sender: Sender,
  request: PlainRequest,
  options: CallOptions,
  end: AbortController,
): Promise<Answer> {
  return new PendingCall(sender, request, options, end).settle();
}

/** A call until its outcome is final. */
class PendingCall {
  readonly #sender: Sender;
  readonly #request: PlainRequest;
  readonly #options: CallOptions;
  readonly #end: AbortController;
  /** The headers of the call, by their names in lower case. */
  readonly #headers: ReadonlyMap<string, string>;
  /** Maximum duration of the call, in milliseconds. */
  readonly #limitMs: number;
  /** When it has to be over, of `performance.now()`, in milliseconds. */
  readonly #deadline: number;
  /** Number of requests sent. */
  #attempts = 0;
  /** `random` of the last one. */
  #requestId: string | undefined;
  /** Whether the service may have acted on one of them. */
  #mayHaveActed = false;

  /** @throws InvalidInputError for invalid headers */
  constructor(sender: Sender, request: PlainRequest, options: CallOptions, end: AbortController) {
    this.#sender = sender;
    this.#request = request;
    this.#options = options;
    this.#end = end;
    this.#headers = callHeaders(options.headers);
    this.#limitMs = options.timeoutMs ?? sender.options.timeoutMs ?? clientDefaults.timeoutMs;
    this.#deadline = performance.now() + this.#limitMs;
  }

  /** @throws RejectedError, NoAnswerError, CancelledError, InvalidInputError */
  async settle(): Promise<Answer> {
    const { signal, context } = this.#options;
    const { operation } = this.#request.endpoint;
    if (signal?.aborted) throw this.#failure(new CancelledError(signal.reason, false));
    const timer = setTimeout(() => this.#end.abort(timeOut), this.#limitMs);
    const cancel = () => this.#end.abort(signal?.reason);
    // As fetch does: any number of calls may have one signal.
    if (signal instanceof EventTarget) setMaxListeners(0, signal);
    signal?.addEventListener('abort', cancel);
    try {
      const trace = { operation, baseUrl: this.#sender.baseUrl, context };
      return await traceCall(trace, () => this.#untilSettled());
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', cancel);
    }
  }

  /** Sends the request until its outcome is final. */
  async #untilSettled(): Promise<Answer> {
    for (;;) {
      await noticeClosedConnections();
      const isPrepared = await this.#prepare();
      if (this.#end.signal.aborted) throw this.#failure(this.#endedEarly(isPrepared));
      const result = await this.#sendOnce();
      if (result === null) throw this.#failure(this.#endedEarly(isPrepared));
      const { outcome, retryAfterMs, isOutdated } = result;
      this.#mayHaveActed ||= !isOutdated && mayHaveActed(outcome);
      if (isSuccess(outcome)) return outcome;
      const delayMs = pauseBefore(this.#attempts + 1, retryAfterMs);
      if (!this.#isRetried(result, delayMs)) throw this.#judged(outcome);
      this.#reportRetry(outcome, delayMs);
      // An early end is noticed above.
      await sleep(delayMs, undefined, { signal: this.#end.signal }).catch(() => {});
    }
  }

  /** Whether another attempt follows after a pause of `delayMs` milliseconds. */
  #isRetried({ outcome, isOutdated }: AttemptResult, delayMs: number): boolean {
    const { attempts = this.#sender.options.attempts ?? clientDefaults.attempts } = this.#options;
    if (this.#attempts >= attempts) return false;
    if (performance.now() + delayMs >= this.#deadline) return false;
    return isOutdated || mayRetry(this.#request.endpoint, outcome);
  }

  #reportRetry(error: RejectedError | NoAnswerError, delayMs: number): void {
    this.#sender.hooks.emit('onRetry', () => ({
      operation: this.#request.endpoint.operation,
      attempt: this.#attempts,
      requestId: this.#requestId,
      context: this.#options.context,
      delayMs,
      error,
    }));
  }

  /**
   * Fetches the app secret and the values of headers, for as long as the call may take.
   *
   * @returns whether they are there
   * @throws NoAnswerError if a function that returns one fails
   */
  async #prepare(): Promise<boolean> {
    const fetched = this.#sender.prepare();
    if (fetched === undefined) return true;
    const { signal } = this.#end;
    let isFetched = false;
    const noticed = fetched.then(() => {
      isFetched = true;
    });
    noticed.catch(() => {}); // after the end of the call nobody waits for it
    try {
      if (!signal.aborted) await Promise.race([noticed, once(signal, 'abort')]);
    } catch (error) {
      if (error instanceof NoAnswerError) throw this.#failure(error);
      throw error;
    }
    return isFetched;
  }

  /** The result of one attempt; `null` if the call had to end. */
  #sendOnce(): Promise<AttemptResult | null> {
    const { signal } = this.#end;
    const { attemptTimeoutMs = this.#sender.options.attemptTimeoutMs ?? this.#limitMs } =
      this.#options;
    this.#attempts += 1;
    return new Promise((resolve) => {
      let isOver = false;
      let timer: NodeJS.Timeout | undefined;
      const done = (result: AttemptResult | null) => {
        isOver = true;
        this.#requestId = result?.outcome.requestId ?? this.#requestId;
        clearTimeout(timer);
        resolve(result);
      };
      const attempt = Attempt.send({
        sender: this.#sender,
        request: this.#request,
        headers: this.#headers,
        number: this.#attempts,
        done,
        context: this.#options.context,
      });
      const abandon = () => {
        if (isOver) return;
        this.#mayHaveActed ||= attempt.hasStarted;
        this.#requestId = attempt.requestId ?? this.#requestId;
        if (signal.reason === timeOut) attempt.timeOut(this.#limitMs);
        else attempt.cancel();
        done(null);
      };
      if (attemptTimeoutMs < this.#limitMs)
        timer = setTimeout(() => attempt.timeOut(attemptTimeoutMs), attemptTimeoutMs);
      // A hook may have aborted the signal.
      if (signal.aborted) abandon();
      else signal.addEventListener('abort', abandon);
    });
  }

  /** The error of a call that was cancelled, or took too long. */
  #endedEarly(isPrepared: boolean): CancelledError | NoAnswerError {
    const { endpoint } = this.#request;
    const { reason } = this.#end.signal;
    if (reason !== timeOut) {
      const hint = this.#mayHaveActed ? endpoint.doubt : undefined;
      return new CancelledError(reason, this.#mayHaveActed, hint);
    }
    if (!isPrepared) return didNotReturn(this.#sender.awaitedFunction, this.#limitMs);
    return timedOut(this.#sender, endpoint, this.#limitMs, this.#mayHaveActed);
  }

  /** The outcome of the last attempt. */
  #judged(outcome: RejectedError | NoAnswerError): RejectedError | NoAnswerError {
    judge(outcome, this.#request.endpoint, this.#mayHaveActed);
    leadToCaller(outcome, this.#judged);
    return outcome;
  }

  /** Sets the details of an error that is not the outcome of an attempt. */
  #failure(error: CancelledError | NoAnswerError): CancelledError | NoAnswerError {
    const { endpoint } = this.#request;
    if (error instanceof NoAnswerError) judge(error, endpoint, this.#mayHaveActed);
    return error.setDetails({
      operation: endpoint.operation,
      attempts: this.#attempts,
      requestId: this.#requestId,
      retryable: !error.received || endpoint.repeatable,
    });
  }
}

/**
 * Reads what arrived on idle connections before one of them is used again: the service may have
 * closed it, or sent unrequested bytes. The first turn of the event loop may have polled already,
 * the second polls again.
 */
async function noticeClosedConnections(): Promise<void> {
  await nextTurn();
  await nextTurn();
}
