import type { Flight } from './flight.js';

/**
 * Lets one row of a user be under way at a time, so that the last one in the file is the last one written. What is
 * held for each user is light: a Set or Map that changes often is copied often, and its old copies keep what was in
 * them from being cleared away.
 */
export class UsersInOrder<Row> {
  readonly #underWay = new Set<string>();
  /** The rows of users that have one under way, in their order. */
  readonly #waiting = new Map<string, Flight<Row>[]>();

  /** Whether the row may go now; else `release` hands it out when its turn has come. */
  claim(flight: Flight<Row>): boolean {
    const { user } = flight;
    if (user === null) return true;
    if (!this.#underWay.has(user)) {
      this.#underWay.add(user);
      return true;
    }
    const waiting = this.#waiting.get(user);
    if (waiting === undefined) this.#waiting.set(user, [flight]);
    else waiting.push(flight);
    return false;
  }

  /** The row has its outcome. Gives the user's next one. */
  release({ user }: Flight<Row>): Flight<Row> | null {
    if (user === null) return null;
    const next = this.#waiting.get(user)?.shift();
    if (next !== undefined) return next;
    this.#waiting.delete(user);
    this.#underWay.delete(user);
    return null;
  }
}
