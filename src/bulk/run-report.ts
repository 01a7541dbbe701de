import type { OutcomeCounts } from './outcome.js';

/** How a run over a file ended. */
export interface RunReport {
  /** Of all parts of the run. */
  readonly counts: OutcomeCounts;
  /** How many rows came to an outcome in this part. */
  readonly done: number;
  readonly durationMs: number;
  /** No row is left that resuming the run would send. */
  readonly isFinished: boolean;
  /** What stopped it before its end: `interrupted` by `stop`, `failures` by too many of them. */
  readonly stoppedBy: 'interrupted' | 'failures' | Error | null;
  /** How many rows are in the file of failed ones; `null` where it could not be written. */
  readonly failedRows: number | null;
  /** In how many answers of this part a wanted name was missing, by name; names that always came are left out. */
  readonly missing: ReadonlyMap<string, number>;
}

/** How a run over a file goes, while it does. */
export interface RunProgress extends Pick<RunReport, 'counts'> {
  /** Of the input, in bytes. */
  readonly bytesRead: number;
  /** For how long nothing is sent because the service asked for it, or does not answer; in milliseconds. */
  readonly pausedMs: number;
}
