import type { RunReport } from './file-run.js';
import type { RunPaths } from './files/run-files.js';
import type { BulkRun } from './row-source.js';

/** A run that has ended. */
export interface EndedRun extends BulkRun {
  readonly report: RunReport;
  /** `null` if the rows are of a stream: the run cannot be resumed. */
  readonly paths: RunPaths | null;
  /** The number of rows; `null` if it is not known. */
  readonly total: number | null;
}
