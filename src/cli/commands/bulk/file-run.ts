import { RejectedError } from '../../../client/call/errors.js';
import type { Sender } from '../../../client/call/sender.js';
import type { Pacing } from '../../../client/rows/flow-control.js';
import type { OutcomeCounts, RowOutcome } from '../../../client/rows/outcome.js';
import { RowEngine } from '../../../client/rows/row-engine.js';
import { maskWords } from '../../../core/contract/masking.js';
import type { FlatValue } from '../../../core/contract/user-info.js';
import { type FailureGroup, FailureGroups } from './failure-groups.js';
import { FailedFile } from './files/failed-file.js';
import { Recorder, type RunRecord } from './files/recorder.js';
import type { RowOperation } from './operations.js';
import { type FileRow, type RowSource, readRows } from './source/rows.js';

/** The end of a run over a file. */
export interface RunReport {
  /** Counts of all parts of the run. */
  readonly counts: OutcomeCounts;
  /** Number of rows that came to an outcome in this part of the run. */
  readonly done: number;
  /** Number of further rows whose outcome could not be written, as when the disk is full. */
  readonly unwritten: number;
  /** The duration of this part of the run. */
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

/**
 * A run: its rows, what is done with them, and its files. Connections, results and journal are
 * closed at its end.
 */
type FileRunOptions = RunRecord & {
  readonly source: RowSource;
  readonly operation: RowOperation;
  readonly sender: Sender;
  readonly pacing: Pacing;
  /** Number of rows that may have another outcome than ok before the run stops. */
  readonly maxFailures: number | null;
  /** Is called with the values of each row before it is sent. */
  readonly inspect?: (line: number, fields: ReadonlyMap<string, FlatValue>) => void;
};

/**
 * If the first so many rows of a run are refused alike, the column or the tenant is wrong, not the
 * rows.
 */
const alikeRows = 1000;

/** Sends the rows of an input, and writes down the outcome of each. */
export class FileRun {
  readonly #options: FileRunOptions;
  readonly #toRetry: FailedFile | null;
  readonly #recorder: Recorder;
  readonly #engine: RowEngine<FileRow>;
  /** A monotonic clock, in milliseconds. */
  readonly #startedAt = performance.now();
  #done = 0;
  readonly #missing = new Map<string, number>();
  readonly #warnings = new Map<string, number>();
  readonly #failures = new FailureGroups();
  #stoppedBy: RunReport['stoppedBy'] = null;

  /** @throws InvalidInputError if the file of failed rows cannot be written */
  constructor(options: FileRunOptions) {
    const { source, operation, sender, pacing, failed, inspect } = options;
    this.#options = options;
    this.#toRetry = failed && new FailedFile(failed, source);
    this.#recorder = new Recorder(operation, options, (outcome, why) => this.#count(outcome, why));
    this.#engine = new RowEngine(this.#rowsToSend(), {
      ...pacing,
      sender,
      prepare: (row) => {
        const fields = row.fields();
        inspect?.(row.line, fields);
        return operation.prepare(fields);
      },
      listener: this.#recorder,
    });
  }

  /**
   * Time for which nothing is sent because the service asked for a pause, or does not answer; in
   * milliseconds.
   */
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
    const { operation, sender, results, journal, state } = this.#options;
    try {
      await this.#orStop(() => this.#engine.run());
      await sender.drop(); // its connections may have the last descriptors of this process
      await this.#orStop(() => this.#recorder.finish());
      const failedRows = await this.#orStop(() => this.#finishFailed());
      // A row with an unknown outcome may be sent again, unless its code may be used up.
      const hasMore = operation.endpoint.repeatable && state.unknown.size > 0;
      const isFinished = () => this.#stoppedBy === null && !hasMore;
      await this.#orStop(() => this.#recorder.end(isFinished()));
      const { unwritten } = this.#recorder;
      return {
        counts: state.counts,
        done: this.#done - unwritten,
        unwritten,
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
    const { source, operation, state } = this.#options;
    const isResumed = state.settled.size + state.unknown.size > 0;
    const isDone = (line: number) =>
      state.settled.has(line) || (!operation.endpoint.repeatable && state.unknown.has(line));
    for await (const rows of readRows(source)) {
      yield isResumed ? rows.filter(({ line }) => !isDone(line)) : rows;
    }
  }

  /** Counts an outcome; `why` is why the row is not ok. */
  #count(result: RowOutcome<FileRow>, why: string): void {
    const { source } = this.#options;
    this.#done += 1;
    if (result.outcome === 'ok') {
      countEach(result.answer.missing ?? [], this.#missing);
      countEach(result.answer.warnings, this.#warnings);
      return;
    }
    if (source.input.size === null) this.#toRetry?.add(result.row, why);
    const canSucceed = result.outcome !== 'invalid' && canSucceedAgain(result.error);
    const reason = { ...reasonFor(result.error), canSucceed };
    this.#failures.add(result.outcome, result.row.line, reason);
    this.#stopIfHopeless(canSucceed);
  }

  #stopIfHopeless(canSucceed: boolean): void {
    const { maxFailures } = this.#options;
    const failures = this.#failures;
    if (failures.rows === maxFailures) this.#stop('failures');
    if (maxFailures !== null || canSucceed) return;
    const isStart = this.#done === alikeRows && failures.rows === alikeRows;
    if (isStart && failures.areAlike) this.#stop('alike');
  }

  /**
   * Completes the file of the rows that are not ok, and returns how many there are.
   *
   * @throws InvalidInputError if the input cannot be read again, or RunFileError: the file is not
   * written
   */
  async #finishFailed(): Promise<number> {
    const toRetry = this.#toRetry;
    if (toRetry === null) return 0;
    try {
      // A stream cannot be read again: its rows were added as they failed.
      if (this.#options.source.input.size !== null) await this.#addFailed(toRetry);
      toRetry.finish();
      return toRetry.count;
    } finally {
      toRetry.close();
    }
  }

  /** Reads the input again up to the last row that is not ok. */
  async #addFailed(toRetry: FailedFile): Promise<void> {
    const { source, state } = this.#options;
    const { failed, unknown, reasons } = state;
    const rowsToRetry = failed.size + unknown.size;
    if (rowsToRetry === 0) return;
    for await (const rows of readRows(source)) {
      for (const row of rows) {
        const { line } = row;
        if (failed.has(line) || unknown.has(line)) toRetry.add(row, reasons.get(line));
      }
      if (toRetry.count === rowsToRetry) return;
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

/** Whether the same row can succeed another time. */
function canSucceedAgain(error: Error): boolean {
  return !(error instanceof RejectedError) || error.entry?.retry !== 'never';
}

function reasonFor(error: Error): { readonly code?: number; readonly text: string } {
  if (error instanceof RejectedError) return { code: error.resultCode, text: maskWords(error.msg) };
  return { text: error.message };
}

/** Maximum number of texts that are counted each by itself: an answer may have any keys. */
const maxTexts = 100;

function countEach(texts: Iterable<string>, counts: Map<string, number>): void {
  for (const text of texts) {
    const name = counts.size < maxTexts || counts.has(text) ? text : 'others';
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
}
