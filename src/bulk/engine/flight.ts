import type { PlainRequest } from '../../client/request.js';
import type { Attempt } from '../../client/sender.js';

/** A row that has a request and no outcome yet. Times are in milliseconds. */
export class Flight<Row> {
  readonly row: Row;
  readonly request: PlainRequest;
  readonly size: number;
  /** What names the row's user; rows of one user are sent in their order. */
  readonly user: string | null;
  /** How often it was sent. */
  sent = 0;
  /** Of those, how many count towards the attempts that are allowed. */
  attempts = 0;
  startedAt = 0;
  /** Where it stands among those in flight. */
  place = 0;
  /** When it may be sent again. */
  dueAt = 0;
  /** How many answers the run had when the row was throttled last. */
  throttledAfter = -1;
  pending: Attempt | null = null;

  constructor(row: Row, request: PlainRequest, user: string | null, size: number) {
    this.row = row;
    this.request = request;
    this.user = user;
    this.size = size;
  }
}
