import type { Flight } from './flight.js';

/** Rows that are to be sent again, the one that is due first in front. */
export class RetryQueue<Row> {
  readonly #flights: Flight<Row>[] = [];

  /** When the first one is due; `null` where there is none. */
  get dueAt(): number | null {
    return this.#flights[0]?.dueAt ?? null;
  }

  add(flight: Flight<Row>): void {
    // Most come in the order in which they will be due.
    let at = this.#flights.length;
    while (at > 0 && (this.#flights[at - 1]?.dueAt ?? 0) > flight.dueAt) at -= 1;
    this.#flights.splice(at, 0, flight);
  }

  takeDue(now: number): Flight<Row> | undefined {
    const dueAt = this.dueAt;
    return dueAt !== null && dueAt <= now ? this.#flights.shift() : undefined;
  }
}
