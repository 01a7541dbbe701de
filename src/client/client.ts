import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Envelope } from '../protocol/envelope.js';
import { InvalidInputError } from '../protocol/errors.js';
import type { ReadData } from '../protocol/read-data.js';
import { resultCode } from '../protocol/result-codes.js';
import type { Answer } from './answer.js';
import { type AttemptResult, timedOut } from './attempt.js';
import { CancelledError, NoAnswerError, RejectedError } from './errors.js';
import { type CallOptions, callOptions, checkMembers, type UserInfoClientOptions } from './options.js';
import {
  checkedPassback,
  checkedRead,
  type PassbackInput,
  type PlainRequest,
  type ReadInput,
  type WireRequest,
} from './request.js';
import { type AttemptOutcome, mayHaveActed, mayRetry, pauseBefore } from './retry.js';
import { Sender } from './sender.js';

export type ReadAnswer = Answer<Envelope<ReadData>>;
export type PassbackAnswer = Answer<Envelope<{ readonly union_id: string }>>;

/** One call, with all its attempts. */
interface Call {
  readonly request: PlainRequest;
  readonly limitMs: number;
  /** When the call must end, by `performance.now()`. */
  readonly deadline: number;
  /** Whether the service may have acted on one of its attempts. */
  received: boolean;
  /** Why the call ends early. */
  ended: 'timeout' | 'cancelled' | null;
  /** Ends the current wait. */
  wake: () => void;
}

/**
 * Client for the two operations of §4. Each attempt of a call is signed anew.
 *
 * Calls throw an InvalidInputError (nothing was sent), a RejectedError (the service answered with a code other
 * than 200), a NoAnswerError (no valid answer came) or a CancelledError.
 */
export class UserInfoClient implements AsyncDisposable {
  readonly #sender: Sender;
  readonly #timeoutMs: number;
  readonly #attempts: number;
  readonly #calls = new Set<Promise<unknown>>();
  readonly #signals = new SharedSignals();
  #closing: Promise<void> | null = null;

  /**
   * @throws InvalidInputError that names the invalid option: missing, empty, unknown, of the wrong type or out of
   * range; or a base URL of plain http to another machine without `allowHttp`
   * @throws RecipeError for an invalid recipe
   */
  constructor(options: UserInfoClientOptions) {
    this.#sender = new Sender(options);
    this.#timeoutMs = options.timeoutMs ?? 10_000;
    this.#attempts = options.attempts ?? 3;
  }

  /** Reads a user's information (§4.1). */
  async read(input: ReadInput, options: CallOptions = {}): Promise<ReadAnswer> {
    return (await this.send(checkedRead(input), options)) as ReadAnswer;
  }

  /** Passes information about a user back (§4.2). */
  async passback(input: PassbackInput, options: CallOptions = {}): Promise<PassbackAnswer> {
    return (await this.send(checkedPassback(input), options)) as PassbackAnswer;
  }

  /** Returns the signed request of a read, without sending it. Its `random` can be used once. */
  signRead(input: ReadInput): WireRequest {
    return this.sign(checkedRead(input));
  }

  /** Returns the signed request of a passback, without sending it. Its `random` can be used once. */
  signPassback(input: PassbackInput): WireRequest {
    return this.sign(checkedPassback(input));
  }

  /**
   * Waits for the calls in flight, at most for their `timeoutMs`, and closes the client's own connections. Later
   * calls throw an InvalidInputError.
   */
  close(): Promise<void> {
    this.#closing ??= Promise.allSettled(this.#calls).then(() => this.#sender.drop());
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** @internal Signs a request without sending it. */
  sign(request: PlainRequest): WireRequest {
    return this.#sender.toWire(request);
  }

  /** @internal Sends a request, with further attempts where they are safe. */
  async send(request: PlainRequest, options: CallOptions = {}): Promise<Answer<Envelope>> {
    checkMembers(callOptions, options);
    const { signal, timeoutMs: limitMs = this.#timeoutMs } = options;
    if (this.#closing !== null) {
      throw new InvalidInputError('the client is closed: nothing was sent', { hint: 'Create a new client.' });
    }
    if (signal?.aborted) throw new CancelledError(signal.reason, false);
    const call: Call = {
      request,
      limitMs,
      deadline: performance.now() + limitMs,
      received: false,
      ended: null,
      wake: () => {},
    };
    const end = (why: 'timeout' | 'cancelled') => {
      call.ended ??= why;
      call.wake();
    };
    const timer = setTimeout(end, limitMs, 'timeout');
    const stopListening = this.#signals.listen(signal, () => end('cancelled'));
    const outcome = this.#attempt(call, signal);
    this.#calls.add(outcome);
    try {
      return await outcome;
    } finally {
      clearTimeout(timer);
      stopListening();
      this.#calls.delete(outcome);
    }
  }

  async #attempt(call: Call, signal: AbortSignal | undefined): Promise<Answer<Envelope>> {
    for (let attempt = 1; ; attempt += 1) {
      await noticeClosedConnections();
      const result = call.ended === null ? await this.#sendOnce(call, attempt) : null;
      if (result === null) {
        if (call.ended === 'cancelled') throw new CancelledError(signal?.reason, call.received);
        throw timedOut(this.#sender.host, call.limitMs, call.received);
      }
      const { outcome, retryAfterMs } = result;
      call.received ||= mayHaveActed(outcome);
      const waitMs = pauseBefore(attempt + 1, retryAfterMs, Math.random);
      const isLast =
        attempt >= this.#attempts ||
        !mayRetry(call.request.endpoint.operation, outcome) ||
        performance.now() + waitMs >= call.deadline;
      if (isLast) return settle(outcome, call.received);
      await pause(call, waitMs);
    }
  }

  /** `null` if the call had to end. */
  #sendOnce(call: Call, attempt: number): Promise<AttemptResult | null> {
    return new Promise((resolve) => {
      const sent = this.#sender.send(this.#sender.sign(call.request), attempt, resolve);
      call.wake = () => {
        call.received ||= sent.hasStarted;
        if (call.ended === 'timeout') sent.timeOut(call.limitMs);
        else sent.cancel();
        resolve(null);
      };
      // A hook may have aborted the signal.
      if (call.ended !== null) call.wake();
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

/** Waits, unless the call has to end first. */
function pause(call: Call, waitMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, waitMs);
    call.wake = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}

function settle(outcome: AttemptOutcome, received: boolean): Answer<Envelope> {
  if (outcome instanceof NoAnswerError) {
    const error = received ? outcome.afterEarlierAttempts() : outcome;
    // The error was created in a callback of undici: make its stack lead to the caller.
    Error.captureStackTrace(error, settle);
    throw error;
  }
  if (outcome.envelope.code === resultCode.ok) return outcome;
  throw new RejectedError(outcome);
}

/** Notifies calls that their signal is aborted. A signal has one listener, however many calls use it. */
class SharedSignals {
  readonly #listeners = new Map<
    AbortSignal,
    { readonly calls: Set<() => void>; readonly notify: () => void }
  >();

  /** Returns a function that removes the listener. */
  listen(signal: AbortSignal | undefined, call: () => void): () => void {
    if (signal === undefined) return () => {};
    const calls = this.#listeners.get(signal)?.calls ?? this.#open(signal);
    calls.add(call);
    return () => {
      calls.delete(call);
      if (calls.size === 0) this.#close(signal);
    };
  }

  #open(signal: AbortSignal): Set<() => void> {
    const calls = new Set<() => void>();
    const notify = () => {
      for (const call of [...calls]) call();
    };
    this.#listeners.set(signal, { calls, notify });
    signal.addEventListener('abort', notify);
    return calls;
  }

  #close(signal: AbortSignal): void {
    const listener = this.#listeners.get(signal);
    if (listener === undefined) return;
    signal.removeEventListener('abort', listener.notify);
    this.#listeners.delete(signal);
  }
}
