import { once } from 'node:events';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Envelope } from '../protocol/envelope.js';
import { InvalidInputError } from '../protocol/errors.js';
import { checkMembers } from '../protocol/members.js';
import type { ReadData } from '../protocol/read-data.js';
import { Secret } from '../signing/secret.js';
import { leadToCaller } from '../support/errors.js';
import type { Answer } from './answer.js';
import { Attempt, type AttemptResult, timedOut } from './attempt.js';
import { CancelledError, NoAnswerError } from './errors.js';
import { traceCall } from './hooks.js';
import {
  type CallOptions,
  callMembers,
  clientDefaults,
  type DerivedOptions,
  derivedMembers,
  type UserInfoClientOptions,
} from './options.js';
import { type PlainRequest, toWireRequest, type WireRequest } from './request.js';
import { type AttemptOutcome, isSuccess, mayHaveActed, mayRetry, pauseBefore } from './retry.js';
import { Sender, secretTimedOut } from './sender.js';

/**
 * The answer of a read: its `data` has the requested names.
 *
 * @example
 * const answer: ReadAnswer<'mobile'> = await client.read({ code, infoNames: ['mobile'] });
 * answer.data.mobile; // string | undefined
 */
export type ReadAnswer<Name extends string = never> = Answer<Envelope<ReadData<Name>>>;
/**
 * The answer of a passback: its `data` names the user that was written to.
 *
 * @example
 * const answer: PassbackAnswer = await client.passback({ unionId: 'u1', userInfo: { acme_level: 'gold' } });
 * answer.data.union_id; // 'u1'
 */
export type PassbackAnswer = Answer<Envelope<{ readonly union_id: string }>>;

/** One call, with all its attempts. */
interface Call {
  readonly request: PlainRequest;
  readonly options: CallOptions;
  readonly limitMs: number;
  /** When the call must end, by `performance.now()`. */
  readonly deadline: number;
  /** Number of requests sent. */
  attempts: number;
  /** `random` of the last one. */
  requestId: string | undefined;
  /** Whether the service may have acted on one of them. */
  received: boolean;
  /** Ends the call early. Its reason is that of a cancelled call, or `timeOut`. */
  readonly end: AbortController;
}

/** The reason of a call that took too long. */
const timeOut = Symbol('time-out');

/** A call or a bulk run that `close` waits for. */
interface UnderWay {
  /** Ends it now. */
  readonly end: AbortController;
  /** Ends a run once what it sent is answered. */
  readonly stop?: () => void;
}

/** The calls of a `UserInfoClient`: the command line makes them without the code of bulk runs. */
export class CallClient implements AsyncDisposable {
  readonly options: UserInfoClientOptions;
  readonly sender: Sender;
  /** The client that this one was derived from, and shares connections with. */
  readonly #origin: CallClient | null;
  /** The calls and runs under way, also those of derived clients. */
  readonly #underWay = new Map<UnderWay, Promise<unknown>>();
  #closing: Promise<void> | null = null;

  /** @throws InvalidInputError, RecipeError as that of `UserInfoClient` */
  constructor(options: UserInfoClientOptions, origin: CallClient | null = null) {
    this.sender = new Sender(options, origin === null ? undefined : origin.sender.connections);
    const { appSecret } = options;
    // Options are printed with a client.
    this.options = typeof appSecret === 'string' ? { ...options, appSecret: new Secret(appSecret) } : options;
    this.#origin = origin;
  }

  withOptions(options: DerivedOptions): CallClient {
    checkMembers(derivedMembers, options);
    return new CallClient({ ...this.options, ...options }, this);
  }

  close({ force = false }: { readonly force?: boolean } = {}): Promise<void> {
    if (this.#closing === null) {
      for (const work of this.#underWay.keys()) work.stop?.();
      this.#closing = Promise.allSettled(this.#underWay.values()).then(() => this.sender.drop());
    }
    if (force) {
      for (const work of this.#underWay.keys()) work.end.abort(new Error('the client was closed'));
    }
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Signs a request without sending it. */
  sign(request: PlainRequest): WireRequest {
    try {
      return toWireRequest(this.sender.sign(request), this.sender);
    } catch (error) {
      if (error instanceof NoAnswerError) error.withDetails({ operation: request.endpoint.operation });
      throw error;
    }
  }

  /** Sends a request, with further attempts where they are safe. */
  async send(request: PlainRequest, options: CallOptions = {}): Promise<Answer<Envelope>> {
    checkMembers(callMembers, options);
    const { signal, timeoutMs: limitMs = this.options.timeoutMs ?? clientDefaults.timeoutMs } = options;
    this.refuseIfClosed();
    const deadline = performance.now() + limitMs;
    const end = new AbortController();
    const state = { attempts: 0, requestId: undefined, received: false, end };
    const call: Call = { request, options, limitMs, deadline, ...state };
    if (signal?.aborted) throw this.#failure(call, new CancelledError(signal.reason, false));
    const timer = setTimeout(() => end.abort(timeOut), limitMs);
    const stopListening = onAbort(signal, () => end.abort(signal?.reason));
    const { operation } = request.endpoint;
    const trace = { operation, baseUrl: this.sender.baseUrl, context: options.context };
    const outcome = traceCall(trace, () => this.#untilSettled(call));
    this.track(call, outcome);
    try {
      return await outcome;
    } finally {
      clearTimeout(timer);
      stopListening();
      this.track(call, null);
    }
  }

  /** @throws InvalidInputError if this client was closed, or the one that it was derived from */
  refuseIfClosed(): void {
    this.#origin?.refuseIfClosed();
    if (this.#closing === null) return;
    throw new InvalidInputError('the client is closed: nothing was sent', { hint: 'Create a new client.' });
  }

  /** Has `close` wait for work; `null`: it is over. A client waits for that of derived clients too. */
  track(work: UnderWay, outcome: Promise<unknown> | null): void {
    if (outcome === null) this.#underWay.delete(work);
    else this.#underWay.set(work, outcome);
    this.#origin?.track(work, outcome);
  }

  /** Sends the request until its outcome is final. */
  async #untilSettled(call: Call): Promise<Answer<Envelope>> {
    const maxAttempts = call.options.attempts ?? this.options.attempts ?? clientDefaults.attempts;
    const { signal } = call.end;
    for (;;) {
      await noticeClosedConnections();
      const hasSecret = await this.#prepare(call);
      const result = signal.aborted ? null : await this.#sendOnce(call);
      if (result === null) {
        throw this.#failure(
          call,
          signal.reason !== timeOut
            ? new CancelledError(signal.reason, call.received)
            : hasSecret
              ? timedOut(this.sender, call.request, call.limitMs, call.received)
              : withEarlierAttempts(secretTimedOut(call.limitMs, this.sender.hasSecret), call.received),
        );
      }
      const { outcome, retryAfterMs, isOutdated } = result;
      call.received ||= !isOutdated && mayHaveActed(outcome);
      const waitMs = pauseBefore(call.attempts + 1, retryAfterMs);
      const isLast =
        call.attempts >= maxAttempts ||
        !(isOutdated || mayRetry(call.request.endpoint, outcome)) ||
        performance.now() + waitMs >= call.deadline;
      if (isLast) return settle(outcome, call.received);
      await sleep(waitMs, undefined, { signal }).catch(() => {}); // an early end is noticed above
    }
  }

  /**
   * Fetches the app secret and the values of headers, for as long as the call may take.
   *
   * @returns whether they are there
   * @throws NoAnswerError if a function that returns one fails
   */
  async #prepare(call: Call): Promise<boolean> {
    const { signal } = call.end;
    const fetched = [this.sender.prepare(), this.sender.headerValues.prepare()];
    if (fetched.every((one) => one === undefined)) return true;
    let isHere = false;
    const noticed = Promise.all(fetched).then(() => {
      isHere = true;
    });
    noticed.catch(() => {}); // after the end of the call nobody waits for it
    try {
      if (!signal.aborted) await Promise.race([noticed, once(signal, 'abort')]);
    } catch (error) {
      if (error instanceof NoAnswerError)
        throw this.#failure(call, withEarlierAttempts(error, call.received));
      throw error;
    }
    return isHere;
  }

  /** Sets the details of an error that is not the outcome of an attempt. */
  #failure<E extends CancelledError | NoAnswerError>(call: Call, error: E): E {
    const { attempts, requestId, request } = call;
    const { operation, repeatable } = request.endpoint;
    error.withDetails({ operation, attempts, requestId, retryable: !error.received || repeatable });
    return error;
  }

  /** `null` if the call had to end. */
  #sendOnce(call: Call): Promise<AttemptResult | null> {
    const { signal } = call.end;
    return new Promise((resolve) => {
      const request = this.sender.sign(call.request);
      call.attempts += 1;
      call.requestId = request.random;
      let isOver = false;
      let attemptTimer: NodeJS.Timeout | undefined;
      const done = (result: AttemptResult | null) => {
        isOver = true;
        clearTimeout(attemptTimer);
        resolve(result);
      };
      const { context, attemptTimeoutMs: limitMs = this.options.attemptTimeoutMs } = call.options;
      const sent = Attempt.send({ sender: this.sender, request, number: call.attempts, done, context });
      const abandon = () => {
        if (isOver) return;
        call.received ||= sent.hasStarted;
        if (signal.reason === timeOut) sent.timeOut(call.limitMs);
        else sent.cancel();
        done(null);
      };
      if (limitMs !== undefined && limitMs < call.limitMs) {
        attemptTimer = setTimeout(() => sent.timeOut(limitMs), limitMs);
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

function settle(outcome: AttemptOutcome, received: boolean): Answer<Envelope> {
  if (isSuccess(outcome)) return outcome;
  if (outcome instanceof NoAnswerError) withEarlierAttempts(outcome, received);
  leadToCaller(outcome, settle);
  throw outcome;
}

function withEarlierAttempts(error: NoAnswerError, received: boolean): NoAnswerError {
  if (received) error.afterEarlierAttempts();
  return error;
}

/** The calls to end when their signal is aborted: a signal has one listener, however many calls use it. */
const listeners = new Map<AbortSignal, { readonly calls: Set<() => void>; readonly notify: () => void }>();

/** Returns a function that ends the wait. */
function onAbort(signal: AbortSignal | undefined, call: () => void): () => void {
  if (signal === undefined) return () => {};
  let listener = listeners.get(signal);
  if (listener === undefined) {
    const calls = new Set<() => void>();
    const notify = () => {
      for (const endCall of [...calls]) endCall();
    };
    listener = { calls, notify };
    listeners.set(signal, listener);
    signal.addEventListener('abort', listener.notify);
  }
  const { calls, notify } = listener;
  calls.add(call);
  return () => {
    if (!calls.delete(call) || calls.size > 0) return;
    signal.removeEventListener('abort', notify);
    listeners.delete(signal);
  };
}
