import type { EngineListener } from '../engine/engine-options.js';
import type { RowOperation } from '../operations.js';
import type { Outcome, RowOutcome } from '../outcome.js';
import type { FileRow } from '../source/rows.js';
import type { ResultsSink } from './append-file.js';
import { type Journal, recordsOf } from './journal.js';
import { formatRanges, OutcomesDraft } from './journal-records.js';
import { type JournalState, LineSet } from './journal-state.js';
import { formatOutcome, placeOutcome } from './result-line.js';

/** The files of a run. */
export interface RecorderFiles {
  readonly results: ResultsSink;
  /** `null` for a run that cannot be resumed. */
  readonly journal: Journal | null;
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
export class Recorder implements EngineListener<FileRow> {
  readonly #files: RecorderFiles;
  readonly #isRead: boolean;
  readonly #userKey: string | null;
  readonly #now: () => number;
  /** Of this turn. */
  #results = '';
  #turn: (readonly [line: number, outcome: Outcome, result: string])[] = [];
  #takenBack: number[] = [];
  /** Outcomes that are not in the journal yet. */
  #record = new OutcomesDraft();
  #recordedAt = 0;
  #isBroken = false;

  /** `now` is a monotonic clock, in milliseconds. */
  constructor({ name, userKey }: RowOperation, files: RecorderFiles, now: () => number) {
    this.#isRead = name === 'read';
    this.#userKey = userKey;
    this.#files = files;
    this.#now = now;
  }

  onOutcome(outcome: RowOutcome<FileRow>, user: string | null): void {
    const result = placeOutcome(outcome.row.line, this.#userKey, user, formatOutcome(outcome, this.#isRead));
    this.#turn.push([outcome.row.line, outcome.outcome, result]);
    // Its outcome may change: the line is written when the run ends.
    if (outcome.outcome !== 'unknown' || this.#files.journal === null) this.#results += `${result}\n`;
  }

  /** @throws RunFileError, and then writes nothing more */
  onTurn(): void {
    if (this.#isBroken) return;
    try {
      this.#writeTurn();
      if (this.#record.size >= recordRows || this.#now() - this.#recordedAt >= recordMs) this.#writeRecord();
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
    this.#writeRecord();
  }

  /**
   * Completes results and journal on the disk: adds the results lines of the rows with an unknown outcome.
   *
   * @throws RunFileError
   */
  async end(isFinished: boolean): Promise<void> {
    const { results, journal } = this.#files;
    if (!this.#isBroken) {
      await this.#writeUnknown();
      results.requireUntouched();
      results.syncWithName();
    }
    journal?.append({ record: 'end', finished: isFinished && !this.#isBroken });
    journal?.sync();
  }

  /** A read uses its code up: that it may do so is on the disk first, and survives a crash of the machine. */
  onSend(rows: readonly FileRow[]): void {
    const { journal } = this.#files;
    if (!this.#isRead || journal === null) return;
    journal.append({ record: 'sent', lines: formatRanges(rows.map(({ line }) => line)) });
    journal.sync();
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
    // A code cannot be read again: its data must not be lost.
    this.#files.journal?.appendOutcomes(this.#record.finish(), this.#isRead);
    this.#record = new OutcomesDraft();
  }

  /** Each row once, with its last result: the journal may have one for each part of the run. */
  async #writeUnknown(): Promise<void> {
    const { results, journal, state } = this.#files;
    if (journal === null) return;
    const left = new LineSet();
    for (const line of state.unknown) left.add(line);
    for (let part = state.parts.length - 1; part >= 0 && left.size > 0; part -= 1) {
      let text = '';
      for await (const { record } of recordsOf(journal.path, state.parts[part] ?? 0, state.parts[part + 1])) {
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
  }
}
