import type { Sender } from '../../client/sender.js';
import type { RowOutcome } from '../outcome.js';
import type { RowQueueOptions } from './row-queue.js';

/** How a run sends its rows. */
export interface Pacing {
  /** Requests under way at once, at the most. */
  readonly concurrency: number;
  /** Requests a second; `null` for as many as go. */
  readonly ratePerSecond: number | null;
  /**
   * How often a row is sent at the most. To be throttled does not count where others are served, nor to meet nobody
   * where no other row is.
   */
  readonly attempts: number;
  /** How long one attempt may take, in milliseconds. */
  readonly timeoutMs: number;
}

export interface EngineOptions<Row> extends Pacing, RowQueueOptions<Row> {
  readonly operation: 'read' | 'passback';
  readonly sender: Sender;
  readonly listener: EngineListener<Row>;
  /** How many batches of rows are fetched before they are needed; 1 unless given. */
  readonly batchesAhead?: number;
  /** Milliseconds that only go forward. */
  readonly now: () => number;
  /** At least 0, less than 1. */
  readonly random: () => number;
}

/** Whom the engine tells. What `onTurn` and `onSend` throw ends the run; the others must not throw. */
export interface EngineListener<Row> {
  onOutcome(outcome: RowOutcome<Row>): void;
  /** The outcomes of a turn of the event loop have been told; more rows are sent next. */
  onTurn?(): void;
  /** These are about to be sent. */
  onSend?(rows: readonly Row[]): void;
  /** A row of those has no outcome, and will be sent again or not at all. */
  onTakenBack?(row: Row): void;
  /** Whether no new rows should be taken; after `resume` it is asked again. */
  isFull?(): boolean;
}
