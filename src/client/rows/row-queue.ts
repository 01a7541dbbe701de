import { InvalidInputError } from '../../core/contract/errors.js';
import type { Attempt } from '../call/attempt.js';
import type { PlainRequest } from '../call/request.js';
import type { RowFeed, SourceRow } from './row-feed.js';

/**
 * The request for a row, and the value that names its user. Rows of one user are sent in their
 * order.
 */
export interface PreparedRow {
  readonly request: PlainRequest;
  readonly user: string | null;
}

/** A row that has no outcome yet. Times are of `performance.now()`, in milliseconds. */
export class OpenRow<Row extends SourceRow> {
  readonly row: Row;
  readonly request: PlainRequest;
  readonly user: string | null;
  /** Number of times it was sent. */
  sent = 0;
  /** Number of these that count towards the maximum number of attempts. */
  attempts = 0;
  /** When its last attempt began. */
  startedAt = 0;
  /** Its index among the open rows. */
  index = 0;
  /** When it may be sent again. */
  dueAt = 0;
  /** Whether the service may have acted on an attempt that led to no outcome. */
  mayHaveActed = false;
  /**
   * Number of rows that were served when this one was last throttled, or did not reach the service.
   */
  servedBefore = -1;
  /** The attempt that awaits an answer. */
  pending: Attempt | null = null;

  constructor(row: Row, { request, user }: PreparedRow) {
    this.row = row;
    this.request = request;
    this.user = user;
  }
}

/** Maximum number of open rows: those that await an answer, and those that wait to be sent. */
const openRowsPerRequest = 16;
const minOpenRows = 512;
/** Maximum size of all open rows, in bytes, unless there is only one. */
const maxOpenBytes = 16 * 1024 * 1024;

/** How a queue prepares its rows, and what it does with those that cannot be sent. */
interface QueueOptions<Row> {
  /** Maximum number of requests under way at once. */
  readonly concurrency: number;
  /** @throws InvalidInputError for a row that cannot be sent */
  readonly prepare: (row: Row) => PreparedRow;
  /** Is called with a row that cannot be sent, and why. */
  readonly onInvalid: (row: Row, error: InvalidInputError) => void;
}

/**
 * Chooses the next row to send: one that is due for another attempt, or whose user has no other row
 * under way any more, then a new one.
 */
export class RowQueue<Row extends SourceRow> {
  readonly #feed: Pick<RowFeed<Row>, 'isOver' | 'take'>;
  readonly #options: QueueOptions<Row>;
  readonly #maxOpen: number;
  /** Not a Set: its old copies would keep thousands of finished rows from garbage collection. */
  readonly #open: OpenRow<Row>[] = [];
  /** The size of the open rows, in bytes. */
  #openBytes = 0;
  /**
   * Rows that wait for another attempt, or whose user's earlier row has its outcome, by `dueAt`.
   */
  readonly #due: OpenRow<Row>[] = [];
  /**
   * The users with a row under way, and their further rows in their order; `null` for none, as
   * usual.
   */
  readonly #busyUsers = new Map<string, OpenRow<Row>[] | null>();

  constructor(feed: Pick<RowFeed<Row>, 'isOver' | 'take'>, options: QueueOptions<Row>) {
    this.#feed = feed;
    this.#options = options;
    this.#maxOpen = Math.max(minOpenRows, options.concurrency * openRowsPerRequest);
  }

  /** Whether every row has its outcome. */
  get isOver(): boolean {
    return this.#open.length === 0 && this.#feed.isOver;
  }

  /** The rows that have no outcome yet. */
  get openRows(): readonly OpenRow<Row>[] {
    return this.#open;
  }

  /**
   * When the next row that was read is due, of `performance.now()`, in milliseconds; `null` if none
   * waits.
   */
  get dueAt(): number | null {
    return this.#due[0]?.dueAt ?? null;
  }

  /**
   * The next row to send; `undefined` if there is none now. New rows are read only if `takesNew`.
   */
  next(now: number, takesNew: boolean): OpenRow<Row> | undefined {
    const { dueAt } = this;
    if (dueAt !== null && dueAt <= now) return this.#due.shift();
    while (takesNew && !this.#isFull()) {
      const row = this.#feed.take();
      if (row === undefined) return undefined;
      const opened = this.#openRow(row);
      if (opened !== null && this.#claimUser(opened)) return opened;
    }
    return undefined;
  }

  /** Schedules a row for its `dueAt`. */
  putBack(row: OpenRow<Row>): void {
    // Most are put back in the order in which they are due.
    let index = this.#due.length;
    while (index > 0 && (this.#due[index - 1]?.dueAt ?? 0) > row.dueAt) index -= 1;
    this.#due.splice(index, 0, row);
  }

  /** The row has its outcome: the next row of its user may be sent. */
  settle({ user, row, index }: OpenRow<Row>): void {
    // The last of the open rows takes its place.
    const last = this.#open.pop();
    if (last !== undefined && index < this.#open.length) {
      this.#open[index] = last;
      last.index = index;
    }
    this.#openBytes -= row.size;
    if (user === null) return;
    const next = this.#busyUsers.get(user)?.shift();
    if (next === undefined) this.#busyUsers.delete(user);
    else this.putBack(next);
  }

  #isFull(): boolean {
    return this.#open.length >= this.#maxOpen || this.#openBytes >= maxOpenBytes;
  }

  /** Adds a row to the open ones; `null` if it is invalid. */
  #openRow(row: Row): OpenRow<Row> | null {
    const { prepare, onInvalid } = this.#options;
    try {
      const opened = new OpenRow(row, prepare(row));
      opened.index = this.#open.push(opened) - 1;
      this.#openBytes += row.size;
      return opened;
    } catch (error) {
      if (!(error instanceof InvalidInputError)) throw error;
      onInvalid(row, error);
      return null;
    }
  }

  /**
   * Whether the row may be sent now; if not, `settle` of the user's row before it makes it ready.
   */
  #claimUser(row: OpenRow<Row>): boolean {
    const { user } = row;
    if (user === null) return true;
    const waiting = this.#busyUsers.get(user);
    if (waiting === undefined) {
      this.#busyUsers.set(user, null);
      return true;
    }
    if (waiting === null) this.#busyUsers.set(user, [row]);
    else waiting.push(row);
    return false;
  }
}
