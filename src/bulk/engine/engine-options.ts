import type { Sender } from '../../client/sender.js';
import type { RowOutcome } from '../outcome.js';
import type { RowQueueOptions } from './row-queue.js';

/** How a run sends its rows. */
export interface Pacing {
  /** Maximum number of requests under way at once. */
  readonly concurrency: number;
  /** Maximum number of requests a second; `null`: unlimited. */
  readonly ratePerSecond: number | null;
  /**
   * Maximum number of attempts a row. An attempt that is throttled while other rows are served does not count, nor
   * one that does not reach the service while no other row does.
   */
  readonly attempts: number;
  /** Time-out of one attempt, in milliseconds. */
  readonly timeoutMs: number;
}

export interface EngineOptions<Row> extends Pacing, RowQueueOptions<Row> {
  readonly operation: 'read' | 'passback';
  readonly sender: Sender;
  readonly listener: EngineListener<Row>;
  /** How many batches of rows are fetched before they are needed; default 1. */
  readonly batchesAhead?: number;
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number;
  /** From 0 to below 1. */
  readonly random: () => number;
}

/** What the engine calls. An error that one of them throws ends the run. */
export interface EngineListener<Row> {
  /** `user` is the one that `prepare` returned; `null` for an invalid row. */
  onOutcome(outcome: RowOutcome<Row>, user: string | null): void;
  /** All outcomes of this turn of the event loop were reported; more rows are sent next. */
  onTurn?(): void;
  /** These rows are about to be sent. */
  onSend?(rows: readonly Row[]): void;
  /** A row that was sent has no outcome: it is sent again, or not at all. */
  onTakenBack?(row: Row): void;
  /** Whether to read no new rows for now; asked again after `resume`. */
  isFull?(): boolean;
}
