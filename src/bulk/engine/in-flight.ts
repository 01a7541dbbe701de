import type { Flight } from './flight.js';

/** How often they are looked at, of the time that each has. */
const looksPerTimeout = 20;
const shortestLookMs = 10;

/** The rows whose answer is awaited, none for longer than `timeoutMs`: one timer serves them all. */
export class InFlight<Row> {
  /** No Set: its old copies would keep thousands of finished rows from being cleared away. */
  readonly #flights: Flight<Row>[] = [];
  readonly #timeoutMs: number;
  readonly #timer: NodeJS.Timeout;

  constructor(timeoutMs: number, now: () => number) {
    this.#timeoutMs = timeoutMs;
    this.#timer = setInterval(
      () => this.#expire(now()),
      Math.max(shortestLookMs, timeoutMs / looksPerTimeout),
    );
  }

  get size(): number {
    return this.#flights.length;
  }

  add(flight: Flight<Row>): void {
    flight.place = this.#flights.push(flight) - 1;
  }

  delete({ place }: Flight<Row>): void {
    const last = this.#flights.pop();
    if (last === undefined || place === this.#flights.length) return;
    this.#flights[place] = last;
    last.place = place;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #expire(now: number): void {
    const late = this.#flights.filter(({ startedAt }) => now - startedAt >= this.#timeoutMs);
    for (const { pending } of late) pending?.timeOut(this.#timeoutMs);
  }
}
