import type { Writable } from 'node:stream';
import { InvalidInputError, quoteName } from '../../protocol/errors.js';
import { describeSystemError } from '../../support/errors.js';
import type { EngineListener } from '../engine/row-engine.js';
import { type RowOperation, userOf } from '../operations.js';
import type { Outcome, RowOutcome } from '../outcome.js';
import type { FileRow } from '../source/rows.js';
import { AppendFile, noContents } from './append-file.js';
import type { FailedPlace } from './failed-file.js';
import { RunFileError } from './file-errors.js';
import { appendRecord, appendResults, type JournaledFiles, recordsOf } from './journal.js';
import type { UnknownRow } from './journal-records.js';
import { formatLostResult, formatOutcome, formatResult } from './result-line.js';
import { LineSet, type RunState } from './run-state.js';

/** The destination of the results. */
export interface ResultsSink {
  append(text: string): void;
  /** Whether it has no room at present; `onRoom`, the same function each time, is called when it has room again. */
  isFull(onRoom: () => void): boolean;
  /** Returns when everything is on the disk, and can be found there under its name. */
  syncWithName?(): void;
  /** @throws RunFileError if another program changed what was written */
  requireUntouched?(): void;
  close?(): void;
}

/**
 * Opens the results of a run that has no journal: a new file at the `path`; without one standard output, for which `show`
 * transforms each text.
 *
 * @throws InvalidInputError if there is a file
 */
export function openResults(path: string | undefined, stdout: Writable, show?: typeof asItIs): ResultsSink {
  if (path === undefined) return streamSink(stdout, show);
  const file = AppendFile.find(path);
  if (file === null) return AppendFile.create(path);
  file.close();
  throw new InvalidInputError(`${quoteName(path)} already exists`, {
    hint: 'Move it away, or name another file with --results.',
  });
}

const asItIs = (text: string) => text;

/** The stream stays open. After an error of it, `append` throws a RunFileError. */
function streamSink(stream: Writable, show = asItIs): ResultsSink {
  return {
    append(text) {
      stream.write(show(text));
      if (!stream.errored) return;
      const what = `the results cannot be written: ${describeSystemError(stream.errored)}`;
      throw new RunFileError(what, { hint: 'Write them to a file with --results.', cause: stream.errored });
    },
    isFull(onRoom) {
      if (stream.writableNeedDrain && !stream.listeners('drain').includes(onRoom))
        stream.once('drain', onRoom);
      return stream.writableNeedDrain;
    },
  };
}

/** The files of a run, and its state. Without a journal, it cannot be resumed. */
export type RunRecord = (JournaledFiles | { readonly results: ResultsSink; readonly journal: null }) & {
  /** Where the rows to retry are written. */
  readonly failed: FailedPlace | null;
  /** The state at the end of the earlier parts of the run; updated. */
  readonly state: RunState;
};

/**
 * The journal may lag this long behind the results, which are read when the run is resumed, in milliseconds: each of
 * its records waits for the disk.
 */
const recordMs = 500;
/** Maximum size of one write when the run ends, in characters. */
const chunkLength = 65_536;

/** Writes down the outcome of each row: its results line, before more rows are sent; from time to time the journal. */
export class Recorder implements EngineListener<FileRow> {
  readonly #record: RunRecord;
  readonly #operation: RowOperation;
  readonly #count: (outcome: RowOutcome<FileRow>) => void;
  readonly #now: () => number;
  /** The rows of this turn, with the results lines of those whose outcome is unknown; the lines of the others. */
  #rows: (readonly [line: number, outcome: Outcome, result: string])[] = [];
  #lines = '';
  /** What the journal does not say yet. */
  #unknown: UnknownRow[] = [];
  #isAhead = false;
  #takenBack: number[] = [];
  #recordedAt = 0;
  #isBroken = false;

  /** `count` is called with each outcome; `now` is a monotonic clock, in milliseconds. */
  constructor(
    operation: RowOperation,
    record: RunRecord,
    count: (outcome: RowOutcome<FileRow>) => void,
    now = () => performance.now(),
  ) {
    this.#operation = operation;
    this.#record = record;
    this.#count = count;
    this.#now = now;
  }

  /** Number of rows that have an outcome that could not be written. */
  get unwritten(): number {
    return this.#isBroken ? this.#rows.length : 0;
  }

  onOutcome(outcome: RowOutcome<FileRow>, given: string | null): void {
    const { userKey, endpoint } = this.#operation;
    const { line } = outcome.row;
    // An invalid row may have a valid user.
    const user = outcome.outcome === 'invalid' ? userOf(outcome.row, this.#operation) : given;
    const result = formatResult(line, userKey, user, formatOutcome(outcome, !endpoint.repeatable));
    const isUnknown = outcome.outcome === 'unknown';
    this.#rows.push([line, outcome.outcome, isUnknown ? result : '']);
    // Its outcome may change: the line is written when the run ends.
    if (!isUnknown || this.#record.journal === null) this.#lines += `${result}\n`;
    this.#count(outcome);
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
   * Completes results and journal on the disk: adds the results lines of the rows with an unknown outcome.
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

  /** That codes may be used up from now on is on the disk first, and survives a crash of the machine. */
  onSend(rows: readonly FileRow[]): void {
    const { journal } = this.#record;
    if (this.#operation.endpoint.repeatable || journal === null) return;
    appendRecord(journal, { record: 'sent', lines: rows.map(({ line }) => line) });
    journal.sync();
  }

  onTakenBack({ line }: FileRow): void {
    if (!this.#operation.endpoint.repeatable) this.#takenBack.push(line);
  }

  #writeResults(): void {
    const { results, journal, state } = this.#record;
    if (journal !== null && this.#takenBack.length > 0)
      appendRecord(journal, { record: 'taken back', lines: this.#takenBack });
    this.#takenBack = [];
    if (this.#rows.length === 0) return;
    results.append(this.#lines);
    for (const [line, outcome, result] of this.#rows) {
      state.settle(line, outcome);
      if (outcome === 'unknown') this.#unknown.push([line, result]);
    }
    [this.#rows, this.#lines] = [[], ''];
    this.#isAhead = true;
  }

  #writeJournal(): void {
    this.#recordedAt = this.#now();
    const { results, journal } = this.#record;
    if (journal !== null && this.#isAhead) appendResults({ results, journal }, this.#unknown);
    [this.#unknown, this.#isAhead] = [[], false];
  }

  /** Each row once, with its last result: the journal may have one for each part of the run. */
  async #writeUnknown(): Promise<void> {
    const { results, journal, state } = this.#record;
    if (journal === null) return;
    const left = new LineSet(state.unknown);
    for (let part = state.parts.length - 1; part >= 0 && left.size > 0; part -= 1) {
      let text = '';
      const before = state.parts[part] ?? noContents;
      const bytes = journal.read(before.size, state.parts[part + 1]?.size);
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
