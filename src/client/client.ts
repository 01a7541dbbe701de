import { setTimeout as pause } from 'node:timers/promises';
import type { Envelope } from '../protocol/envelope.js';
import type { ReadData } from '../protocol/read-data.js';
import { resultCode } from '../protocol/result-codes.js';
import type { Answer } from './answer.js';
import { CancelledError, NoAnswerError, RejectedError } from './errors.js';
import type { CallOptions, UserInfoClientOptions } from './options.js';
import {
  type PassbackInput,
  type PlainRequest,
  passbackRequest,
  type ReadInput,
  readRequest,
} from './request.js';
import { type AttemptOutcome, mayHaveActed, mayRetry, pauseBefore } from './retry.js';
import { type Attempt, type AttemptResult, Sender, timedOut } from './sender.js';
import { noticeClosedConnections, type WireRequest } from './transport.js';

export type ReadAnswer = Answer<Envelope<ReadData>>;
export type PassbackAnswer = Answer<Envelope<{ readonly union_id: string }>>;

/** One call on its way through its attempts. */
interface Call {
  readonly request: PlainRequest;
  readonly signal: AbortSignal;
  readonly limitMs: number;
  /** When it must have ended; milliseconds since 1970. */
  readonly deadline: number;
  /** Whether the service may have acted on an attempt of it. */
  received: boolean;
}

/**
 * The two operations of §4, signed. A request that is tried again is signed again.
 *
 * Calls throw an InvalidInputError (nothing was sent), a RejectedError (the service answered with another code
 * than 200), a NoAnswerError (no valid answer came) or a CancelledError.
 */
export class UserInfoClient implements AsyncDisposable {
  readonly #sender: Sender;
  readonly #timeoutMs: number;
  readonly #attempts: number;
  readonly #calls = new Set<Promise<unknown>>();

  /**
   * Throws an InvalidInputError for a base URL, a proxy or a certificate that is none, and for plain http to another
   * machine that `allowHttp` does not allow; a RecipeError for a recipe that says nothing sensible.
   */
  constructor(options: UserInfoClientOptions) {
    this.#sender = new Sender(options);
    this.#timeoutMs = options.timeoutMs ?? 10_000;
    this.#attempts = options.attempts ?? 3;
  }

  /** Reads a user's information (§4.1). */
  async read(input: ReadInput, options: CallOptions = {}): Promise<ReadAnswer> {
    return (await this.#call(readRequest(input), options)) as ReadAnswer;
  }

  /** Passes information about a user back (§4.2). */
  async passback(input: PassbackInput, options: CallOptions = {}): Promise<PassbackAnswer> {
    return (await this.#call(passbackRequest(input), options)) as PassbackAnswer;
  }

  /** The read as it would be sent now: to be shown, or sent by other means. Its `random` is good once. */
  signRead(input: ReadInput): WireRequest {
    return this.#sender.toWire(readRequest(input));
  }

  /** The passback as it would be sent now: to be shown, or sent by other means. Its `random` is good once. */
  signPassback(input: PassbackInput): WireRequest {
    return this.#sender.toWire(passbackRequest(input));
  }

  /** Waits for the calls in flight and closes the client's own connections. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#calls);
    await this.#sender.drop();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #call(
    request: PlainRequest,
    { signal, timeoutMs: limitMs = this.#timeoutMs }: CallOptions,
  ): Promise<Answer<Envelope>> {
    const limit = AbortSignal.timeout(limitMs);
    const call: Call = {
      request,
      signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
      limitMs,
      deadline: this.#sender.now() + limitMs,
      received: false,
    };
    const outcome = this.#attempt(call);
    this.#calls.add(outcome);
    try {
      return await outcome;
    } catch (error) {
      if (signal?.aborted) throw new CancelledError(signal.reason);
      if (!limit.aborted || error !== limit.reason) throw error;
      throw timedOut(this.#sender.host, limitMs, call.received);
    } finally {
      this.#calls.delete(outcome);
    }
  }

  async #attempt(call: Call): Promise<Answer<Envelope>> {
    for (let attempt = 1; ; attempt += 1) {
      call.signal.throwIfAborted();
      const { outcome, retryAfterMs } = await this.#sendOnce(call, attempt);
      call.received ||= mayHaveActed(outcome);
      const waitMs = pauseBefore(attempt + 1, retryAfterMs, Math.random);
      const isLast =
        attempt >= this.#attempts ||
        !mayRetry(call.request.endpoint.operation, outcome) ||
        this.#sender.now() + waitMs >= call.deadline;
      if (isLast) return settle(outcome, call.received);
      await pause(waitMs, undefined, { signal: call.signal }).catch(() => call.signal.throwIfAborted());
    }
  }

  /** Throws the reason of the call's signal where that is aborted. */
  async #sendOnce(call: Call, attempt: number): Promise<AttemptResult> {
    const { request, signal } = call;
    await noticeClosedConnections();
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      let sent: Attempt | undefined;
      const giveUp = () => {
        call.received ||= sent?.hasStarted === true;
        reject(signal.reason);
        sent?.timeOut(call.limitMs);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      sent = this.#sender.send(this.#sender.sign(request), attempt, (result) => {
        signal.removeEventListener('abort', giveUp);
        resolve(result);
      });
    });
  }
}

function settle(outcome: AttemptOutcome, received: boolean): Answer<Envelope> {
  if (outcome instanceof NoAnswerError) throw received ? outcome.afterOthers() : outcome;
  if (outcome.envelope.code === resultCode.ok) return outcome;
  throw new RejectedError(outcome);
}
