import type { Envelope } from '../protocol/envelope.js';
import { UserInfoError, type UserInfoErrorOptions } from '../protocol/errors.js';
import { describeResultCode } from '../protocol/result-codes.js';
import { quoteName } from '../protocol/text.js';
import type { Answer } from './answer.js';

/** Why no valid answer came. */
export type NoAnswerReason =
  | 'dns'
  | 'connect'
  /** The proxy could not be reached, or refused the request. */
  | 'proxy'
  | 'tls'
  | 'timeout'
  /** The connection ended before the answer was complete. */
  | 'reset'
  /** Something answered, but not with the envelope of §1. */
  | 'not-envelope'
  /** A success, but its `data` names no user, or another user than the passback named (§4.1, §4.2). */
  | 'wrong-data';

/** No valid answer came. Whether the service acted on the request is unknown, unless `received` is false. */
export class NoAnswerError extends UserInfoError {
  readonly code = 'NO_ANSWER';
  readonly reason: NoAnswerReason;
  /** False if the request cannot have reached the service. */
  readonly received: boolean;
  /** The HTTP status, if an answer came. */
  readonly httpStatus: number | undefined;
  readonly #answer: Answer<Envelope> | undefined;

  constructor(
    message: string,
    options: UserInfoErrorOptions & {
      readonly reason: NoAnswerReason;
      readonly received: boolean;
      readonly httpStatus?: number;
      readonly answer?: Answer<Envelope>;
    },
  ) {
    super(message, options);
    this.reason = options.reason;
    this.received = options.received;
    this.httpStatus = options.httpStatus;
    this.#answer = options.answer;
  }

  /** The envelope, if the reason is `wrong-data`. A log of the error does not show it: it may hold personal data. */
  get answer(): Answer<Envelope> | undefined {
    return this.#answer;
  }

  /** The same error for a call of several attempts, one of which may have reached the service. */
  afterEarlierAttempts(): NoAnswerError {
    if (this.received) return this;
    return new NoAnswerError(this.message, {
      reason: this.reason,
      received: true,
      hint: 'Try again; whether an earlier attempt was carried out is not known.',
      cause: this.cause,
      ...(this.httpStatus === undefined ? {} : { httpStatus: this.httpStatus }),
    });
  }
}

/** The service answered with a code other than 200 (§7). */
export class RejectedError extends UserInfoError {
  readonly code = 'REJECTED';
  /** `code` of the envelope. */
  readonly resultCode: number;
  /** `msg` of the envelope, as received: text from the network. */
  readonly msg: string;
  readonly #answer: Answer<Envelope>;

  constructor(answer: Answer<Envelope>) {
    const { code, msg } = answer.envelope;
    super(`the service answered ${code} ${quoteName(msg)}`, {
      hint: describeResultCode(code)?.hint ?? 'The code is not in the table: ask the operator.',
    });
    this.resultCode = code;
    this.msg = msg;
    this.#answer = answer;
  }

  /** The whole answer. A log of the error does not show it: it may hold personal data. */
  get answer(): Answer<Envelope> {
    return this.#answer;
  }
}

/**
 * Ends a bulk run: the service requests, by `Retry-After`, a longer pause than the run makes. `cause` is the
 * RejectedError or the NoAnswerError of that answer.
 */
export class RetryLaterError extends UserInfoError {
  readonly code = 'RETRY_LATER';
  /** Requested pause in milliseconds; 2^31 - 1 for any longer time. */
  readonly retryAfterMs: number;

  constructor(host: string, retryAfterMs: number, cause: RejectedError | NoAnswerError) {
    super(`${host} asks to wait ${Math.ceil(retryAfterMs / 60_000)} minutes before the next request`, {
      cause,
      hint: 'The run is stopped. Send the rows that have no outcome after that time.',
    });
    this.retryAfterMs = retryAfterMs;
  }
}

/** The caller's AbortSignal ended the call. */
export class CancelledError extends UserInfoError {
  readonly code = 'CANCELLED';
  /** Whether the service may have acted on the call. */
  readonly received: boolean;

  /** `cause` is the reason of the signal. */
  constructor(
    cause: unknown,
    received: boolean,
    hint = received
      ? 'Whether the request was carried out is not known.'
      : 'The request was not carried out.',
  ) {
    super('cancelled', { cause, hint });
    this.received = received;
  }
}
