import type { EngineListener } from '../engine/row-engine.js';
import type { Outcome, RowOutcome } from '../outcome.js';
import type { FileRow } from '../source/row-format.js';
import type { Journal } from './journal.js';
import type { OutcomesRecord } from './journal-records.js';
import type { JournalState } from './journal-state.js';
import { formatRanges } from './line-ranges.js';
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
 * Writes down what becomes of each row: its results line first, then the journal, so that whatever the journal knows
 * is in the results. Both are written before more rows are sent.
 */
export class Recorder implements EngineListener<FileRow> {
  readonly #files: RecorderFiles;
  readonly #isRead: boolean;
  #results = '';
  #lines: Record<Exclude<Outcome, 'unknown'>, number[]> = { ok: [], failed: [], invalid: [] };
  #unknown: [line: number, result: string][] = [];
  #takenBack: number[] = [];
  #outcomes = 0;
  #isBroken = false;

  constructor(operation: 'read' | 'passback', files: RecorderFiles) {
    this.#isRead = operation === 'read';
    this.#files = files;
  }

  onOutcome(outcome: RowOutcome<FileRow>): void {
    const result = formatResult(outcome, this.#isRead);
    const { line } = outcome.row;
    if (outcome.outcome === 'unknown') this.#unknown.push([line, result]);
    else this.#lines[outcome.outcome].push(line);
    // It may come to another outcome yet: its line is written when the run ends.
    if (outcome.outcome !== 'unknown' || this.#files.journal === null) this.#results += `${result}\n`;
    this.#outcomes += 1;
  }

  /** Throws a RunFileError, and writes nothing afterwards. */
  onTurn(): void {
    if (this.#isBroken || (this.#outcomes === 0 && this.#takenBack.length === 0)) return;
    try {
      this.#write();
    } catch (error) {
      this.#isBroken = true;
      throw error;
    }
  }

  /** A code is used up by a read: that it may be is written down before. */
  onSend(rows: readonly FileRow[]): void {
    if (!this.#isRead) return;
    this.#files.journal?.append({ record: 'sent', lines: formatRanges(rows.map(({ line }) => line)) });
  }

  onTakenBack({ line }: FileRow): void {
    if (this.#isRead) this.#takenBack.push(line);
  }

  #write(): void {
    const { results, journal, state } = this.#files;
    if (this.#takenBack.length > 0) {
      journal?.append({ record: 'taken back', lines: formatRanges(this.#takenBack) });
      this.#takenBack = [];
    }
    if (this.#outcomes === 0) return;
    results.append(this.#results);
    const record = this.#record(results.size);
    journal?.append(record);
    state.take(record, 0);
    this.#results = '';
    this.#lines = { ok: [], failed: [], invalid: [] };
    this.#unknown = [];
    this.#outcomes = 0;
  }

  #record(results: number): OutcomesRecord {
    const { ok, failed, invalid } = this.#lines;
    return {
      record: 'outcomes',
      results,
      ...(ok.length === 0 ? {} : { ok: formatRanges(ok) }),
      ...(failed.length === 0 ? {} : { failed: formatRanges(failed) }),
      ...(invalid.length === 0 ? {} : { invalid: formatRanges(invalid) }),
      ...(this.#unknown.length === 0 ? {} : { unknown: this.#unknown }),
    };
  }
}
