import type { Endpoint } from '../../core/contract/endpoints.js';
import type { InvalidInputError } from '../../core/contract/errors.js';
import type { Answer } from '../call/answer.js';
import { NoAnswerError, type RejectedError } from '../call/errors.js';
import type { PlainRequest } from '../call/request.js';
import {
  type AttemptOutcome,
  concernsEveryRequest,
  isSuccess,
  isThrottled,
  judge,
  mayRetry,
} from '../call/retry.js';

/** The end of a row: every row has exactly one of them. */
export const outcomes = ['ok', 'failed', 'invalid', 'unknown'] as const;
/** How a row ended. */
export type Outcome = (typeof outcomes)[number];

/** A row and its outcome. */
export type RowOutcome<Row, A extends Answer<unknown> = Answer> = {
  /** The row as the source returned it. */
  readonly row: Row;
  /** Number of requests that were sent for it. */
  readonly attempts: number;
} & (
  | { readonly outcome: 'ok'; readonly answer: A }
  /** Not carried out: the service refused it, throttled its last attempt, or was not reached. */
  | { readonly outcome: 'failed'; readonly error: RejectedError | NoAnswerError }
  /** It breaks a rule of the spec, and was not sent. */
  | { readonly outcome: 'invalid'; readonly error: InvalidInputError }
  /** No answer, or none that says whether it was carried out, after all attempts. */
  | { readonly outcome: 'unknown'; readonly error: NoAnswerError | RejectedError }
);

/** The number of rows with each outcome. */
export type OutcomeCounts = Readonly<Record<Outcome, number>>;

/**
 * What an attempt means for its row: `final` settles it; `retry` and `throttled` may be retried;
 * `fatal` concerns every row, and ends the run.
 */
export type Verdict = 'final' | 'retry' | 'throttled' | 'fatal';

/** What an attempt of an operation means for its row. */
export function classify(endpoint: Pick<Endpoint, 'repeatable'>, outcome: AttemptOutcome): Verdict {
  if (isSuccess(outcome)) return 'final';
  if (isThrottled(outcome)) return 'throttled';
  if (concernsEveryRequest(outcome)) return 'fatal';
  if (mayRetry(endpoint, outcome)) return 'retry';
  if (outcome instanceof NoAnswerError) return 'final';
  return outcome.entry?.refuses === 'caller' ? 'fatal' : 'final';
}

/**
 * Whether the attempt did not reach the service: no connection, or an answer from something else.
 */
export function isMiss(outcome: AttemptOutcome): boolean {
  if (!(outcome instanceof NoAnswerError)) return false;
  return ['dns', 'connect', 'not-envelope'].includes(outcome.reason);
}

/** A row whose last attempt has ended. */
interface EndedRow<Row> {
  readonly row: Row;
  readonly request: PlainRequest;
  /** Number of times it was sent. */
  readonly sent: number;
  /** Whether the service may have acted on an earlier attempt. */
  readonly mayHaveActed: boolean;
}

/** The outcome of a row by that of its last attempt. */
export function rowOutcome<Row>(
  { row, request, sent: attempts, mayHaveActed }: EndedRow<Row>,
  outcome: AttemptOutcome,
): RowOutcome<Row> {
  if (isSuccess(outcome)) return { outcome: 'ok', row, attempts, answer: outcome };
  const judged = judge(outcome, request.endpoint, mayHaveActed);
  return { outcome: judged, row, attempts, error: outcome };
}
