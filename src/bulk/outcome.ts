import type { Answer } from '../client/answer.js';
import type { NoAnswerError, RejectedError } from '../client/errors.js';
import type { Envelope } from '../protocol/envelope.js';
import type { InvalidInputError } from '../protocol/errors.js';

/** How a row ended: every row has exactly one of them. */
export const outcomes = ['ok', 'failed', 'invalid', 'unknown'] as const;
export type Outcome = (typeof outcomes)[number];

/** A row and its outcome. */
export type RowOutcome<Row, E extends Envelope<unknown> = Envelope> = {
  readonly row: Row;
  /** How often it was sent. */
  readonly attempts: number;
} & (
  | { readonly outcome: 'ok'; readonly answer: Answer<E> }
  /** The service said no. */
  | { readonly outcome: 'failed'; readonly error: RejectedError }
  /** It breaks a rule of the spec, and was never sent. */
  | { readonly outcome: 'invalid'; readonly error: InvalidInputError }
  /** No answer, or none that says whether it was done, and all attempts are used up. */
  | { readonly outcome: 'unknown'; readonly error: NoAnswerError | RejectedError }
);

/** How many rows have come to each outcome. */
export type OutcomeCounts = Readonly<Record<Outcome, number>>;
