import { RejectedError } from '../client/errors.js';
import type { Sender } from '../client/sender.js';
import { missingInfoNames } from '../protocol/info-names.js';
import type { Pacing } from './engine/flow-control.js';
import { RowEngine } from './engine/row-engine.js';
import { type FailureGroup, FailureGroups } from './failure-groups.js';
import { FailedFile } from './files/failed-file.js';
import { Recorder, type RunRecord } from './files/recorder.js';
import type { RowOperation } from './operations.js';
import type { OutcomeCounts, RowOutcome } from './outcome.js';
import { type FileRow, type RowSource, readRows } from './source/rows.js';

/** The end of a run over a file. */
export interface RunReport {
  /** Counts of all parts of the run. */
  readonly counts: OutcomeCounts;
  /** Number of rows that came to an outcome in this part, */
  readonly done: number;
  /** and how many more whose outcome could not be written, as when the disk is full. */
  readonly unwritten: number;
  readonly durationMs: number;
  /** Whether resuming the run would send no row. */
  readonly isFinished: boolean;
  /** The reason for an early end: `interrupted` by `stop`, `failures` by too many of them. */
  readonly stoppedBy: 'interrupted' | 'failures' | 'alike' | Error | null;
  /** Number of rows that are in the file of failed rows; `null` if it could not be written. */
  readonly failedRows: number | null;
  /** For each wanted name that was missing: in how many answers of this part. */
  readonly missing: ReadonlyMap<string, number>;
  /** For each warning (`Answer.warnings`): in how many answers of this part. */
  readonly warnings: ReadonlyMap<string, number>;
  /** Why rows of this part are not ok, the most frequent reason first. */
  readonly failures: readonly FailureGroup[];
  /** The number of rows of `failures` that can succeed when they are sent again as they are. */
  readonly retryable: number;
}

/** A run: its rows, what is done with them, and its files. Connections, results and journal are closed at its end. */
type FileRunOptions = RunRecord & {
  readonly source: RowSource;
  readonly operation: RowOperation;
  readonly sender: Sender;
  readonly pacing: Pacing;
  /** Number of rows that may have another outcome than ok before the run stops. */
  readonly maxFailures: number | null;
};

/** If the first so many rows of a run are refused alike, the column or the tenant is wrong, not the rows. */
const alikeRows = 1000;

/** Sends the rows of an input, and writes down the outcome of each. */
export class FileRun {
  readonly #options: FileRunOptions;
  readonly #engine: RowEngine<FileRow>;
  readonly #recorder: Recorder;
  readonly #failed: FailedFile | null;
  readonly #startedAt = performance.now();
  #done = 0;
  readonly #missing = new Map<string, number>();
  readonly #warnings = new Map<string, number>();
  readonly #failures = new FailureGroups();
  #stoppedBy: RunReport['stoppedBy'] = null;

  /** @throws InvalidInputError if the file of failed rows cannot be written */
  constructor(options: FileRunOptions) {
    const { operation, pacing, sender, failed, source } = options;
    this.#options = options;
    this.#failed = failed && new FailedFile(failed, source.text.encoding === 'utf-8');
    this.#recorder = new Recorder(operation, options, (outcome) => this.#count(outcome));
    this.#engine = new RowEngine(this.#rowsToSend(), {
      ...pacing,
      sender,
      prepare: (row) => operation.prepare(row.fields()),
      listener: this.#recorder,
    });
  }

  /** The number of rows with each outcome, of all parts of the run. */
  get counts(): OutcomeCounts {
    return this.#options.state.counts;
  }

  /** Time for which nothing is sent because the service asked for a pause, or does not answer; in milliseconds. */
  get pausedMs(): number {
    return Math.max(0, this.#engine.flow.pausedUntil - performance.now());
  }

  /** Reads no more rows; awaits those in flight. */
  stop(): void {
    this.#stop('interrupted');
  }

  /**
   * Resolves when no row is in flight any more and the files are complete.
   *
   * @throws only what is a fault of the program
   */
  async run(): Promise<RunReport> {
    const { results, journal, state, operation, sender } = this.#options;
    try {
      await this.#orStop(() => this.#engine.run());
      await sender.drop(); // its connections may have the last descriptors of this process
      await this.#orStop(() => this.#recorder.finish());
      const failedRows = await this.#orStop(() => this.#finishFailed());
      // A row with an unknown outcome may be sent again, unless its code may be used up.
      const hasMore = operation.endpoint.repeatable && state.unknown.size > 0;
      const isFinished = () => this.#stoppedBy === null && !hasMore;
      await this.#orStop(() => this.#recorder.end(isFinished()));
      return {
        counts: state.counts,
        done: this.#done - this.#recorder.unwritten,
        unwritten: this.#recorder.unwritten,
        durationMs: performance.now() - this.#startedAt,
        isFinished: isFinished(),
        stoppedBy: this.#stoppedBy,
        failedRows,
        missing: this.#missing,
        warnings: this.#warnings,
        failures: this.#failures.byRows(),
        retryable: this.#failures.retryable,
      };
    } finally {
      results.close?.();
      journal?.close();
    }
  }

  async *#rowsToSend(): AsyncGenerator<readonly FileRow[]> {
    const { operation, state, source } = this.#options;
    const isBegun = state.settled.size + state.unknown.size > 0;
    const isDone = (line: number) =>
      state.settled.has(line) || (!operation.endpoint.repeatable && state.unknown.has(line));
    for await (const rows of readRows(source)) {
      yield isBegun ? rows.filter(({ line }) => !isDone(line)) : rows;
    }
  }

  #count(result: RowOutcome<FileRow>): void {
    this.#done += 1;
    if (result.outcome === 'ok') {
      const { envelope, warnings } = result.answer;
      countEach(missingInfoNames(this.#options.operation.infoNames, envelope.data), this.#missing);
      countEach(warnings, this.#warnings);
      return;
    }
    const { error } = result;
    const isToRetry = result.outcome !== 'invalid' && this.#options.source.input.size === null;
    if (isToRetry) this.#failed?.add(result.row);
    const isRefused = error instanceof RejectedError;
    const canSucceed = result.outcome !== 'invalid' && !(isRefused && error.entry?.retry === 'never');
    const reason = isRefused ? { code: error.resultCode, text: error.msg } : { text: error.message };
    this.#failures.add(result.outcome, result.row.line, { ...reason, canSucceed });
    const { maxFailures } = this.#options;
    if (this.#failures.rows === maxFailures) this.#stop('failures');
    const isHopeless = this.#done === alikeRows && this.#failures.rows === alikeRows;
    if (maxFailures === null && isHopeless && this.#failures.areAlike && !canSucceed) this.#stop('alike');
  }

  /**
   * Completes the file of the rows to retry, and returns how many there are. A stream cannot be read again: its rows
   * were added as they failed.
   *
   * @throws InvalidInputError if the input cannot be read again, or RunFileError: the file is not written
   */
  async #finishFailed(): Promise<number> {
    const file = this.#failed;
    if (file === null) return 0;
    const { source, state } = this.#options;
    const { failed, unknown } = state;
    const count = failed.size + unknown.size;
    try {
      if (source.input.size !== null && count > 0) {
        for await (const rows of readRows(source)) {
          for (const row of rows) if (failed.has(row.line) || unknown.has(row.line)) file.add(row);
          if (file.count === count) break;
        }
      }
      file.finish();
      return file.count;
    } finally {
      file.close();
    }
  }

  #stop(reason: NonNullable<RunReport['stoppedBy']>): void {
    this.#stoppedBy ??= reason;
    this.#engine.stop();
  }

  /** The result of `work`; `null` if it throws. */
  async #orStop<T>(work: () => T | Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (error) {
      this.#stop(error instanceof Error ? error : new Error(String(error)));
      return null;
    }
  }
}

function countEach(texts: Iterable<string>, counts: Map<string, number>): void {
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
}
