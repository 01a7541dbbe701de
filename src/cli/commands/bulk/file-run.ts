import { RejectedError } from '../../../client/call/errors.js';
import type { Sender } from '../../../client/call/sender.js';
import type { Pacing } from '../../../client/rows/flow-control.js';
import type { OutcomeCounts, RowOutcome } from '../../../client/rows/outcome.js';
import { RowEngine } from '../../../client/rows/row-engine.js';
import type { FlatValue } from '../../../core/contract/user-info.js';
import { type FailureGroup, FailureGroups } from './failure-groups.js';
import { FailedFile } from './files/failed-file.js';
import { type RunRecord, recordOutcomes } from './files/recorder.js';
import type { RowOperation } from './operations.js';
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

/**
 * Sends the rows of an input, and writes down the outcome of each.
 *
 * @throws InvalidInputError if the file of failed rows cannot be written
 */
export function runOverFile(options: FileRunOptions) {
  const { source, operation, sender, pacing, maxFailures, results, journal, state } = options;
  const { endpoint } = operation;
  const toRetry =
    options.failed && new FailedFile(options.failed, source.text.encoding === 'utf-8');
  const recorder = recordOutcomes(operation, options, count);
  const engine = new RowEngine(rowsToSend(), {
    ...pacing,
    sender,
    prepare: (row) => {
      const fields = row.fields();
      options.inspect?.(row.line, fields);
      return operation.prepare(fields);
    },
    listener: recorder,
  });
  const startedAt = performance.now();
  let done = 0;
  const missing = new Map<string, number>();
  const warnings = new Map<string, number>();
  const failures = new FailureGroups();
  let stoppedBy: RunReport['stoppedBy'] = null;

  async function* rowsToSend(): AsyncGenerator<readonly FileRow[]> {
    const isBegun = state.settled.size + state.unknown.size > 0;
    const isDone = (line: number) =>
      state.settled.has(line) || (!endpoint.repeatable && state.unknown.has(line));
    for await (const rows of readRows(source)) {
      yield isBegun ? rows.filter(({ line }) => !isDone(line)) : rows;
    }
  }

  function count(result: RowOutcome<FileRow>, why: string): void {
    done += 1;
    if (result.outcome === 'ok') {
      countEach(result.answer.missing ?? [], missing);
      countEach(result.answer.warnings, warnings);
      return;
    }
    const { error } = result;
    if (source.input.size === null) toRetry?.add(result.row, why);
    const isRefused = error instanceof RejectedError;
    const canSucceed =
      result.outcome !== 'invalid' && !(isRefused && error.entry?.retry === 'never');
    const reason = isRefused
      ? { code: error.resultCode, text: error.msg }
      : { text: error.message };
    failures.add(result.outcome, result.row.line, { ...reason, canSucceed });
    if (failures.rows === maxFailures) stop('failures');
    const isHopeless = done === alikeRows && failures.rows === alikeRows;
    if (maxFailures === null && isHopeless && failures.areAlike && !canSucceed) stop('alike');
  }

  /**
   * Completes the file of the rows that are not ok, and returns how many there are. A stream cannot be
   * read again: its rows were added as they failed.
   *
   * @throws InvalidInputError if the input cannot be read again, or RunFileError: the file is not
   * written
   */
  async function finishFailed(): Promise<number> {
    if (toRetry === null) return 0;
    const { failed, unknown, reasons } = state;
    const rowsToRetry = failed.size + unknown.size;
    try {
      if (source.input.size !== null && rowsToRetry > 0) {
        for await (const rows of readRows(source)) {
          for (const row of rows) {
            const { line } = row;
            if (failed.has(line) || unknown.has(line)) toRetry.add(row, reasons.get(line));
          }
          if (toRetry.count === rowsToRetry) break;
        }
      }
      toRetry.finish();
      return toRetry.count;
    } finally {
      toRetry.close();
    }
  }

  function stop(reason: NonNullable<RunReport['stoppedBy']>): void {
    stoppedBy ??= reason;
    engine.stop();
  }

  /** The result of `work`; `null` if it throws. */
  async function orStop<T>(work: () => T | Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (error) {
      stop(error instanceof Error ? error : new Error(String(error)));
      return null;
    }
  }

  return {
    /**
     * Time for which nothing is sent because the service asked for a pause, or does not answer; in
     * milliseconds.
     */
    pausedMs: () => Math.max(0, engine.flow.pausedUntil - performance.now()),
    /** Reads no more rows; awaits those in flight. */
    stop: () => stop('interrupted'),
    /**
     * Resolves when no row is in flight any more and the files are complete.
     *
     * @throws only what is a fault of the program
     */
    async run(): Promise<RunReport> {
      try {
        await orStop(() => engine.run());
        await sender.drop(); // its connections may have the last descriptors of this process
        await orStop(recorder.finish);
        const failedRows = await orStop(finishFailed);
        // A row with an unknown outcome may be sent again, unless its code may be used up.
        const hasMore = endpoint.repeatable && state.unknown.size > 0;
        const isFinished = () => stoppedBy === null && !hasMore;
        await orStop(() => recorder.end(isFinished()));
        const unwritten = recorder.unwritten();
        return {
          counts: state.counts,
          done: done - unwritten,
          unwritten,
          durationMs: performance.now() - startedAt,
          isFinished: isFinished(),
          stoppedBy,
          failedRows,
          missing,
          warnings,
          failures: failures.byRows(),
          retryable: failures.retryable,
        };
      } finally {
        results.close?.();
        journal?.close();
      }
    },
  };
}

/** Maximum number of texts that are counted each by itself: an answer may have any keys. */
const maxTexts = 100;

function countEach(texts: Iterable<string>, counts: Map<string, number>): void {
  for (const text of texts) {
    const name = counts.size < maxTexts || counts.has(text) ? text : 'others';
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
}
