import { formatOutcome } from '../../bulk/files/result-line.js';
import type { RowOutcome } from '../../bulk/outcome.js';
import type { NdjsonRow } from '../../bulk/source/ndjson.js';
import type { Chunks, TakenChunk } from '../chunks.js';
import type { QueuedOutcome } from '../outcomes.js';
import type { QueuedRun, RunState } from '../run.js';
import type { Outage } from './outage.js';

/** A row of a chunk that a worker has taken. */
export interface HeldRow extends NdjsonRow {
  readonly chunk: HeldChunk;
}

/** A chunk that a worker has taken, and the outcomes of its rows. */
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

  /** Returns the outcomes that were not returned yet. */
  takeOutcomes(): QueuedOutcome[] {
    const outcomes = this.#outcomes;
    this.#outcomes = [];
    return outcomes;
  }
}

/** How long outcomes wait to be written together, in milliseconds, */
const gatherMs = 200;
/** unless there are this many, or all rows of a chunk have one. */
const gathered = 1024;
/** While this many outcomes wait for the database, no more rows are sent. */
const maxWaiting = 4096;

/** Records the outcomes of the rows of held chunks, many at a time, and ends the chunks that are complete. */
export class OutcomeLog {
  readonly #chunks: Chunks;
  readonly #run: QueuedRun;
  readonly #outage: Outage;
  readonly #onChunkEnd: (state: RunState) => void;
  readonly #held = new Set<HeldChunk>();
  #waiting = 0;
  #isClosed = false;
  #isDue = false;
  #timer: NodeJS.Timeout | undefined;
  #wake: () => void = () => {};

  /** `onChunkEnd` receives the state of the run after each chunk. */
  constructor(chunks: Chunks, run: QueuedRun, outage: Outage, onChunkEnd: (state: RunState) => void) {
    this.#chunks = chunks;
    this.#run = run;
    this.#outage = outage;
    this.#onChunkEnd = onChunkEnd;
  }

  get isFull(): boolean {
    return this.#waiting >= maxWaiting;
  }

  /** The held chunks that have rows without an outcome. */
  get openChunks(): HeldChunk[] {
    return [...this.#held].filter(({ isOver }) => !isOver);
  }

  hold(chunk: HeldChunk): void {
    this.#held.add(chunk);
    if (chunk.isOver) this.#wakeUp();
  }

  onOutcome(outcome: RowOutcome<HeldRow>): void {
    const { chunk } = outcome.row;
    chunk.settle(outcome);
    this.#waiting += 1;
    if (chunk.isOver || this.#waiting >= gathered) this.#wakeUp();
    else this.#timer ??= setTimeout(() => this.#wakeUp(), gatherMs);
  }

  /** No more outcomes follow. */
  close(): void {
    this.#isClosed = true;
    this.#wakeUp();
  }

  /** Writes until it is closed and everything is written; calls `onRoom` after each write. */
  async write(onRoom: () => void): Promise<void> {
    for (;;) {
      const isLast = this.#isClosed;
      this.#isDue = false;
      await this.#writeAll();
      onRoom();
      if (isLast) return;
      if (this.#isDue) continue;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #wakeUp(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isDue = true;
    this.#wake();
  }

  async #writeAll(): Promise<void> {
    const over = [...this.#held].filter(({ isOver }) => isOver);
    const partly = this.openChunks.flatMap((chunk) => chunk.takeOutcomes());
    if (partly.length > 0) {
      await this.#outage.retry(() => this.#chunks.record(this.#run.run, partly));
      this.#waiting -= partly.length;
    }
    for (const chunk of over) {
      const outcomes = chunk.takeOutcomes();
      const finish = () => this.#chunks.finish(this.#run, chunk.taken, outcomes);
      const state = await this.#outage.retry(finish);
      this.#held.delete(chunk);
      this.#waiting -= outcomes.length;
      this.#onChunkEnd(state);
    }
  }
}
