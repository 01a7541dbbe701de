import type { Sender } from '../../client/sender.js';
import type { RowOutcome } from '../outcome.js';
import type { RowQueueOptions } from './row-queue.js';

/** How a run sends its rows. */
export interface Pacing {
  /** Requests under way at once, at most. */
  readonly concurrency: number;
  /** Requests a second, at most; `null`: no limit. */
  readonly ratePerSecond: number | null;
  /**
   * How often a row is sent, at most. An attempt that is throttled while other rows are served does not count, nor one
   * that does not reach the service while no other row does.
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

/** What the engine calls. An error that one of them throws ends the run. */
export interface EngineListener<Row> {
  onOutcome(outcome: RowOutcome<Row>): void;
  /** All outcomes of this turn of the event loop are known; more rows are sent next. */
  onTurn?(): void;
  /** These rows are about to be sent. */
  onSend?(rows: readonly Row[]): void;
  /** A row that was sent has no outcome: it is sent again, or not at all. */
  onTakenBack?(row: Row): void;
  /** Whether no new rows may be taken at present; asked again after `resume`. */
  isFull?(): boolean;
}
