import type { Flight } from './flight.js';

/** Lets one row of a user be under way at a time, so that the last one in the file is the last one written. */
export class UsersInOrder<Row> {
  /** The last row of each user that has one under way. */
  readonly #last = new Map<string, Flight<Row>>();

  /** Whether the row may go now; else `release` hands it out when its turn has come. */
  claim(flight: Flight<Row>): boolean {
    if (flight.user === null) return true;
    const last = this.#last.get(flight.user);
    this.#last.set(flight.user, flight);
    if (last === undefined) return true;
    last.next = flight;
    return false;
  }

  /** The row has its outcome. Gives the user's next one. */
  release(flight: Flight<Row>): Flight<Row> | null {
    if (flight.next === null && flight.user !== null) this.#last.delete(flight.user);
    return flight.next;
  }
}
