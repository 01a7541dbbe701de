import type { PlainRequest } from '../../client/request.js';
import { InvalidInputError } from '../../protocol/errors.js';
import { Flight } from './flight.js';
import { RetryQueue } from './retry-queue.js';
import type { RowFeed } from './row-feed.js';
import type { SigningAhead } from './signing-ahead.js';
import { UsersInOrder } from './users-in-order.js';

export interface RowQueueOptions<Row> {
  /** What is sent for a row, and what names its user. Throws an InvalidInputError for a row that cannot be sent. */
  readonly prepare: (row: Row) => { readonly request: PlainRequest; readonly user: string | null };
  /** In bytes, about. */
  readonly sizeOf: (row: Row) => number;
  readonly concurrency: number;
  /** Is shown rows before their turn comes. */
  readonly signingAhead?: SigningAhead;
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
  readonly #prepared: Flight<Row>[] = [];
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
      this.#prepareUpTo(1 + (this.#options.signingAhead?.waitingRows ?? 0));
      const fresh = this.#prepared.shift();
      if (fresh === undefined || this.#users.claim(fresh)) return fresh;
    }
  }

  /** Puts a row back, to be sent again at its `dueAt`. */
  putBack(flight: Flight<Row>): void {
    this.#again.add(flight);
  }

  /** The row has its outcome. */
  settle(flight: Flight<Row>): void {
    this.#openRows -= 1;
    this.#openBytes -= flight.size;
    const next = this.#users.release(flight);
    if (next !== null) this.#ready.push(next);
  }

  #isFull(): boolean {
    if (this.#openRows >= Math.max(leastOpenRows, this.#options.concurrency * openRowsPerRequest))
      return true;
    return this.#openRows > 0 && this.#openBytes >= maxOpenBytes;
  }

  #prepareUpTo(count: number): void {
    while (this.#prepared.length < count && !this.#isFull()) {
      const row = this.#feed.take();
      if (row === undefined) return;
      const flight = this.#prepare(row);
      if (flight === null) continue;
      this.#prepared.push(flight);
      this.#options.signingAhead?.add(flight);
    }
  }

  #prepare(row: Row): Flight<Row> | null {
    try {
      const { request, user } = this.#options.prepare(row);
      const flight = new Flight(row, request, user, this.#options.sizeOf(row));
      this.#openRows += 1;
      this.#openBytes += flight.size;
      return flight;
    } catch (error) {
      if (!(error instanceof InvalidInputError)) throw error;
      this.#onInvalid(row, error);
      return null;
    }
  }
}
