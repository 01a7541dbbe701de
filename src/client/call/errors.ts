import { endpointNamed, type OperationName } from '../../core/contract/endpoints.js';
import {
  InvalidInputError,
  quoteName,
  UserInfoError,
  type UserInfoErrorOptions,
} from '../../core/contract/errors.js';
import { maskWords } from '../../core/contract/masking.js';
import {
  httpStatusOf,
  mayRepeat,
  ownResultCodes,
  type ResultCode,
  type ResultCodeEntry,
  type ResultCodeName,
  resultCode,
  resultCodeEntry,
} from '../../core/contract/result-codes.js';
import { RecipeError } from '../../core/signing/recipe.js';
import type { Answer, AnswerHeaders } from './answer.js';

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
  /**
   * The runtime cannot send the request: it lacks the sockets of Node, or what they are made of.
   */
  | 'runtime'
  /** Something answered, but not with the envelope of §1. */
  | 'not-envelope'
  /**
   * A success whose `data` names no user, or another user than the passback named (§4.1, §4.2); or
   * an answer that names the user with a code that is neither 200 nor known as a refusal.
   */
  | 'wrong-data'
  /**
   * A function of the caller, such as `appSecret` or a signer, failed or took too long: the request
   * was not signed.
   */
  | 'secret';

type CallDetails = Pick<
  CallError,
  'operation' | 'attempts' | 'requestId' | 'retryable' | 'retryAfterMs'
>;

/**
 * A call that failed after its input was accepted: a RejectedError, a NoAnswerError or a
 * CancelledError.
 *
 * @hideconstructor
 * @example
 * if (error instanceof CallError && error.retryable) await queue.retry(job, error.requestId);
 */
export abstract class CallError extends UserInfoError {
  /** @internal */
  static override readonly name: string = 'CallError';
  /** @internal */
  static readonly codes: readonly string[] = ['NO_ANSWER', 'REJECTED', 'CANCELLED'];
  /** The operation that was called. */
  declare readonly operation: OperationName;
  /** Number of requests that were sent, or were about to be. */
  declare readonly attempts: number;
  /**
   * The `random` of the last request (§5.4), by which an operator can find it; undefined if none
   * was signed.
   */
  declare readonly requestId: string | undefined;
  /** Whether the same call can be made again later, unchanged, without doing something twice. */
  declare readonly retryable: boolean;
  /**
   * `Retry-After` of the last answer, in milliseconds from then; undefined without it. 2^31 - 1 for
   * any longer time.
   */
  readonly retryAfterMs: number | undefined = undefined;
  /** @internal The sentence of the hint that says that the call may have been carried out. */
  declare readonly doubt: string | undefined;

  /** @internal Sets the details of the call. */
  setDetails(details: Partial<CallDetails>): this {
    return Object.assign<this, Partial<CallDetails>>(this, details);
  }

  /** @internal Says before the hint that the call may have been carried out. */
  addDoubt(doubt: string): void {
    const sentences = [doubt];
    if (this.hint !== undefined) sentences.push(this.hint);
    Object.assign(this, { hint: sentences.join(' ') });
    addHidden(this, { doubt });
  }
}

/** Adds what neither a log of the error nor its JSON shows. */
function addHidden(error: CallError, values: object): void {
  for (const [name, value] of Object.entries(values)) Object.defineProperty(error, name, { value });
}

/**
 * No valid answer came. Whether the service acted on the request is unknown, unless `received` is
 * false.
 *
 * @example
 * if (error instanceof NoAnswerError && !error.received) await queue.retry(job, error.requestId);
 */
export class NoAnswerError extends CallError {
  /** @internal */
  static override readonly name: string = 'NoAnswerError';
  static readonly code = 'NO_ANSWER';
  readonly code = 'NO_ANSWER';
  /** Why no valid answer came. */
  readonly reason: NoAnswerReason;
  /** False if no request of the call can have reached the service. */
  readonly received: boolean;
  /** The HTTP status, if an answer came; also that of a proxy that refused. */
  readonly httpStatus: number | undefined;
  /** The headers, if an answer came. A log of the error does not show them. */
  declare readonly headers: AnswerHeaders | undefined;
  /**
   * The body, if a whole answer came: whatever the platform, or something before it, sent. UTF-8,
   * unless it could not be decoded. A log of the error does not show it: it may hold personal data.
   */
  declare readonly body: Uint8Array | undefined;
  /**
   * The envelope, if the reason is `wrong-data`. A log of the error does not show it: it may hold
   * personal data.
   */
  declare readonly answer: Answer | undefined;

  /**
   * The client sets the details of the call; a test of your program gives those that matter to it.
   *
   * @default `operation`: `read`; `attempts`: 1; `retryable`: whether `received` is false or the
   * operation is repeatable
   */
  constructor(
    message: string,
    options: UserInfoErrorOptions &
      Partial<CallDetails> & {
        readonly reason: NoAnswerReason;
        readonly received: boolean;
        readonly httpStatus?: number;
        readonly headers?: AnswerHeaders;
        readonly body?: Uint8Array;
        readonly answer?: Answer;
      },
  ) {
    super(message, options);
    this.reason = options.reason;
    this.received = options.received;
    this.httpStatus = options.httpStatus;
    const { headers, body, answer } = options;
    addHidden(this, { headers, body, answer });
    const { operation = 'read', attempts = 1, requestId, retryAfterMs } = options;
    const { retryable = !options.received || endpointNamed[operation].repeatable } = options;
    this.setDetails({ operation, attempts, requestId, retryAfterMs, retryable });
  }

  /** @internal */
  override addDoubt(doubt: string): void {
    // The hint of an attempt that did not arrive says what the call cannot say any more.
    if (!this.received) Object.assign(this, { received: true, hint: 'Try again.' });
    super.addDoubt(doubt);
  }
}

/**
 * What a RejectedError says, for a test of your program. Only what it `means` is needed, or a
 * `resultCode`: the rest is as the service of this project answers a first read.
 *
 * @example
 * const rejection: RejectionDetails = { means: 'noSuchUser', operation: 'passback' };
 * const client = { passback: () => Promise.reject(new RejectedError(rejection)) };
 */
export type RejectionDetails = Partial<CallDetails> & {
  /** `msg` of the envelope. */
  readonly msg?: string;
  /** The HTTP status of the answer. */
  readonly httpStatus?: number;
  /** The headers of the answer, by their names in lower case. */
  readonly headers?: AnswerHeaders;
} & (
    | { readonly means: ResultCodeName; readonly resultCode?: number }
    | { readonly resultCode: number; readonly means?: ResultCodeName }
  );

/** An answer with a code other than 200, and the entry of the code, if the table has one. */
interface Refusal {
  readonly answer: Answer;
  readonly entry: ResultCodeEntry | undefined;
}

/** The refusal that a test of a program describes. */
function refusalOf(rejection: RejectionDetails): Refusal {
  const { means, headers = {}, attempts = 1, requestId = 'made-by-a-test' } = rejection;
  const code = rejection.resultCode ?? resultCode[means ?? 'internal'];
  const ownEntry = ownResultCodes.get(code);
  const envelope = { code, msg: rejection.msg ?? ownEntry?.msg ?? '', data: {} };
  const answer = {
    envelope,
    data: {},
    body: Buffer.from(JSON.stringify(envelope)),
    httpStatus: rejection.httpStatus ?? statusOf(code),
    headers,
    date: undefined,
    requestId,
    attempts,
    warnings: [],
  };
  return { answer, entry: means === undefined ? ownEntry : resultCodeEntry(resultCode[means]) };
}

function statusOf(code: number): number {
  if (!ownResultCodes.has(code)) return 200;
  return httpStatusOf(code as ResultCode);
}

/**
 * The service answered with a code other than 200 (§7).
 *
 * @example
 * if (error instanceof RejectedError && error.means === 'codeNotValid') response.redirect('/sign-in');
 */
export class RejectedError extends CallError {
  /** @internal */
  static override readonly name: string = 'RejectedError';
  static readonly code = 'REJECTED';
  readonly code = 'REJECTED';
  /** `code` of the envelope. */
  readonly resultCode: number;
  /** The meaning of the code; undefined if the table of result codes does not say. */
  readonly means: ResultCodeName | undefined;
  /**
   * `msg` of the envelope: text from the network, in which values of your `headers` are hidden. It
   * may have personal data, which are masked in `message`. Without it, `message` or `error` of the
   * answer.
   */
  readonly msg: string;
  /** The HTTP status of the answer. */
  readonly httpStatus: number;
  /** The whole answer. A log of the error does not show it: it may hold personal data. */
  declare readonly answer: Answer;
  /** The headers of the answer. A log of the error does not show them. */
  declare readonly headers: AnswerHeaders;
  /** @internal The entry of the code; undefined for a code that is not in the table. */
  declare readonly entry: ResultCodeEntry | undefined;

  /** As a test of your program makes one. */
  constructor(rejection: RejectionDetails);
  /** @internal As the client makes one, which then sets the details of the call. */
  constructor(refusal: Refusal);
  constructor(rejection: RejectionDetails | Refusal) {
    const { answer, entry } = 'answer' in rejection ? rejection : refusalOf(rejection);
    const { code, msg } = answer.envelope;
    const said = msg === '' ? 'without a msg' : quoteName(maskWords(msg));
    super(`the service answered ${code} ${said}`, {
      hint: entry?.hint ?? 'The code is not in the table: ask the operator.',
    });
    this.resultCode = code;
    this.means = entry?.means;
    this.msg = msg;
    this.httpStatus = answer.httpStatus;
    addHidden(this, { answer, headers: answer.headers, entry });
    if ('answer' in rejection) return;
    const { operation = 'read', retryAfterMs } = rejection;
    const { repeatable, doubt } = endpointNamed[operation];
    const { retryable = mayRepeat(entry, repeatable) } = rejection;
    const { attempts, requestId } = answer;
    this.setDetails({ operation, retryable, attempts, requestId, retryAfterMs });
    if (entry?.retry === 'repeatable') this.addDoubt(doubt);
  }
}

/**
 * Ends a bulk run: the service requests, by `Retry-After`, a longer pause than the run makes.
 * `cause` is the RejectedError or the NoAnswerError of that answer.
 *
 * @example
 * if (error instanceof RetryLaterError) setTimeout(run, error.retryAfterMs);
 */
export class RetryLaterError extends UserInfoError {
  /** @internal */
  static override readonly name: string = 'RetryLaterError';
  static readonly code = 'RETRY_LATER';
  readonly code = 'RETRY_LATER';
  override readonly retryable = true;
  /** Requested pause in milliseconds; 2^31 - 1 for any longer time. */
  readonly retryAfterMs: number;

  /** `host` is that of the service; `retryAfterMs` the requested pause, in milliseconds. */
  constructor(
    host: string,
    retryAfterMs: number,
    cause: RejectedError | NoAnswerError | undefined,
  ) {
    super(
      `${host} asks to wait ${Math.ceil(retryAfterMs / 60_000)} minutes before the next request`,
      {
        cause,
        hint: 'The run is stopped. Send the rows that have no outcome after that time.',
      },
    );
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * The caller's AbortSignal, or `close({ force: true })`, ended the call.
 *
 * @example
 * const call = client.read({ code }, { signal: AbortSignal.timeout(1_000) });
 * await call.catch((error: unknown) => {
 *   if (!(error instanceof CancelledError)) throw error;
 * });
 */
export class CancelledError extends CallError {
  /** @internal */
  static override readonly name: string = 'CancelledError';
  static readonly code = 'CANCELLED';
  readonly code = 'CANCELLED';
  /** Whether the service may have acted on the call. */
  readonly received: boolean;

  /** `cause` is the reason of the signal. */
  constructor(cause: unknown, received: boolean, hint?: string) {
    const doubt = 'Whether the request was carried out is not known.';
    const outcome = received ? doubt : 'The request was not carried out.';
    super('cancelled', { cause, hint: hint ?? outcome });
    this.received = received;
  }
}

/**
 * Every error that the client and the recipes throw on purpose. Their `code` tells them apart: a
 * `switch` over it narrows.
 *
 * @example
 * const explain = (failure: UserInfoFailure) => {
 *   switch (failure.code) {
 *     case 'REJECTED':
 *       return failure.means ?? failure.msg;
 *     case 'NO_ANSWER':
 *       return failure.reason;
 *     default:
 *       return failure.message;
 *   }
 * };
 */
export type UserInfoFailure =
  | InvalidInputError
  | RejectedError
  | NoAnswerError
  | CancelledError
  | RetryLaterError
  | RecipeError;

/**
 * Whether something caught is one of the errors of `UserInfoFailure`, also of another copy of this
 * package.
 *
 * @example
 * if (isUserInfoFailure(error) && error.code === 'REJECTED') console.error(error.means, error.msg);
 */
export function isUserInfoFailure(error: unknown): error is UserInfoFailure {
  const classes = [CallError, InvalidInputError, RetryLaterError, RecipeError];
  return classes.some((errorClass) => error instanceof errorClass);
}
