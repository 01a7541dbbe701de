import { InvalidInputError } from '../../core/contract/errors.js';
import type { Attempt } from '../call/attempt.js';
import type { PlainRequest } from '../call/request.js';

/** A row of a source. */
export interface SourceRow {
  /** Approximate memory, in bytes. */
  readonly size: number;
}

/**
 * The request for a row, and the value that names its user. Rows of one user are sent in their
 * order.
 */
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

/** More rows are fetched while at most this many rows are left. */
const rowsAhead = 32;
/** No more rows are fetched while those that are left have this size, in bytes. */
const bytesAhead = 64 * 1024;

/** Returns rows one by one from batches, and fetches further batches meanwhile. */
export function rowFeed<Row extends SourceRow>(
  source: AsyncIterator<readonly Row[]>,
  onRows: () => void,
) {
  let rows: readonly Row[] = [];
  /** The next of them. */
  let at = 0;
  /** The size of those that are left, in bytes. */
  let bytes = 0;
  let fetching = false;
  let ended = false;
  let error: unknown;

  function fetch(): void {
    const isEnough = rows.length - at > rowsAhead || bytes >= bytesAhead;
    if (fetching || ended || isEnough) return;
    fetching = true;
    source.next().then(
      ({ done, value }) => {
        fetching = false;
        if (done) ended = true;
        else add(value);
        fetch();
        onRows();
      },
      (fault) => {
        fetching = false;
        ended = true;
        error = fault ?? new Error('the source of rows failed');
        onRows();
      },
    );
  }

  function add(batch: readonly Row[]): void {
    rows = [...rows.slice(at), ...batch];
    at = 0;
    for (const { size } of batch) bytes += size;
  }

  return {
    /** Whether the source has ended and all its rows were returned. */
    isOver: () => ended && at === rows.length,
    /** The error of the source. The rows before it are still returned. */
    error: () => error,
    /** The next row; `undefined` if it has not arrived, or there is none. */
    take(): Row | undefined {
      const row = rows[at];
      if (row !== undefined) {
        at += 1;
        bytes -= row.size;
      }
      fetch();
      return row;
    },
    /**
     * Closes the source. Does not wait for one that is still reading a row: that may take for ever.
     *
     * @throws what the source throws
     */
    async close(): Promise<void> {
      if (ended) return;
      ended = true;
      const closed = source.return?.();
      if (!fetching) await closed;
      else closed?.catch(() => {});
    },
  };
}

/** Maximum number of open rows: those that await an answer, and those that wait to be sent. */
const openRowsPerRequest = 16;
const minOpenRows = 512;
/** Maximum size of all open rows, in bytes, unless there is only one. */
const maxOpenBytes = 16 * 1024 * 1024;

/**
 * Returns the next row to send: one that is due for another attempt, or whose user has no other row
 * under way any more, then a new one.
 */
export function rowQueue<Row extends SourceRow>(
  feed: Pick<ReturnType<typeof rowFeed<Row>>, 'isOver' | 'take'>,
  concurrency: number,
  prepare: (row: Row) => PreparedRow,
  onInvalid: (row: Row, error: InvalidInputError) => void,
) {
  const maxOpen = Math.max(minOpenRows, concurrency * openRowsPerRequest);
  /** Not a Set: its old copies would keep thousands of finished rows from garbage collection. */
  const open: OpenRow<Row>[] = [];
  let openBytes = 0;
  /**
   * Rows that wait for another attempt, or whose user's earlier row has its outcome, by `dueAt`.
   */
  const again: OpenRow<Row>[] = [];
  /**
   * The users with a row under way, and their further rows in their order; `null` for none, as
   * usual.
   */
  const busy = new Map<string, OpenRow<Row>[] | null>();

  /** When the next row that was read is due, in milliseconds; `null` if none waits. */
  const dueAt = () => again[0]?.dueAt ?? null;

  /** Schedules a row for its `dueAt`. */
  function putBack(row: OpenRow<Row>): void {
    // Most are put back in the order in which they are due.
    let at = again.length;
    while (at > 0 && (again[at - 1]?.dueAt ?? 0) > row.dueAt) at -= 1;
    again.splice(at, 0, row);
  }

  function isFull(): boolean {
    return open.length >= maxOpen || openBytes >= maxOpenBytes;
  }

  function prepared(row: Row): OpenRow<Row> | null {
    try {
      const added = new OpenRow(row, prepare(row));
      added.place = open.push(added) - 1;
      openBytes += row.size;
      return added;
    } catch (error) {
      if (!(error instanceof InvalidInputError)) throw error;
      onInvalid(row, error);
      return null;
    }
  }

  /**
   * Whether the row may be sent now; if not, `settle` of the user's row before it makes it ready.
   */
  function claimUser(row: OpenRow<Row>): boolean {
    const { user } = row;
    if (user === null) return true;
    const waiting = busy.get(user);
    if (waiting === undefined) busy.set(user, null);
    else if (waiting === null) busy.set(user, [row]);
    else waiting.push(row);
    return waiting === undefined;
  }

  return {
    /** Whether every row has its outcome. */
    isOver: () => open.length === 0 && feed.isOver(),
    /** The rows that have no outcome yet. */
    open: open as readonly OpenRow<Row>[],
    dueAt,
    /**
     * The next row to send; `undefined` if there is none now. New rows are read only if `takesNew`.
     */
    next(now: number, takesNew: boolean): OpenRow<Row> | undefined {
      const due = dueAt();
      if (due !== null && due <= now) return again.shift();
      while (takesNew && !isFull()) {
        const row = feed.take();
        if (row === undefined) return undefined;
        const found = prepared(row);
        if (found !== null && claimUser(found)) return found;
      }
      return undefined;
    },
    putBack,
    /** The row has its outcome: the next row of its user may be sent. */
    settle({ user, row, place }: OpenRow<Row>): void {
      const last = open.pop();
      if (last !== undefined && place < open.length) {
        open[place] = last;
        last.place = place;
      }
      openBytes -= row.size;
      if (user === null) return;
      const next = busy.get(user)?.shift();
      if (next === undefined) busy.delete(user);
      else putBack(next);
    },
  };
}
