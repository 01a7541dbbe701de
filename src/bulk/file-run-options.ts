import type { Sender } from '../client/sender.js';
import type { Pacing } from './engine/engine-options.js';
import type { FailedPlace } from './files/failed-file.js';
import type { RecorderFiles } from './files/recorder.js';
import type { RowOperation } from './operations/row-operation.js';
import type { InputRowsOptions } from './source/input-rows.js';
import type { FileRow } from './source/row-format.js';

/**
 * Where the rows come from, what is done with them, and where that is written down. Results and journal are closed at
 * the end; to what `state` says of earlier parts of the run, what this one does is added.
 */
export interface FileRunOptions<Row extends FileRow> extends InputRowsOptions<Row>, RecorderFiles {
  readonly operation: RowOperation;
  readonly sender: Sender;
  readonly pacing: Pacing;
  /** Where the rows go that are worth trying again. */
  readonly failed: FailedPlace | null;
  /** How many rows may come to another outcome than ok before the run stops. */
  readonly maxFailures: number | null;
  /** Milliseconds that only go forward. */
  readonly now: () => number;
  /** At least 0, less than 1. */
  readonly random: () => number;
}
