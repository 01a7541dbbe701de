import { formatOutcome } from '../../bulk/files/result-line.js';
import type { RowOutcome } from '../../bulk/outcome.js';
import type { NdjsonRow } from '../../bulk/source/ndjson-format.js';
import type { TakenChunk } from '../chunks.js';
import type { QueuedOutcome } from '../outcomes.js';

/** A row of a chunk that a worker has taken. */
export interface HeldRow extends NdjsonRow {
  readonly chunk: HeldChunk;
}

/** A chunk that a worker has taken, and what became of its rows. */
export class HeldChunk {
  readonly taken: TakenChunk;
  readonly rows: readonly HeldRow[];
  #open: number;
  #outcomes: QueuedOutcome[] = [];

  constructor(taken: TakenChunk) {
    this.taken = taken;
    this.rows = taken.open.map((row) => ({ ...row, size: row.json.length, chunk: this }));
    this.#open = taken.open.length;
  }

  /** Whether every row has its outcome. */
  get isOver(): boolean {
    return this.#open === 0;
  }

  settle(outcome: RowOutcome<HeldRow>): void {
    const { row } = outcome;
    const result = formatOutcome(outcome, false);
    this.#outcomes.push({ line: row.line, outcome: outcome.outcome, result });
    this.#open -= 1;
  }

  /** The outcomes that were not taken yet. */
  takeOutcomes(): QueuedOutcome[] {
    const outcomes = this.#outcomes;
    this.#outcomes = [];
    return outcomes;
  }
}
