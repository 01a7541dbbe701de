import type { Writable } from 'node:stream';
import type { Outcome, RowOutcome } from '../../../../client/rows/outcome.js';
import { describeSystemError } from '../../../../core/support/errors.js';
import { type RowOperation, userOf } from '../operations.js';
import type { FileRow } from '../source/rows.js';
import { AppendFile, chunkLength, noContents } from './append-file.js';
import type { ReplaceableFile } from './failed-file.js';
import { RunFileError } from './file-errors.js';
import { appendRecord, appendResults, type JournaledFiles, recordsOf } from './journal.js';
import { requireNoResults } from './refused-rows.js';
import { formatLostResult, formatOutcome, formatResult, reasonOf } from './result-line.js';
import { LineSet, type RunState, type UnknownRow } from './run-state.js';

/** The destination of the results. */
interface ResultsSink {
  append(text: string): void;
  /**
   * Whether it has no room at present; `onRoom`, the same function each time, is called when it has
   * room again.
   */
  isFull(onRoom: () => void): boolean;
  /** Returns when everything is on the disk, and can be found there under its name. */
  syncWithName?(): void;
  /** @throws RunFileError if another program changed what was written */
  requireUntouched?(): void;
  close?(): void;
}

/**
 * Opens the results of a run that has no journal: a new file at the `path`; without one standard
 * output, for which `show` transforms each text.
 *
 * @throws InvalidInputError if there is a file
 */
export function openResults(
  path: string | undefined,
  stdout: Writable,
  show?: typeof asItIs,
): ResultsSink {
  if (path === undefined) return streamSink(stdout, show);
  requireNoResults(path);
  return AppendFile.create({ path, option: '--results' });
}

const asItIs = (text: string) => text;

/** The stream stays open. After an error of it, `append` throws a RunFileError. */
function streamSink(stream: Writable, show = asItIs): ResultsSink {
  return {
    append(text) {
      stream.write(show(text));
      if (!stream.errored) return;
      const what = `the results cannot be written: ${describeSystemError(stream.errored)}`;
      throw new RunFileError(what, {
        hint: 'Write them to a file with --results.',
        cause: stream.errored,
      });
    },
    isFull(onRoom) {
      if (stream.writableNeedDrain && !stream.listeners('drain').includes(onRoom))
        stream.once('drain', onRoom);
      return stream.writableNeedDrain;
    },
  };
}

/** The files of a run, and its state. Without a journal, it cannot be resumed. */
export type RunRecord = (
  | JournaledFiles
  | { readonly results: ResultsSink; readonly journal: null }
) & {
  /** Where the rows that are not ok are written. */
  readonly failed: ReplaceableFile | null;
  /** The state of the run when it was stopped, if it was; updated. */
  readonly state: RunState;
};

interface RecordedRow {
  readonly line: number;
  readonly outcome: Outcome;
  /** Why it is not ok; empty text if it is. */
  readonly reason: string;
  /** Its results line, if its outcome is unknown. */
  readonly result: string;
}

/**
 * The journal may lag this long behind the results, which are read when the run is resumed, in
 * milliseconds: each of its records waits for the disk.
 */
const recordMs = 500;

/**
 * Writes down the outcome of each row: its results line, before more rows are sent; from time to
 * time the journal.
 */
export class Recorder {
  readonly #operation: RowOperation;
  readonly #record: RunRecord;
  readonly #onCount: (outcome: RowOutcome<FileRow>, reason: string) => void;
  readonly #now: () => number;
  /** The rows of this turn. */
  #rows: RecordedRow[] = [];
  /** The results lines of those whose outcome is known. */
  #lines = '';
  /** Rows with an unknown outcome that the journal does not have yet. */
  #unknown: UnknownRow[] = [];
  /** Whether the results have lines that the journal does not know yet. */
  #isAhead = false;
  /** Rows whose codes are not used up, which the journal does not have yet. */
  #takenBack: number[] = [];
  /** The time of the last record of the journal, by `now`. */
  #recordedAt = 0;
  #isBroken = false;

  /**
   * `onCount` is called with each outcome, and why a row is not ok; `now` is a monotonic clock, in
   * milliseconds.
   */
  constructor(
    operation: RowOperation,
    record: RunRecord,
    onCount: (outcome: RowOutcome<FileRow>, reason: string) => void,
    now = () => performance.now(),
  ) {
    this.#operation = operation;
    this.#record = record;
    this.#onCount = onCount;
    this.#now = now;
  }

  /** Number of rows that have an outcome that could not be written. */
  get unwritten(): number {
    return this.#isBroken ? this.#rows.length : 0;
  }

  onOutcome(outcome: RowOutcome<FileRow>, userSent: string | null): void {
    const { userKey, endpoint } = this.#operation;
    const { row } = outcome;
    // An invalid row may have a valid user.
    const user = outcome.outcome === 'invalid' ? userOf(row, this.#operation) : userSent;
    const shown = formatOutcome(outcome, !endpoint.repeatable);
    const result = formatResult(row.line, userKey, user, shown);
    const reason = outcome.outcome === 'ok' ? '' : reasonOf(result);
    const isUnknown = outcome.outcome === 'unknown';
    this.#rows.push({
      line: row.line,
      outcome: outcome.outcome,
      reason,
      result: isUnknown ? result : '',
    });
    // Its outcome may change: the line is written when the run ends.
    if (!isUnknown || this.#record.journal === null) this.#lines += `${result}\n`;
    this.#onCount(outcome, reason);
  }

  /** @throws RunFileError, and then writes nothing more */
  onTurn(): void {
    if (this.#isBroken) return;
    try {
      this.#writeResults();
      if (this.#isAhead && this.#now() - this.#recordedAt >= recordMs) this.#writeJournal();
    } catch (error) {
      this.#isBroken = true;
      throw error;
    }
  }

  isFull(onRoom: () => void): boolean {
    return this.#record.results.isFull(onRoom);
  }

  /** Records on the disk, before the rows are sent, that their codes may be used up. */
  onSend(sent: readonly FileRow[]): void {
    const { journal } = this.#record;
    if (this.#operation.endpoint.repeatable || journal === null) return;
    appendRecord(journal, { record: 'sent', lines: sent.map(({ line }) => line) });
    journal.sync();
  }

  onTakenBack({ line }: FileRow): void {
    if (!this.#operation.endpoint.repeatable) this.#takenBack.push(line);
  }

  /**
   * Writes the rest, except for the rows of a turn that could not be written.
   *
   * @throws RunFileError
   */
  finish(): void {
    this.onTurn();
    this.#writeJournal();
  }

  /**
   * Completes results and journal on the disk: adds the results lines of the rows with an unknown
   * outcome.
   *
   * @throws RunFileError
   */
  async end(isFinished: boolean): Promise<void> {
    const { results, journal } = this.#record;
    if (!this.#isBroken) {
      await this.#writeUnknown();
      results.requireUntouched?.();
      results.syncWithName?.();
    }
    if (journal === null) return;
    const { size, crc } = results;
    const written = this.#isBroken ? {} : { results: { size, crc } };
    appendRecord(journal, { record: 'end', finished: isFinished, ...written });
    journal.sync();
  }

  #writeResults(): void {
    const { results, journal, state } = this.#record;
    if (journal !== null && this.#takenBack.length > 0)
      appendRecord(journal, { record: 'taken back', lines: this.#takenBack });
    this.#takenBack = [];
    if (this.#rows.length === 0) return;
    results.append(this.#lines);
    for (const { line, outcome, reason, result } of this.#rows) {
      state.settle(line, outcome, reason);
      if (outcome === 'unknown') this.#unknown.push([line, result]);
    }
    this.#rows = [];
    this.#lines = '';
    this.#isAhead = true;
  }

  #writeJournal(): void {
    const { results, journal } = this.#record;
    this.#recordedAt = this.#now();
    if (journal !== null && this.#isAhead) appendResults({ results, journal }, this.#unknown);
    this.#unknown = [];
    this.#isAhead = false;
  }

  /** Each row once, with its last result: the journal may have one for each start of the run. */
  async #writeUnknown(): Promise<void> {
    const { results, journal, state } = this.#record;
    if (journal === null) return;
    const left = new LineSet(state.unknown);
    for (let start = state.starts.length - 1; start >= 0 && left.size > 0; start -= 1) {
      let text = '';
      const before = state.starts[start] ?? noContents;
      const bytes = journal.read(before.size, state.starts[start + 1]?.size);
      for await (const { record } of recordsOf(bytes, before.crc)) {
        if (record?.record !== 'results') continue;
        for (const [line, result] of record.unknown ?? []) {
          if (!left.has(line)) continue;
          left.delete(line);
          text += `${result}\n`;
        }
        if (text.length < chunkLength) continue;
        results.append(text);
        text = '';
      }
      results.append(text);
    }
    for (const line of left) results.append(`${formatLostResult(line)}\n`);
  }
}
