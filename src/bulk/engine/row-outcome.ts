import { NoAnswerError, RejectedError } from '../../client/errors.js';
import type { AttemptOutcome } from '../../client/retry.js';
import type { RowOutcome } from '../outcome.js';
import type { Flight } from './flight.js';

/** What an attempt, the last one, makes of its row. */
export function rowOutcome<Row>(
  { row, sent: attempts }: Flight<Row>,
  outcome: AttemptOutcome,
  verdict: 'done' | 'refused' | 'unsettled',
): RowOutcome<Row> {
  if (outcome instanceof NoAnswerError) return { outcome: 'unknown', row, attempts, error: outcome };
  if (verdict === 'done') return { outcome: 'ok', row, attempts, answer: outcome };
  const error = new RejectedError(outcome);
  return { outcome: verdict === 'refused' ? 'failed' : 'unknown', row, attempts, error };
}

export function errorOf(outcome: AttemptOutcome): NoAnswerError | RejectedError {
  return outcome instanceof NoAnswerError ? outcome : new RejectedError(outcome);
}
