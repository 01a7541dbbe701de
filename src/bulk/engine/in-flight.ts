import type { OpenRow } from './open-row.js';

/** How often the time-outs are checked within one time-out. */
const checksPerTimeout = 20;
const shortestCheckMs = 10;

/** The rows whose answer is awaited, none for longer than `timeoutMs`: one timer serves them all. */
export class InFlight<Row> {
  /** No Set: its old copies would keep thousands of finished rows from being cleared away. */
  readonly #rows: OpenRow<Row>[] = [];
  readonly #timeoutMs: number;
  readonly #timer: NodeJS.Timeout;

  constructor(timeoutMs: number, now: () => number) {
    this.#timeoutMs = timeoutMs;
    this.#timer = setInterval(
      () => this.#expire(now()),
      Math.max(shortestCheckMs, timeoutMs / checksPerTimeout),
    );
  }

  get size(): number {
    return this.#rows.length;
  }

  add(row: OpenRow<Row>): void {
    row.place = this.#rows.push(row) - 1;
  }

  delete({ place }: OpenRow<Row>): void {
    const last = this.#rows.pop();
    if (last === undefined || place === this.#rows.length) return;
    this.#rows[place] = last;
    last.place = place;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #expire(now: number): void {
    const late = this.#rows.filter(({ startedAt }) => now - startedAt >= this.#timeoutMs);
    for (const { pending } of late) pending?.timeOut(this.#timeoutMs);
  }
}
