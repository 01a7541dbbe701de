import type { Outcome } from '../outcome.js';
import type { OutcomesRecord } from './journal-records.js';
import { formatRanges } from './line-ranges.js';

/** Gathers outcomes for one record of a journal. */
export class OutcomesDraft {
  readonly #lines: Readonly<Record<Exclude<Outcome, 'unknown'>, number[]>> = {
    ok: [],
    failed: [],
    invalid: [],
  };
  readonly #unknown: [line: number, result: string][] = [];
  #size = 0;

  /** In rows. */
  get size(): number {
    return this.#size;
  }

  /** `result` is the row's results line. */
  add(line: number, outcome: Outcome, result: string): void {
    if (outcome === 'unknown') this.#unknown.push([line, result]);
    else this.#lines[outcome].push(line);
    this.#size += 1;
  }

  /** `results` is how long the results file is that has them, in bytes. */
  finish(results: number): OutcomesRecord {
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
