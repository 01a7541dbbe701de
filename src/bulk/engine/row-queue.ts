import type { PlainRequest } from '../../client/request.js';
import { InvalidInputError } from '../../protocol/errors.js';
import { Flight } from './flight.js';
import type { PreparedRow } from './prepared-row.js';
import { RetryQueue } from './retry-queue.js';
import type { RowFeed } from './row-feed.js';
import type { SigningAhead } from './signing-ahead.js';
import { UsersInOrder } from './users-in-order.js';

export interface RowQueueOptions<Row> {
  /** Throws an InvalidInputError for a row that cannot be sent. */
  readonly prepare: (row: Row) => PreparedRow;
  /** In bytes, about. */
  readonly sizeOf: (row: Row) => number;
  readonly concurrency: number;
  /** Is shown rows before their turn comes. */
  readonly signingAhead?: SigningAhead<Row>;
  /** Is told what names the user of a row that was signed ahead, and so not prepared. */
  readonly onUser?: (row: Row, user: string) => void;
}

/** How many rows are held at the most, those that wait to be sent again included. */
const openRowsPerRequest = 16;
const leastOpenRows = 512;
/** How much they may take, in bytes, unless there is only one. */
const maxOpenBytes = 16 * 1024 * 1024;

/** Hands out the rows that may be sent: those that are due again, those whose user is free now, then new ones. */
export class RowQueue<Row> {
  readonly #feed: RowFeed<Row>;
  readonly #options: RowQueueOptions<Row>;
  readonly #onInvalid: (row: Row, error: InvalidInputError) => void;
  readonly #again = new RetryQueue<Row>();
  readonly #users = new UsersInOrder<Row>();
  #ready: Flight<Row>[] = [];
  /** New rows, in their order. */
  readonly #fresh: Flight<Row>[] = [];
  #openRows = 0;
  #openBytes = 0;

  constructor(
    feed: RowFeed<Row>,
    options: RowQueueOptions<Row>,
    onInvalid: (row: Row, error: InvalidInputError) => void,
  ) {
    this.#feed = feed;
    this.#options = options;
    this.#onInvalid = onInvalid;
  }

  /** Whether every row has its outcome. */
  get isOver(): boolean {
    return this.#openRows === 0 && this.#feed.isOver;
  }

  /** When a row is due to be sent again, in milliseconds; `null` where none waits. */
  get dueAt(): number | null {
    return this.#again.dueAt;
  }

  /** The next row to send; `undefined` where there is none now. New rows come only where they `mayCome`. */
  next(now: number, mayCome: boolean): Flight<Row> | undefined {
    const flight = this.#again.takeDue(now) ?? this.#ready.shift();
    if (flight !== undefined || !mayCome) return flight;
    for (;;) {
      this.#takeUpTo(1 + (this.#options.signingAhead?.waitingRows ?? 0));
      const fresh = this.#fresh.shift();
      if (fresh === undefined) return undefined;
      if (this.#prepare(fresh) && this.#users.claim(fresh)) return fresh;
    }
  }

  /** What is sent for a row that was handed out, unsigned. */
  requestOf(flight: Flight<Row>): PlainRequest {
    flight.request ??= this.#options.prepare(flight.row).request;
    return flight.request;
  }

  /** Puts a row back, to be sent again at its `dueAt`. */
  putBack(flight: Flight<Row>): void {
    this.#again.add(flight);
  }

  /** The row has its outcome. */
  settle(flight: Flight<Row>): void {
    this.#close(flight);
    const next = this.#users.release(flight);
    if (next !== null) this.#ready.push(next);
  }

  #close({ size }: Flight<Row>): void {
    this.#openRows -= 1;
    this.#openBytes -= size;
  }

  #isFull(): boolean {
    if (this.#openRows >= Math.max(leastOpenRows, this.#options.concurrency * openRowsPerRequest))
      return true;
    return this.#openRows > 0 && this.#openBytes >= maxOpenBytes;
  }

  #takeUpTo(count: number): void {
    while (this.#fresh.length < count && !this.#isFull()) {
      const row = this.#feed.take();
      if (row === undefined) return;
      const flight = new Flight(row, this.#options.sizeOf(row));
      this.#openRows += 1;
      this.#openBytes += flight.size;
      this.#fresh.push(flight);
      this.#options.signingAhead?.add(flight);
    }
  }

  /** Whether it can be sent. */
  #prepare(flight: Flight<Row>): boolean {
    const { prepare, onUser } = this.#options;
    if (flight.signed !== null) {
      flight.user = flight.signed.user;
      if (flight.user !== null) onUser?.(flight.row, flight.user);
      return true;
    }
    try {
      const { request, user } = prepare(flight.row);
      flight.request = request;
      flight.user = user;
      return true;
    } catch (error) {
      if (!(error instanceof InvalidInputError)) throw error;
      this.#close(flight);
      this.#onInvalid(flight.row, error);
      return false;
    }
  }
}
