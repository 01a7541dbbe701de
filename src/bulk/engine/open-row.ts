import type { Attempt } from '../../client/attempt.js';
import type { PlainRequest } from '../../client/request.js';

/** What is sent for a row, and the value that names its user; rows of one user are sent in their order. */
export interface PreparedRow {
  readonly request: PlainRequest;
  readonly user: string | null;
}

/** A row that has no outcome yet. Times are in milliseconds. */
export class OpenRow<Row> {
  readonly row: Row;
  readonly request: PlainRequest;
  readonly user: string | null;
  /** In bytes, about. */
  readonly size: number;
  /** How often it was sent. */
  sent = 0;
  /** Of those, how many count towards the attempts that are allowed. */
  attempts = 0;
  startedAt = 0;
  /** Its index among the rows whose answer is awaited. */
  place = 0;
  /** When it may be sent again. */
  dueAt = 0;
  /** Whether the service may have acted on an attempt that gave no outcome. */
  mayHaveActed = false;
  /** How many rows were served when this one was last throttled, or reached nobody. */
  servedBefore = -1;
  pending: Attempt | null = null;

  constructor(row: Row, { request, user }: PreparedRow, size: number) {
    this.row = row;
    this.request = request;
    this.user = user;
    this.size = size;
  }
}
