import { setTimeout as wait } from 'node:timers/promises';
import { BackOff } from '../../bulk/engine/flow-control.js';
import { StoreUnavailableError } from '../../database/errors.js';

/** How long a worker that was stopped still tries to reach the database, in milliseconds. */
const lastTriesMs = 5_000;

/** Who is told that the database was lost, and that it is back. */
export interface OutageListener {
  onLost(error: StoreUnavailableError): void;
  onBack(): void;
}

/** Has database work tried again, with longer and longer pauses, while the database does not answer. */
export class Outage {
  readonly #listener: OutageListener;
  readonly #now: () => number;
  readonly #random: () => number;
  #isLost = false;
  /** When the database answered again last; in milliseconds. */
  #backAt = Number.NEGATIVE_INFINITY;
  #stoppedAt = Number.POSITIVE_INFINITY;

  /** `now` gives milliseconds that only go forward. */
  constructor(listener: OutageListener, now: () => number, random: () => number) {
    this.#listener = listener;
    this.#now = now;
    this.#random = random;
  }

  /** From now on work is not tried for long any more. */
  stop(): void {
    this.#stoppedAt = Math.min(this.#stoppedAt, this.#now());
  }

  /** Whether the database was lost within the last `ms` milliseconds: nobody could say then that they are there. */
  wasWithin(ms: number): boolean {
    return this.#isLost || this.#now() - this.#backAt < ms;
  }

  /** Gives what the work gives. Throws a StoreUnavailableError only some time after `stop`. */
  async survive<T>(work: () => Promise<T>): Promise<T> {
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
