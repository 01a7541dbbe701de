import type { RowOutcome } from '../outcome.js';
import type { InputRows } from '../source/input-rows.js';
import type { FileRow } from '../source/row-format.js';
import type { FailedFile } from './failed-file.js';
import type { JournalState } from './journal-state.js';

/**
 * Finds the rows that are worth trying again: when the run ends, in the input, as many as there are in the journal;
 * on the way where the input is a stream, which cannot be read again.
 */
export class FailedRows<Row extends FileRow> {
  readonly #file: FailedFile<Row>;
  readonly #rows: InputRows<Row>;
  /** Of this turn. */
  #toAdd: Row[] = [];

  constructor(file: FailedFile<Row>, rows: InputRows<Row>) {
    this.#file = file;
    this.#rows = rows;
  }

  get count(): number {
    return this.#file.count;
  }

  onOutcome({ row, outcome }: RowOutcome<Row>): void {
    if (this.#rows.canBeReadAgain) return;
    if (outcome === 'failed' || outcome === 'unknown') this.#toAdd.push(row);
  }

  /** Throws a RunFileError. */
  onTurn(): void {
    for (const row of this.#toAdd) this.#file.add(row);
    this.#toAdd = [];
  }

  /** Completes the file. Throws a RunFileError, and an InvalidInputError where the input cannot be read again. */
  async finish(state: JournalState): Promise<void> {
    try {
      if (this.#rows.canBeReadAgain) await this.#collect(state);
    } finally {
      this.#file.finish();
    }
  }

  async #collect({ failed, unknown }: JournalState): Promise<void> {
    const count = failed.size + unknown.size;
    if (count === 0) return;
    for await (const rows of this.#rows.read()) {
      for (const row of rows) if (failed.has(row.line) || unknown.has(row.line)) this.#file.add(row);
      if (this.#file.count === count) return;
    }
  }
}
