/** A row of a source. */
export interface SourceRow {
  /** Approximate memory, in bytes. */
  readonly size: number;
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
  /** The index of the next of them. */
  #next = 0;
  /** The size of those that are left, in bytes. */
  #bytes = 0;
  #isFetching = false;
  #hasEnded = false;
  #error: unknown;

  /** `onRows` is called when rows have arrived, and when the source has ended or failed. */
  constructor(source: AsyncIterator<readonly Row[]>, onRows: () => void) {
    this.#source = source;
    this.#onRows = onRows;
  }

  /** Whether the source has ended and all its rows were returned. */
  get isOver(): boolean {
    return this.#hasEnded && this.#next === this.#rows.length;
  }

  /** The error of the source. The rows before it are still returned. */
  get error(): unknown {
    return this.#error;
  }

  /** The next row; `undefined` if it has not arrived, or there is none. */
  take(): Row | undefined {
    const row = this.#rows[this.#next];
    if (row !== undefined) {
      this.#next += 1;
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
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const closed = this.#source.return?.();
    if (!this.#isFetching) await closed;
    else closed?.catch(() => {});
  }

  #fetch(): void {
    const isEnough = this.#rows.length - this.#next > rowsAhead || this.#bytes >= bytesAhead;
    if (this.#isFetching || this.#hasEnded || isEnough) return;
    this.#isFetching = true;
    this.#source.next().then(
      ({ done, value }) => {
        this.#isFetching = false;
        if (done) this.#hasEnded = true;
        else this.#add(value);
        this.#fetch();
        this.#onRows();
      },
      (error) => {
        this.#isFetching = false;
        this.#hasEnded = true;
        this.#error = error ?? new Error('the source of rows failed');
        this.#onRows();
      },
    );
  }

  #add(batch: readonly Row[]): void {
    this.#rows = [...this.#rows.slice(this.#next), ...batch];
    this.#next = 0;
    for (const { size } of batch) this.#bytes += size;
  }
}
