import { InvalidInputError } from '../protocol/errors.js';
import type { PreparedRow } from './engine/open-row.js';

/** A row as it was read, with what is sent for it, or why nothing is. */
export interface TakenRow<Row> {
  readonly row: Row;
  /** Counted from 0. */
  readonly index: number;
  readonly prepared: PreparedRow | InvalidInputError;
}

/** How many rows are read at once, and again while those wait to be sent. */
const rowsAhead = 32;

/**
 * The rows of a program's iterable. A request is made of each before the next one is read. Where a row has to be
 * awaited, each is a batch of its own.
 */
export class RowReader<Row> implements AsyncIterableIterator<readonly TakenRow<Row>[]> {
  readonly #source: Iterator<Row> | AsyncIterator<Row>;
  readonly #isAsync: boolean;
  readonly #batchSize: number;
  readonly #prepare: (row: Row) => PreparedRow;
  #count = 0;
  #thrown: { readonly error: unknown } | null = null;

  /** Throws an InvalidInputError for rows that cannot be iterated over. */
  constructor(rows: Iterable<Row> | AsyncIterable<Row>, prepare: (row: Row) => PreparedRow) {
    if (!isIterable(rows)) throw new InvalidInputError('the rows are not an iterable or an async iterable');
    this.#isAsync = Symbol.asyncIterator in rows;
    this.#source = Symbol.asyncIterator in rows ? rows[Symbol.asyncIterator]() : rows[Symbol.iterator]();
    this.#batchSize = this.#isAsync ? 1 : rowsAhead;
    this.#prepare = prepare;
  }

  get batchesAhead(): number {
    return rowsAhead / this.#batchSize;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Throws what the source throws, once the rows before that were given. */
  async next(): Promise<IteratorResult<readonly TakenRow<Row>[], undefined>> {
    const batch: TakenRow<Row>[] = [];
    while (batch.length < this.#batchSize && this.#thrown === null) {
      try {
        const next = this.#source.next();
        const { done, value } = this.#isAsync ? await next : (next as IteratorResult<Row>);
        if (done) break;
        batch.push(this.#take(value));
      } catch (error) {
        this.#thrown = { error };
      }
    }
    if (batch.length > 0) return { done: false, value: batch };
    if (this.#thrown !== null) throw this.#thrown.error;
    return { done: true, value: undefined };
  }

  /** Closes the source. */
  async return(): Promise<IteratorResult<readonly TakenRow<Row>[], undefined>> {
    await this.#source.return?.();
    return { done: true, value: undefined };
  }

  /** Whatever is wrong with a row is a matter of that row alone. */
  #take(row: Row): TakenRow<Row> {
    const index = this.#count;
    this.#count += 1;
    try {
      return { row, index, prepared: this.#prepare(row) };
    } catch (cause) {
      const error =
        cause instanceof InvalidInputError
          ? cause
          : new InvalidInputError('the row cannot be read', { cause });
      return { row, index, prepared: error };
    }
  }
}

function isIterable(rows: unknown): boolean {
  return (
    typeof rows === 'object' && rows !== null && (Symbol.asyncIterator in rows || Symbol.iterator in rows)
  );
}
