import { NoAnswerError, RejectedError } from '../../client/errors.js';
import { type AttemptOutcome, isFaultOfService, isThrottled, mayRetry } from '../../client/retry.js';
import { resultCode } from '../../protocol/result-codes.js';
import type { RowOutcome } from '../outcome.js';
import type { OpenRow } from './open-row.js';

/**
 * What an attempt means for its row: `done` and `refused` are answers; `unsettled` leaves open whether it was done, and
 * must not be tried again; `again` and `throttled` may be. `fatal` concerns every row, and ends the run.
 */
export type Verdict = 'done' | 'refused' | 'unsettled' | 'again' | 'throttled' | 'fatal';

/** The codes that refuse the caller, not the row. */
const fatalCodes: ReadonlySet<number> = new Set([
  resultCode.unknownAppKey,
  resultCode.wrongAppSign,
  resultCode.wrongSign,
  resultCode.timestampOutsideWindow,
  resultCode.appNotAllowed,
  resultCode.noSuchPath,
]);

export function judge(operation: 'read' | 'passback', outcome: AttemptOutcome): Verdict {
  if (isThrottled(outcome)) return 'throttled';
  if (outcome instanceof NoAnswerError && outcome.reason === 'tls') return 'fatal';
  if (mayRetry(operation, outcome)) return 'again';
  if (outcome instanceof NoAnswerError) return 'unsettled';
  const { code } = outcome.envelope;
  if (code === resultCode.ok) return 'done';
  if (fatalCodes.has(code)) return 'fatal';
  return isFaultOfService(outcome) ? 'unsettled' : 'refused';
}

/** Whether the attempt did not reach the service: no connection, or something else answered. */
export function missedService(outcome: AttemptOutcome): boolean {
  if (!(outcome instanceof NoAnswerError)) return false;
  return ['dns', 'connect', 'not-envelope'].includes(outcome.reason);
}

/** The outcome of a row whose last attempt came to `outcome`. */
export function rowOutcome<Row>(
  { row, sent: attempts }: OpenRow<Row>,
  outcome: AttemptOutcome,
  verdict: 'done' | 'refused' | 'unsettled',
): RowOutcome<Row> {
  if (outcome instanceof NoAnswerError) return { outcome: 'unknown', row, attempts, error: outcome };
  if (verdict === 'done') return { outcome: 'ok', row, attempts, answer: outcome };
  const error = new RejectedError(outcome);
  return { outcome: verdict === 'refused' ? 'failed' : 'unknown', row, attempts, error };
}

/** The error of a run that this attempt ends. */
export function errorOf(outcome: AttemptOutcome): NoAnswerError | RejectedError {
  return outcome instanceof NoAnswerError ? outcome : new RejectedError(outcome);
}
