/** Takes rows one by one from batches, and has the next batch fetched while the present one lasts. */
export class RowFeed<Row> {
  readonly #batches: AsyncIterator<readonly Row[]>;
  readonly #onRows: () => void;
  readonly #onError: (error: unknown) => void;
  #batch: readonly Row[] = [];
  #at = 0;
  #nextBatch: readonly Row[] | null = null;
  #fetching = false;
  #ended = false;

  /** `onRows` is called when there may be rows again, or no more for ever. */
  constructor(batches: AsyncIterable<readonly Row[]>, onRows: () => void, onError: (error: unknown) => void) {
    this.#batches = batches[Symbol.asyncIterator]();
    this.#onRows = onRows;
    this.#onError = onError;
  }

  /** No row will come any more. */
  get isOver(): boolean {
    return this.#ended && this.#at >= this.#batch.length && this.#nextBatch === null;
  }

  /** The next row; `undefined` where it is not there yet, or there is none. */
  take(): Row | undefined {
    if (this.#at >= this.#batch.length && this.#nextBatch !== null) {
      this.#batch = this.#nextBatch;
      this.#at = 0;
      this.#nextBatch = null;
    }
    if (this.#nextBatch === null) this.#fetch();
    const row = this.#batch[this.#at];
    this.#at += 1;
    return row;
  }

  #fetch(): void {
    if (this.#fetching || this.#ended) return;
    this.#fetching = true;
    this.#batches.next().then(
      ({ done, value }) => {
        this.#fetching = false;
        if (done) this.#ended = true;
        else this.#nextBatch = value;
        this.#onRows();
      },
      (error) => {
        this.#ended = true;
        this.#onError(error);
      },
    );
  }
}
