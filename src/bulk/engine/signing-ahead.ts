import type { Flight } from './flight.js';
import type { SignedRow } from './prepared-row.js';

/** Makes and signs the requests for rows elsewhere. */
export interface SigningThread<Row> {
  /** `done` is called later, with `null` for what cannot be sent; not at all where the thread has ended. */
  sign(rows: readonly Row[], done: (signed: readonly (SignedRow | null)[]) => void): void;
}

/** How many rows are handed over at once: waking a thread costs about as much as signing three. */
const batchRows = 32;
/**
 * How many rows wait for their turn. Of those in three batches alone every tenth would be signed too late; the more
 * they are, the more of them outlive the young generation.
 */
const waitingRows = 3.5 * batchRows;
/** A thread that has so many batches does not keep up: what it would sign is sent by then. */
const mostBatches = 4;

/**
 * Has another thread make and sign what is sent first for rows before their turn comes. Whatever is not there by then,
 * or no longer good, is made as it is sent.
 */
export class SigningAhead<Row> {
  readonly #now: () => number;
  #start: (() => SigningThread<Row>) | null = null;
  #thread: SigningThread<Row> | null = null;
  #batch: Flight<Row>[] = [];
  #batchesAway = 0;

  /** `now` gives milliseconds since 1970. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** From now on there is to be a thread that signs; it is started as the next row comes. */
  begin(start: () => SigningThread<Row>): void {
    this.#start = start;
  }

  /** How many rows should wait for their turn. */
  get waitingRows(): number {
    return this.#start === null ? 0 : waitingRows;
  }

  /** A row waits for its turn. */
  add(flight: Flight<Row>): void {
    if (this.#start === null || this.#batchesAway === mostBatches) return;
    this.#thread ??= this.#start();
    this.#batch.push(flight);
    if (this.#batch.length === batchRows) this.#handOver(this.#thread);
  }

  #handOver(thread: SigningThread<Row>): void {
    const batch = this.#batch;
    const handedOverAt = this.#now();
    this.#batch = [];
    this.#batchesAway += 1;
    const rows = batch.map(({ row }) => row);
    thread.sign(rows, (signed) => {
      this.#batchesAway -= 1;
      for (const [index, flight] of batch.entries()) {
        const request = signed[index];
        if (request) flight.keepSigned(request, handedOverAt);
      }
    });
  }
}
