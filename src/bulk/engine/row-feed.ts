/** Takes rows one by one from batches, and has further batches fetched meanwhile. */
export class RowFeed<Row> {
  readonly #source: AsyncIterator<readonly Row[]>;
  readonly #batchesAhead: number;
  readonly #onRows: () => void;
  #batch: readonly Row[] = [];
  #at = 0;
  readonly #nextBatches: (readonly Row[])[] = [];
  #fetching = false;
  #ended = false;
  #error: unknown;

  /**
   * `batchesAhead` is how many batches are fetched before they are needed. `onRows` is called when there may be rows
   * again, or none any more.
   */
  constructor(batches: AsyncIterable<readonly Row[]>, batchesAhead: number, onRows: () => void) {
    this.#source = batches[Symbol.asyncIterator]();
    this.#batchesAhead = batchesAhead;
    this.#onRows = onRows;
  }

  /** No row will come any more. */
  get isOver(): boolean {
    return this.#ended && this.#at >= this.#batch.length && this.#nextBatches.length === 0;
  }

  /** What the source threw. The rows before that still come. */
  get error(): unknown {
    return this.#error;
  }

  /** The next row; `undefined` where it is not there yet, or there is none. */
  take(): Row | undefined {
    while (this.#at >= this.#batch.length && this.#nextBatches.length > 0) {
      this.#batch = this.#nextBatches.shift() ?? [];
      this.#at = 0;
    }
    this.#fetch();
    const row = this.#batch[this.#at];
    this.#at += 1;
    return row;
  }

  /**
   * Closes the source, and waits until that is done, unless a row is still awaited from it: that may take for ever.
   * Throws what the source throws then.
   */
  async close(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    const closed = this.#source.return?.();
    if (!this.#fetching) await closed;
    else closed?.catch(() => {});
  }

  #fetch(): void {
    if (this.#fetching || this.#ended || this.#nextBatches.length >= this.#batchesAhead) return;
    this.#fetching = true;
    this.#source.next().then(
      ({ done, value }) => {
        this.#fetching = false;
        if (done) this.#ended = true;
        else this.#nextBatches.push(value);
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
}
