import { atMost } from '../../core/support/at-most.js';
import { DatabaseBusyError } from '../database/errors.js';
import { type Log, logFault } from '../log.js';
import type { Store } from './store.js';

/** Time for which no further probe is started, in milliseconds. */
const probeLastsMs = 1000;

/** Time for which the result of a probe is believed while no other one ends, in milliseconds. */
const believedMs = 10_000;

/**
 * Maximum wait for a probe once that time is over, in milliseconds: who asks is answered within a
 * second.
 */
const maxWaitMs = 900;

/** What a probe of the store needs, besides the store. */
interface ProbeOptions {
  readonly log: Log;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  /** The clock of this process, to compare with the database's. */
  readonly unixSeconds: () => number;
  /** Difference of the two from which requests are refused, in seconds. */
  readonly windowSeconds: number;
}

/**
 * Tells whether the store is writable, by the last probe. Whoever asks later than a second after it
 * starts the next one, and waits for it, for a moment, only if the last one is too old to be
 * believed. A probe that takes long, or finds its row locked or no connection free, is not a
 * failure: the processes share one database, and a slow one must not take out all of them. A probe
 * also compares the clock of this process with the database's, and logs if they are too far apart.
 */
export class StoreProbe {
  readonly #store: Store;
  readonly #options: ProbeOptions;
  #isWell = true;
  /** When the last probe that counts ended, by `now`. */
  #endedAt = Number.NEGATIVE_INFINITY;
  /** The probe under way. */
  #probe: Promise<void> | null = null;

  constructor(store: Store, options: ProbeOptions) {
    this.#store = store;
    this.#options = options;
  }

  /** Whether the store can be written to, by the last probe; it waits for one 900 ms at most. */
  async isWritable(): Promise<boolean> {
    if (this.#probe === null && this.#isOlderThan(probeLastsMs)) this.#probe = this.#run();
    if (this.#probe !== null && this.#isOlderThan(believedMs)) {
      await atMost(maxWaitMs, this.#probe);
      if (this.#isOlderThan(believedMs)) return false;
    }
    return this.#isWell;
  }

  /** Whether the clocks were near enough at the last probe. */
  isInTime(): boolean {
    return Math.abs(this.#store.clockDifference()) <= this.#options.windowSeconds;
  }

  /** Whether the last result is older than this, in milliseconds. */
  #isOlderThan(ms: number): boolean {
    return this.#options.now() - this.#endedAt > ms;
  }

  async #run(): Promise<void> {
    const { log, unixSeconds } = this.#options;
    const wasInTime = this.isInTime();
    try {
      await this.#store.check(unixSeconds);
      if (wasInTime && !this.isInTime()) this.#reportClock();
      this.#end(true);
    } catch (error) {
      logFault(log, error);
      if (!(error instanceof DatabaseBusyError)) this.#end(false);
    } finally {
      this.#probe = null;
    }
  }

  #end(isWell: boolean): void {
    this.#isWell = isWell;
    this.#endedAt = this.#options.now();
  }

  #reportClock(): void {
    const difference = this.#store.clockDifference();
    const seconds = Math.abs(difference);
    const problem =
      difference > 0
        ? `the clock of this machine is ${seconds} s ahead of that of the database`
        : `the clock of this machine is ${seconds} s behind that of the database`;
    this.#options.log({ event: 'clock', problem });
  }
}
