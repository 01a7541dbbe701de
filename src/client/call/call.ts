import { once, setMaxListeners } from 'node:events';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { leadToCaller } from '../../core/support/errors.js';
import type { Answer } from './answer.js';
import { Attempt, type AttemptResult, timedOut } from './attempt.js';
import { CancelledError, NoAnswerError, type RejectedError } from './errors.js';
import { callHeaders } from './header-values.js';
import { traceCall } from './hooks.js';
import { judge } from './judgement.js';
import { type CallOptions, clientDefaults } from './options.js';
import { didNotReturn } from './renewed-value.js';
import type { PlainRequest } from './request.js';
import { isSuccess, mayHaveActed, mayRetry, pauseBefore } from './retry.js';
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
  const { endpoint } = request;
  const { operation, doubt } = endpoint;
  const { signal, context } = options;
  const headers = callHeaders(options.headers);
  const limitMs = options.timeoutMs ?? sender.options.timeoutMs ?? clientDefaults.timeoutMs;
  const deadline = performance.now() + limitMs;
  /** Number of requests sent. */
  let attempts = 0;
  /** `random` of the last one. */
  let requestId: string | undefined;
  /** Whether the service may have acted on one of them. */
  let received = false;

  /** Sends the request until its outcome is final. */
  async function untilSettled(): Promise<Answer> {
    const maxAttempts = options.attempts ?? sender.options.attempts ?? clientDefaults.attempts;
    for (;;) {
      await noticeClosedConnections();
      const isPrepared = await prepare();
      const result = end.signal.aborted ? null : await sendOnce();
      if (result === null) throw failure(endedEarly(isPrepared));
      const { outcome, retryAfterMs, isOutdated } = result;
      received ||= !isOutdated && mayHaveActed(outcome);
      const delayMs = pauseBefore(attempts + 1, retryAfterMs);
      const isLast =
        attempts >= maxAttempts ||
        !(isOutdated || mayRetry(endpoint, outcome)) ||
        performance.now() + delayMs >= deadline;
      if (isSuccess(outcome)) return outcome;
      if (isLast) throw judged(outcome);
      const event = { operation, attempt: attempts, requestId, context, delayMs, error: outcome };
      sender.hooks.call('onRetry', () => event);
      await sleep(delayMs, undefined, { signal: end.signal }).catch(() => {}); // an early end is noticed above
    }
  }

  /**
   * Fetches the app secret and the values of headers, for as long as the call may take.
   *
   * @returns whether they are there
   * @throws NoAnswerError if a function that returns one fails
   */
  async function prepare(): Promise<boolean> {
    const fetched = sender.prepare();
    if (fetched === undefined) return true;
    let isHere = false;
    const noticed = fetched.then(() => {
      isHere = true;
    });
    noticed.catch(() => {}); // after the end of the call nobody waits for it
    try {
      if (!end.signal.aborted) await Promise.race([noticed, once(end.signal, 'abort')]);
    } catch (error) {
      if (error instanceof NoAnswerError) throw failure(error);
      throw error;
    }
    return isHere;
  }

  /** The error of a call that was cancelled, or took too long. */
  function endedEarly(isPrepared: boolean): CancelledError | NoAnswerError {
    const { reason } = end.signal;
    if (reason !== timeOut)
      return new CancelledError(reason, received, received ? doubt : undefined);
    return isPrepared
      ? timedOut(sender, endpoint, limitMs, received)
      : didNotReturn(sender.awaited, limitMs);
  }

  /** The outcome of the last attempt. */
  function judged(outcome: RejectedError | NoAnswerError): RejectedError | NoAnswerError {
    judge(outcome, endpoint, received);
    leadToCaller(outcome, judged);
    return outcome;
  }

  /** Sets the details of an error that is not the outcome of an attempt. */
  function failure(error: CancelledError | NoAnswerError): CancelledError | NoAnswerError {
    if (error instanceof NoAnswerError) judge(error, endpoint, received);
    const retryable = !error.received || endpoint.repeatable;
    return error.withDetails({ operation, attempts, requestId, retryable });
  }

  /** `null` if the call had to end. */
  function sendOnce(): Promise<AttemptResult | null> {
    const { attemptTimeoutMs = sender.options.attemptTimeoutMs ?? limitMs } = options;
    attempts += 1;
    return new Promise((resolve) => {
      let isOver = false;
      let attemptTimer: NodeJS.Timeout | undefined;
      const done = (result: AttemptResult | null) => {
        isOver = true;
        requestId = result?.outcome.requestId ?? requestId;
        clearTimeout(attemptTimer);
        resolve(result);
      };
      const attempt = Attempt.send({ sender, request, headers, number: attempts, done, context });
      const abandon = () => {
        if (isOver) return;
        received ||= attempt.hasStarted;
        requestId = attempt.requestId ?? requestId;
        if (end.signal.reason === timeOut) attempt.timeOut(limitMs);
        else attempt.cancel();
        done(null);
      };
      if (attemptTimeoutMs < limitMs)
        attemptTimer = setTimeout(() => attempt.timeOut(attemptTimeoutMs), attemptTimeoutMs);
      // A hook may have aborted the signal.
      if (end.signal.aborted) abandon();
      else end.signal.addEventListener('abort', abandon);
    });
  }

  if (signal?.aborted) throw failure(new CancelledError(signal.reason, false));
  const timer = setTimeout(() => end.abort(timeOut), limitMs);
  const cancel = () => end.abort(signal?.reason);
  // As fetch does: any number of calls may have one signal.
  if (signal instanceof EventTarget) setMaxListeners(0, signal);
  signal?.addEventListener('abort', cancel);
  try {
    return await traceCall({ operation, baseUrl: sender.baseUrl, context }, untilSettled);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', cancel);
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
