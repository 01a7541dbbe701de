import type { EngineListener } from '../engine/engine-options.js';
import type { RowOperation } from '../operations/row-operation.js';
import type { Outcome, RowOutcome } from '../outcome.js';
import type { FileRow } from '../source/row-format.js';
import type { Journal } from './journal.js';
import type { JournalState } from './journal-state.js';
import { formatRanges } from './line-ranges.js';
import { OutcomesDraft } from './outcomes-draft.js';
import { formatResult } from './result-line.js';
import type { ResultsSink } from './results-sink.js';

/** Where a run is written down. */
export interface RecorderFiles {
  readonly results: ResultsSink;
  /** `null` for a run that cannot be gone on with. */
  readonly journal: Journal | null;
  readonly state: JournalState;
}

/**
 * The journal may know this many rows less than the results, which are read when the run is gone on with: a record
 * of many rows costs little more than one of a few.
 */
const recordRows = 512;
/** For so long, in milliseconds. */
const recordMs = 100;

/**
 * Writes down what becomes of each row: its results line first, before more rows are sent; then the journal, so that
 * whatever the journal knows is in the results.
 */
export class Recorder implements EngineListener<FileRow> {
  readonly #files: RecorderFiles;
  readonly #isRead: boolean;
  readonly #userKey: string | null;
  readonly #now: () => number;
  /** Of this turn. */
  #results = '';
  #turn: (readonly [line: number, outcome: Outcome, result: string])[] = [];
  #takenBack: number[] = [];
  /** What the journal does not know yet. */
  #record = new OutcomesDraft();
  #recordedAt = 0;
  #isBroken = false;

  /** `now` gives milliseconds that only go forward. */
  constructor({ task, userKey }: RowOperation, files: RecorderFiles, now: () => number) {
    this.#isRead = task.operation === 'read';
    this.#userKey = userKey;
    this.#files = files;
    this.#now = now;
  }

  onOutcome(outcome: RowOutcome<FileRow>): void {
    const result = formatResult(outcome, this.#userKey, this.#isRead);
    this.#turn.push([outcome.row.line, outcome.outcome, result]);
    // It may come to another outcome yet: its line is written when the run ends.
    if (outcome.outcome !== 'unknown' || this.#files.journal === null) this.#results += `${result}\n`;
  }

  /** Throws a RunFileError, and writes nothing afterwards. */
  onTurn(): void {
    if (this.#isBroken) return;
    try {
      this.#writeTurn();
      const isDue = this.#record.size >= recordRows || this.#now() - this.#recordedAt >= recordMs;
      if (isDue || !this.#files.results.canBeRead) this.#writeRecord();
    } catch (error) {
      this.#isBroken = true;
      throw error;
    }
  }

  /** Writes what is left, but for the rows of a turn that could not be written. Throws a RunFileError. */
  finish(): void {
    this.onTurn();
    this.#writeRecord();
  }

  /** A code is used up by a read: that it may be is written down before. */
  onSend(rows: readonly FileRow[]): void {
    if (!this.#isRead) return;
    this.#files.journal?.append({ record: 'sent', lines: formatRanges(rows.map(({ line }) => line)) });
  }

  onTakenBack({ line }: FileRow): void {
    if (this.#isRead) this.#takenBack.push(line);
  }

  #writeTurn(): void {
    const { results, journal, state } = this.#files;
    if (this.#takenBack.length > 0) {
      journal?.append({ record: 'taken back', lines: formatRanges(this.#takenBack) });
      this.#takenBack = [];
    }
    if (this.#turn.length === 0) return;
    results.append(this.#results);
    for (const [line, outcome, result] of this.#turn) {
      state.settle(line, outcome);
      this.#record.add(line, outcome, result);
    }
    this.#results = '';
    this.#turn = [];
  }

  #writeRecord(): void {
    this.#recordedAt = this.#now();
    if (this.#record.size === 0) return;
    this.#files.journal?.append(this.#record.finish(this.#files.results.size));
    this.#record = new OutcomesDraft();
  }
}
