import type { Answer } from '../client/answer.js';
import { NoAnswerError, RejectedError } from '../client/errors.js';
import {
  type AttemptOutcome,
  concernsEveryRequest,
  isFaultOfService,
  isSuccess,
  isThrottled,
  mayRetry,
} from '../client/retry.js';
import type { Endpoint } from '../protocol/endpoints.js';
import type { InvalidInputError } from '../protocol/errors.js';

/** The end of a row: every row has exactly one of them. */
export const outcomes = ['ok', 'failed', 'invalid', 'unknown'] as const;
/** How a row ended. */
export type Outcome = (typeof outcomes)[number];

/** A row and its outcome. */
export type RowOutcome<Row, A extends Answer<unknown> = Answer> = {
  readonly row: Row;
  /** Number of requests that were sent for it. */
  readonly attempts: number;
} & (
  | { readonly outcome: 'ok'; readonly answer: A }
  /** The service refused it. */
  | { readonly outcome: 'failed'; readonly error: RejectedError }
  /** It breaks a rule of the spec, and was not sent. */
  | { readonly outcome: 'invalid'; readonly error: InvalidInputError }
  /** No answer, or none that says whether it was carried out, after all attempts. */
  | { readonly outcome: 'unknown'; readonly error: NoAnswerError | RejectedError }
);

/** The number of rows with each outcome. */
export type OutcomeCounts = Readonly<Record<Outcome, number>>;

/**
 * What an attempt means for its row: `done` and `refused` are answers; `unsettled` leaves open whether it was
 * carried out, and must not be retried; `retry` and `throttled` may be retried. `fatal` concerns every row, and
 * ends the run.
 */
export type Verdict = 'done' | 'refused' | 'unsettled' | 'retry' | 'throttled' | 'fatal';

export function classify(endpoint: Pick<Endpoint, 'repeatable'>, outcome: AttemptOutcome): Verdict {
  if (isSuccess(outcome)) return 'done';
  if (isThrottled(outcome)) return 'throttled';
  if (concernsEveryRequest(outcome)) return 'fatal';
  if (mayRetry(endpoint, outcome)) return 'retry';
  if (outcome instanceof NoAnswerError) return 'unsettled';
  if (outcome.entry?.refuses === 'caller') return 'fatal';
  return isFaultOfService(outcome) ? 'unsettled' : 'refused';
}

/** Whether the attempt did not reach the service: no connection, or an answer from something else. */
export function missedService(outcome: AttemptOutcome): boolean {
  if (!(outcome instanceof NoAnswerError)) return false;
  return ['dns', 'connect', 'not-envelope'].includes(outcome.reason);
}

/** The outcome of a row after its last attempt. */
export function rowOutcome<Row>(
  { row, sent: attempts }: { readonly row: Row; readonly sent: number },
  outcome: AttemptOutcome,
  verdict: 'done' | 'refused' | 'unsettled',
): RowOutcome<Row> {
  if (isSuccess(outcome)) return { outcome: 'ok', row, attempts, answer: outcome };
  if (verdict === 'refused' && outcome instanceof RejectedError)
    return { outcome: 'failed', row, attempts, error: outcome };
  return { outcome: 'unknown', row, attempts, error: outcome };
}
