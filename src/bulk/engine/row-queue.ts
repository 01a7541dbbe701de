import type { Attempt } from '../../client/attempt.js';
import type { PlainRequest } from '../../client/request.js';
import { InvalidInputError } from '../../protocol/errors.js';

/** A row of a source. */
export interface SourceRow {
  /** Approximate memory, in bytes. */
  readonly size: number;
}

/** The request for a row, and the value that names its user. Rows of one user are sent in their order. */
export interface PreparedRow {
  readonly request: PlainRequest;
  readonly user: string | null;
}

/** A row that has no outcome yet. Times are in milliseconds. */
export class OpenRow<Row extends SourceRow> {
  readonly row: Row;
  readonly request: PlainRequest;
  readonly user: string | null;
  /** Number of times it was sent. */
  sent = 0;
  /** Number of these that count towards the maximum number of attempts. */
  attempts = 0;
  startedAt = 0;
  /** Its index among the open rows. */
  place = 0;
  /** When it may be sent again. */
  dueAt = 0;
  /** Whether the service may have acted on an attempt that led to no outcome. */
  mayHaveActed = false;
  /** Number of rows that were served when this one was last throttled, or did not reach the service. */
  servedBefore = -1;
  /** The attempt that awaits an answer. */
  pending: Attempt | null = null;

  constructor(row: Row, { request, user }: PreparedRow) {
    this.row = row;
    this.request = request;
    this.user = user;
  }
}

/** More rows are fetched while at most this many rows are left. */
const rowsAhead = 32;
/** No more rows are fetched while those that are left have this size, in bytes. */
const bytesAhead = 64 * 1024;

/** Returns rows one by one from batches, and fetches further batches meanwhile. */
export class RowFeed<Row extends SourceRow> {
  readonly #source: AsyncIterator<readonly Row[]>;
  readonly #onRows: () => void;
  #rows: readonly Row[] = [];
  /** The next of them. */
  #at = 0;
  /** The size of those that are left, in bytes. */
  #bytes = 0;
  #fetching = false;
  #ended = false;
  #error: unknown;

  /** `onRows` is called when rows have arrived, and at the end of the source. */
  constructor(batches: AsyncIterator<readonly Row[]>, onRows: () => void) {
    this.#source = batches;
    this.#onRows = onRows;
  }

  /** Whether the source has ended and all its rows were returned. */
  get isOver(): boolean {
    return this.#ended && this.#at === this.#rows.length;
  }

  /** The error of the source. The rows before it are still returned. */
  get error(): unknown {
    return this.#error;
  }

  /** The next row; `undefined` if it has not arrived, or there is none. */
  take(): Row | undefined {
    const row = this.#rows[this.#at];
    if (row !== undefined) {
      this.#at += 1;
      this.#bytes -= row.size;
    }
    this.#fetch();
    return row;
  }

  /**
   * Closes the source. Does not wait for one that is still reading a row: that may take for ever.
   *
   * @throws what the source throws
   */
  async close(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    const closed = this.#source.return?.();
    if (!this.#fetching) await closed;
    else closed?.catch(() => {});
  }

  #fetch(): void {
    const isEnough = this.#rows.length - this.#at > rowsAhead || this.#bytes >= bytesAhead;
    if (this.#fetching || this.#ended || isEnough) return;
    this.#fetching = true;
    this.#source.next().then(
      ({ done, value }) => {
        this.#fetching = false;
        if (done) this.#ended = true;
        else this.#add(value);
        this.#fetch();
        this.#onRows();
      },
      (error) => {
        this.#fetching = false;
        this.#ended = true;
        this.#error = error ?? new Error('the source of rows failed');
        this.#onRows();
      },
    );
  }

  #add(batch: readonly Row[]): void {
    this.#rows = [...this.#rows.slice(this.#at), ...batch];
    this.#at = 0;
    for (const { size } of batch) this.#bytes += size;
  }
}

/** Maximum number of open rows: those that await an answer, and those that wait to be sent. */
const openRowsPerRequest = 16;
const minOpenRows = 512;
/** Maximum size of all open rows, in bytes, unless there is only one. */
const maxOpenBytes = 16 * 1024 * 1024;

/**
 * Returns the next row to send: one that is due for another attempt, or whose user has no other row under way any
 * more, then a new one.
 */
export class RowQueue<Row extends SourceRow> {
  readonly #feed: RowFeed<Row>;
  readonly #prepare: (row: Row) => PreparedRow;
  readonly #onInvalid: (row: Row, error: InvalidInputError) => void;
  readonly #maxOpen: number;
  /** Not a Set: its old copies would keep thousands of finished rows from garbage collection. */
  readonly #open: OpenRow<Row>[] = [];
  #openBytes = 0;
  /** Rows that wait for another attempt, or whose user's earlier row has its outcome, by `dueAt`. */
  readonly #again: OpenRow<Row>[] = [];
  /** The users with a row under way, and their further rows in their order; `null` for none, as usual. */
  readonly #busy = new Map<string, OpenRow<Row>[] | null>();

  /** `prepare` throws an InvalidInputError for a row that cannot be sent, which `onInvalid` receives. */
  constructor(
    feed: RowFeed<Row>,
    concurrency: number,
    prepare: (row: Row) => PreparedRow,
    onInvalid: (row: Row, error: InvalidInputError) => void,
  ) {
    this.#feed = feed;
    this.#prepare = prepare;
    this.#onInvalid = onInvalid;
    this.#maxOpen = Math.max(minOpenRows, concurrency * openRowsPerRequest);
  }

  /** Whether every row has its outcome. */
  get isOver(): boolean {
    return this.#open.length === 0 && this.#feed.isOver;
  }

  /** The rows that have no outcome yet. */
  get open(): readonly OpenRow<Row>[] {
    return this.#open;
  }

  /** When the next row that was read is due, in milliseconds; `null` if none waits. */
  get dueAt(): number | null {
    return this.#again[0]?.dueAt ?? null;
  }

  /** The next row to send; `undefined` if there is none now. New rows are read only if `takesNew`. */
  next(now: number, takesNew: boolean): OpenRow<Row> | undefined {
    const dueAt = this.dueAt;
    if (dueAt !== null && dueAt <= now) return this.#again.shift();
    while (takesNew && !this.#isFull()) {
      const row = this.#feed.take();
      if (row === undefined) return undefined;
      const open = this.#prepared(row);
      if (open !== null && this.#claimUser(open)) return open;
    }
    return undefined;
  }

  /** Schedules a row for its `dueAt`. */
  putBack(row: OpenRow<Row>): void {
    // Most are put back in the order in which they are due.
    let at = this.#again.length;
    while (at > 0 && (this.#again[at - 1]?.dueAt ?? 0) > row.dueAt) at -= 1;
    this.#again.splice(at, 0, row);
  }

  /** The row has its outcome: the next row of its user may be sent. */
  settle({ user, row, place }: OpenRow<Row>): void {
    const last = this.#open.pop();
    if (last !== undefined && place < this.#open.length) {
      this.#open[place] = last;
      last.place = place;
    }
    this.#openBytes -= row.size;
    if (user === null) return;
    const next = this.#busy.get(user)?.shift();
    if (next === undefined) this.#busy.delete(user);
    else this.putBack(next);
  }

  #isFull(): boolean {
    return this.#open.length >= this.#maxOpen || this.#openBytes >= maxOpenBytes;
  }

  #prepared(row: Row): OpenRow<Row> | null {
    try {
      const open = new OpenRow(row, this.#prepare(row));
      open.place = this.#open.push(open) - 1;
      this.#openBytes += row.size;
      return open;
    } catch (error) {
      if (!(error instanceof InvalidInputError)) throw error;
      this.#onInvalid(row, error);
      return null;
    }
  }

  /** Whether the row may be sent now; if not, `settle` of the user's row before it makes it ready. */
  #claimUser(row: OpenRow<Row>): boolean {
    const { user } = row;
    if (user === null) return true;
    const waiting = this.#busy.get(user);
    if (waiting === undefined) this.#busy.set(user, null);
    else if (waiting === null) this.#busy.set(user, [row]);
    else waiting.push(row);
    return waiting === undefined;
  }
}
