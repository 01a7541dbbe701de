import { setTimeout as wait } from 'node:timers/promises';
import { BackOff } from '../../bulk/engine/flow-control.js';
import { StoreUnavailableError } from '../../database/errors.js';

/** How long a stopped worker still tries to reach the database, in milliseconds. */
const lastTriesMs = 5_000;

/** Receives the loss of the database, and its return. */
export interface OutageListener {
  onLost(error: StoreUnavailableError): void;
  onBack(): void;
}

/** Retries database work with growing pauses while the database does not answer. */
export class Outage {
  readonly #listener: OutageListener;
  readonly #now: () => number;
  readonly #random: () => number;
  #isLost = false;
  /** When the database last answered again; in milliseconds. */
  #backAt = Number.NEGATIVE_INFINITY;
  #stoppedAt = Number.POSITIVE_INFINITY;

  /** `now` is a monotonic clock, in milliseconds. */
  constructor(listener: OutageListener, now: () => number, random: () => number) {
    this.#listener = listener;
    this.#now = now;
    this.#random = random;
  }

  /** From now on, retry for a short time only. */
  stop(): void {
    this.#stoppedAt = Math.min(this.#stoppedAt, this.#now());
  }

  /** Whether the database was lost within the last `ms` milliseconds: no worker could renew its leases then. */
  wasWithin(ms: number): boolean {
    return this.#isLost || this.#now() - this.#backAt < ms;
  }

  /**
   * Returns what the work returns.
   *
   * @throws StoreUnavailableError only some time after `stop`
   */
  async retry<T>(work: () => Promise<T>): Promise<T> {
    const backOff = new BackOff(this.#random);
    for (;;) {
      try {
        const result = await work();
        this.#find();
        return result;
      } catch (error) {
        if (!(error instanceof StoreUnavailableError)) throw error;
        if (this.#now() - this.#stoppedAt > lastTriesMs) throw error;
        this.#lose(error);
        await wait(backOff.next());
      }
    }
  }

  #find(): void {
    if (!this.#isLost) return;
    this.#isLost = false;
    this.#backAt = this.#now();
    this.#listener.onBack();
  }

  #lose(error: StoreUnavailableError): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#listener.onLost(error);
  }
}
