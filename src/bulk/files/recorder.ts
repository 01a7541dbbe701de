import type { Writable } from 'node:stream';
import { describeSystemError } from '../../support/errors.js';
import type { RowOperation } from '../operations.js';
import type { RowOutcome } from '../outcome.js';
import type { FileRow } from '../source/rows.js';
import { noContents } from './contents.js';
import type { FailedPlace } from './failed-file.js';
import { RunFileError } from './file-errors.js';
import { appendOutcomes, appendRecord, type JournaledFiles, recordsOf } from './journal.js';
import { formatRanges, type RecordedRow } from './journal-records.js';
import { type JournalState, LineSet } from './journal-state.js';
import { formatLostResult, formatOutcome, placeOutcome } from './result-line.js';

/** The destination of the results. */
export interface ResultsSink {
  append(text: string): void;
  /** Whether it has no room at present; `onRoom`, the same function each time, is called when it has room again. */
  isFull(onRoom: () => void): boolean;
  /** Returns when everything is on the disk, and can be found there under its name. */
  syncWithName(): void;
  /** @throws RunFileError if another program changed what was written */
  requireUntouched(): void;
  close(): void;
}

/**
 * Results for a stream such as standard output, which stays open; `show` transforms each text. After an error of the
 * stream, `append` throws a RunFileError.
 */
export function streamSink(stream: Writable, show = (text: string) => text): ResultsSink {
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
    syncWithName() {},
    requireUntouched() {},
    close() {},
  };
}

/** The files of a run, and its state. Without a journal, it cannot be resumed. */
export type RunRecord = (JournaledFiles | { readonly results: ResultsSink; readonly journal: null }) & {
  /** Where the rows to retry are written. */
  readonly failed: FailedPlace | null;
  /** The state at the end of the earlier parts of the run; updated. */
  readonly state: JournalState;
};

/**
 * The journal may lag this many rows behind the results, which are read when the run is resumed: a record of many
 * rows costs little more than one of a few,
 */
const recordRows = 512;
/** and at most this many milliseconds. */
const recordMs = 100;
/** Maximum size of one write when the run ends, in characters. */
const chunkLength = 65_536;

/**
 * Writes down the outcome of each row: first its results line, before more rows are sent; then the journal, so
 * that every row of the journal is in the results.
 */
export class Recorder {
  readonly #record: RunRecord;
  readonly #operation: RowOperation;
  readonly #now: () => number;
  /** Outcomes that the journal does not have yet; the results have the first `#written` of them. */
  #pending: RecordedRow[] = [];
  #written = 0;
  /** The results lines of the others. */
  #results = '';
  #takenBack: number[] = [];
  #recordedAt = 0;
  #isBroken = false;

  /** `now` is a monotonic clock, in milliseconds. */
  constructor(operation: RowOperation, record: RunRecord, now = () => performance.now()) {
    this.#operation = operation;
    this.#record = record;
    this.#now = now;
  }

  /** Number of rows that have an outcome that could not be written. */
  get unwritten(): number {
    return this.#isBroken ? this.#pending.length - this.#written : 0;
  }

  onOutcome(outcome: RowOutcome<FileRow>, user: string | null): void {
    const { userKey, endpoint } = this.#operation;
    const { line } = outcome.row;
    const result = placeOutcome(line, userKey, user, formatOutcome(outcome, !endpoint.repeatable));
    const isUnknown = outcome.outcome === 'unknown';
    this.#pending.push([line, outcome.outcome, isUnknown ? result : '']);
    // Its outcome may change: the line is written when the run ends.
    if (!isUnknown || this.#record.journal === null) this.#results += `${result}\n`;
  }

  /** @throws RunFileError, and then writes nothing more */
  onTurn(): void {
    if (this.#isBroken) return;
    try {
      this.#writeResults();
      if (this.#pending.length >= recordRows || this.#now() - this.#recordedAt >= recordMs)
        this.#writeJournal();
    } catch (error) {
      this.#isBroken = true;
      throw error;
    }
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
      results.requireUntouched();
      results.syncWithName();
    }
    if (journal === null) return;
    const { size, crc } = results;
    const written = this.#isBroken ? {} : { results: { size, crc } };
    appendRecord(journal, { record: 'end', finished: isFinished && !this.#isBroken, ...written });
    journal.sync();
  }

  /** That codes may be used up from now on is on the disk first, and survives a crash of the machine. */
  onSend(rows: readonly FileRow[]): void {
    const { journal } = this.#record;
    if (this.#operation.endpoint.repeatable || journal === null) return;
    appendRecord(journal, { record: 'sent', lines: formatRanges(rows.map(({ line }) => line)) });
    journal.sync();
  }

  onTakenBack({ line }: FileRow): void {
    if (!this.#operation.endpoint.repeatable) this.#takenBack.push(line);
  }

  #writeResults(): void {
    const { results, journal, state } = this.#record;
    if (this.#takenBack.length > 0) {
      if (journal !== null) {
        appendRecord(journal, { record: 'taken back', lines: formatRanges(this.#takenBack) });
      }
      this.#takenBack = [];
    }
    if (this.#written === this.#pending.length) return;
    results.append(this.#results);
    this.#results = '';
    for (const [line, outcome] of this.#pending.slice(this.#written)) state.settle(line, outcome);
    this.#written = this.#pending.length;
  }

  #writeJournal(): void {
    this.#recordedAt = this.#now();
    const rows = this.#pending.slice(0, this.#written);
    if (rows.length === 0) return;
    // A code cannot be read again: its data must not be lost.
    if (this.#record.journal !== null)
      appendOutcomes(this.#record, rows, !this.#operation.endpoint.repeatable);
    this.#pending = this.#pending.slice(this.#written);
    this.#written = 0;
  }

  /** Each row once, with its last result: the journal may have one for each part of the run. */
  async #writeUnknown(): Promise<void> {
    const { results, journal, state } = this.#record;
    if (journal === null) return;
    const left = new LineSet();
    for (const line of state.unknown) left.add(line);
    for (let part = state.parts.length - 1; part >= 0 && left.size > 0; part -= 1) {
      let text = '';
      const before = state.parts[part] ?? noContents;
      const bytes = journal.read(before.size, state.parts[part + 1]?.size);
      for await (const { record } of recordsOf(bytes, before.crc)) {
        if (record?.record !== 'outcomes') continue;
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
