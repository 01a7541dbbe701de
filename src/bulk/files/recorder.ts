import type { Writable } from 'node:stream';
import { describeSystemError } from '../../support/errors.js';
import type { RowOperation } from '../operations.js';
import type { RowOutcome } from '../outcome.js';
import type { FileRow } from '../source/rows.js';
import { RunFileError } from './append-file.js';
import type { FailedPlace } from './failed-file.js';
import type { Journal } from './journal.js';
import { formatRanges, type RecordedRow } from './journal-records.js';
import { type JournalState, LineSet } from './journal-state.js';
import { formatLostResult, formatOutcome, placeOutcome } from './result-line.js';

/** Where the lines of the results go. */
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

/** The files of a run, and its state. */
export interface RunRecord {
  readonly results: ResultsSink;
  /** `null` for a run that cannot be resumed. */
  readonly journal: Journal | null;
  /** Where the rows to retry are written. */
  readonly failed: FailedPlace | null;
  /** The state at the end of the earlier parts of the run; updated. */
  readonly state: JournalState;
}

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
  /** Of this turn. */
  #results = '';
  #turn: RecordedRow[] = [];
  #takenBack: number[] = [];
  /** Not in the journal yet. */
  #pending: RecordedRow[] = [];
  #recordedAt = 0;
  #isBroken = false;

  /** `now` is a monotonic clock, in milliseconds. */
  constructor(operation: RowOperation, record: RunRecord, now = () => performance.now()) {
    this.#operation = operation;
    this.#record = record;
    this.#now = now;
  }

  /** How many rows have an outcome that could not be written. */
  get unwritten(): number {
    return this.#isBroken ? this.#turn.length : 0;
  }

  onOutcome(outcome: RowOutcome<FileRow>, user: string | null): void {
    const { userKey, usesUpCode } = this.#operation;
    const { line } = outcome.row;
    const result = placeOutcome(line, userKey, user, formatOutcome(outcome, usesUpCode));
    const isUnknown = outcome.outcome === 'unknown';
    this.#turn.push([line, outcome.outcome, isUnknown ? result : '']);
    // Its outcome may change: the line is written when the run ends.
    if (!isUnknown || this.#record.journal === null) this.#results += `${result}\n`;
  }

  /** @throws RunFileError, and then writes nothing more */
  onTurn(): void {
    if (this.#isBroken) return;
    try {
      this.#writeTurn();
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
    journal?.append({ record: 'end', finished: isFinished && !this.#isBroken });
    journal?.sync();
  }

  /** That codes may be used up from now on is on the disk first, and survives a crash of the machine. */
  onSend(rows: readonly FileRow[]): void {
    const { journal } = this.#record;
    if (!this.#operation.usesUpCode || journal === null) return;
    journal.append({ record: 'sent', lines: formatRanges(rows.map(({ line }) => line)) });
    journal.sync();
  }

  onTakenBack({ line }: FileRow): void {
    if (this.#operation.usesUpCode) this.#takenBack.push(line);
  }

  #writeTurn(): void {
    const { results, journal, state } = this.#record;
    if (this.#takenBack.length > 0) {
      journal?.append({ record: 'taken back', lines: formatRanges(this.#takenBack) });
      this.#takenBack = [];
    }
    if (this.#turn.length === 0) return;
    results.append(this.#results);
    for (const [line, outcome] of this.#turn) state.settle(line, outcome);
    this.#pending.push(...this.#turn);
    this.#results = '';
    this.#turn = [];
  }

  #writeJournal(): void {
    this.#recordedAt = this.#now();
    if (this.#pending.length === 0) return;
    // A code cannot be read again: its data must not be lost.
    this.#record.journal?.appendOutcomes(this.#pending, this.#operation.usesUpCode);
    this.#pending = [];
  }

  /** Each row once, with its last result: the journal may have one for each part of the run. */
  async #writeUnknown(): Promise<void> {
    const { results, journal, state } = this.#record;
    if (journal === null) return;
    const left = new LineSet();
    for (const line of state.unknown) left.add(line);
    for (let part = state.parts.length - 1; part >= 0 && left.size > 0; part -= 1) {
      let text = '';
      for await (const { record } of journal.records(state.parts[part] ?? 0, state.parts[part + 1])) {
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
