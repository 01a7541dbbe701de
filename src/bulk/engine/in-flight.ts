import type { Flight } from './flight.js';

/** How often the oldest are looked at, of the time that each has. */
const looksPerTimeout = 20;
const shortestLookMs = 10;

/** The rows whose answer is awaited, none for longer than `timeoutMs`: one timer serves them all. */
export class InFlight<Row> {
  readonly #flights = new Set<Flight<Row>>();
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
    return this.#flights.size;
  }

  add(flight: Flight<Row>): void {
    this.#flights.add(flight);
  }

  delete(flight: Flight<Row>): void {
    this.#flights.delete(flight);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #expire(now: number): void {
    // They stand in the order in which they were sent.
    for (const flight of this.#flights) {
      if (now - flight.startedAt < this.#timeoutMs) return;
      flight.pending?.timeOut(this.#timeoutMs);
    }
  }
}
