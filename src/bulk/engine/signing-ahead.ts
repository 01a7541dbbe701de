import type { PlainRequest } from '../../client/request.js';
import type { SignedRequest } from '../../client/transport.js';
import type { Flight } from './flight.js';

/** Signs requests elsewhere. */
export interface SigningThread {
  /** `done` is called later, with `null` for what cannot be signed; not at all where the thread has ended. */
  sign(requests: readonly PlainRequest[], done: (signed: readonly (SignedRequest | null)[]) => void): void;
}

/** How many requests are handed over at once: waking a thread costs about as much as signing three. */
const batchRows = 32;
/** How many rows wait for their turn: the more they are, the longer it takes to clear memory. */
const waitingRows = 2 * batchRows;
/** A thread that has so many batches does not keep up: what it would sign is sent by then. */
const mostBatches = 4;

/**
 * Has first attempts signed by another thread before their turn comes. Whatever is not signed by then, or no longer
 * good, is signed as it is sent.
 */
export class SigningAhead {
  readonly #now: () => number;
  #thread: SigningThread | null = null;
  #batch: Flight<unknown>[] = [];
  #batchesAway = 0;

  /** `now` gives milliseconds since 1970. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** From now on there is a thread that signs. */
  begin(thread: SigningThread): void {
    this.#thread = thread;
  }

  /** How many rows should wait for their turn. */
  get waitingRows(): number {
    return this.#thread === null ? 0 : waitingRows;
  }

  /** A row waits for its turn. */
  add(flight: Flight<unknown>): void {
    if (this.#thread === null || this.#batchesAway === mostBatches) return;
    this.#batch.push(flight);
    if (this.#batch.length === batchRows) this.#handOver(this.#thread);
  }

  #handOver(thread: SigningThread): void {
    const batch = this.#batch;
    const handedOverAt = this.#now();
    this.#batch = [];
    this.#batchesAway += 1;
    const requests = batch.map(({ request }) => request);
    thread.sign(requests, (signed) => {
      this.#batchesAway -= 1;
      for (const [index, flight] of batch.entries()) {
        const request = signed[index];
        if (request) flight.keepSigned(request, handedOverAt);
      }
    });
  }
}
