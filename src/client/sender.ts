import type { Dispatcher } from 'undici';
import { parseBaseUrl, refusePlainHttp } from '../protocol/base-url.js';
import { InvalidInputError } from '../protocol/errors.js';
import { AnswerCollector, type AnswerListener } from './answer-collector.js';
import { openConnections } from './connections.js';
import { CancelledError, NoAnswerError } from './errors.js';
import { Hooks, type NoAnswerEvent, type RequestEvent, showAnswer, showParameters } from './events.js';
import { toNoAnswerError } from './failures.js';
import { checkClientOptions } from './input.js';
import type { UserInfoClientOptions } from './options.js';
import type { HttpProxy } from './proxy.js';
import type { PlainRequest } from './request.js';
import { RequestSigner } from './request-signer.js';
import type { AttemptOutcome } from './retry.js';
import { parseRetryAfter } from './retry-after.js';
import { takeAnswer } from './take-answer.js';
import {
  dispatchOptions,
  type SignedRequest,
  toWireRequest,
  type WireAnswer,
  type WireRequest,
} from './transport.js';

/** What one attempt came to. */
export interface AttemptResult {
  readonly outcome: AttemptOutcome;
  /** How long the service asks to wait before the next one, in milliseconds. */
  readonly retryAfterMs: number | undefined;
}

/** Who signs and sends requests for one app of one deployment: one attempt at a time, many at once. */
export class Sender {
  readonly baseUrl: string;
  /** The two parts of the base URL. */
  readonly origin: string;
  readonly pathPrefix: string;
  /** Of the base URL, with its port, for messages. */
  readonly host: string;
  readonly proxy: HttpProxy | null;
  readonly dispatcher: Pick<Dispatcher, 'dispatch'>;
  readonly hooks: Hooks;
  readonly #signer: RequestSigner;
  readonly #now: () => number;
  readonly #drop: () => Promise<void>;

  /**
   * Throws an InvalidInputError that names the option at fault, and for plain http to another machine that `allowHttp`
   * does not allow; a RecipeError for a recipe that says nothing sensible.
   */
  constructor(options: UserInfoClientOptions) {
    checkClientOptions(options);
    const { dispatcher, connections = 128, connectTimeoutMs = 5_000, extraCa, proxy } = options;
    this.baseUrl = parseBaseUrl(String(options.baseUrl), 'the option baseUrl');
    refusePlainHttp(this.baseUrl, options.allowHttp === true, 'allowHttp', 'the option baseUrl');
    const { host, origin } = new URL(this.baseUrl);
    this.host = host;
    this.origin = origin;
    this.pathPrefix = this.baseUrl.slice(origin.length);
    this.#signer = new RequestSigner(this.baseUrl, options);
    this.hooks = new Hooks(options);
    this.#now = options.now ?? Date.now;
    const own =
      dispatcher ?? openConnections({ baseUrl: this.baseUrl, connectTimeoutMs, extraCa, proxy, connections });
    this.dispatcher = 'drop' in own ? own.dispatcher : own;
    this.proxy = 'drop' in own ? own.proxy : null;
    this.#drop = 'drop' in own ? own.drop : async () => {};
  }

  /** Milliseconds since 1970. */
  now(): number {
    return this.#now();
  }

  /** Signs a request for one attempt. Throws an InvalidInputError for one that breaks a rule of §4 or §8. */
  sign(request: PlainRequest): SignedRequest {
    return this.#signer.sign(request);
  }

  /** The request as it would be sent now, to be sent by other means. Throws as `sign` does. */
  toWire(request: PlainRequest): WireRequest {
    return toWireRequest(this.sign(request), this.baseUrl);
  }

  /** Sends a signed request, once; `attempt` counts from 1. `done` is called once, at the end. */
  send(request: SignedRequest, attempt: number, done: (result: AttemptResult) => void): Attempt {
    return new Attempt(this, request, attempt, done);
  }

  /** Closes its own connections, with what is under way on them. */
  drop(): Promise<void> {
    return this.#drop();
  }
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
