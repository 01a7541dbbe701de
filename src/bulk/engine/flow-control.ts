import { backOffMs } from '../../support/back-off.js';
import type { Verdict } from '../outcome.js';

/** The limits at which a run sends its rows. */
export interface Pacing {
  /** Maximum number of requests under way at once. */
  readonly concurrency: number;
  /** Maximum number of requests a second; `null`: unlimited. */
  readonly ratePerSecond: number | null;
  /**
   * Maximum number of attempts a row. An attempt that is throttled while other rows are served does not count, nor
   * one that does not reach the service while no other row does.
   */
  readonly attempts: number;
  /** Time-out of one attempt, in milliseconds. */
  readonly timeoutMs: number;
}

/** The limit grows after this time, in milliseconds, with that many answers, of which none is throttled. */
const windowMs = 100;
const windowAnswers = 8;

/** After a pause, at most the requests of this many milliseconds are sent at once. */
const burstMs = 50;

/** After this many consecutive attempts that did not reach the service, it counts as unreachable. */
const missesToPause = 5;
/** The longest pause between two attempts while the service is unreachable, in milliseconds. */
const maxProbePauseMs = 1_000;
/**
 * How long to wait for an unreachable service, in milliseconds. One that never answered probably has a wrong
 * address.
 */
const patienceMs = { before: 3_000, after: 30_000 } as const;

/** The state of the service by an attempt. */
interface Signal {
  readonly verdict: Verdict;
  /** The attempt did not reach the service: no connection, or an answer from something else. */
  readonly isLost: boolean;
  readonly startedAt: number;
  readonly retryAfterMs: number | undefined;
}

/**
 * Flow control: the configured rate and concurrency, or less if the service cannot handle it. The number of requests
 * under way starts low, doubles with each good window, halves when the service throttles, and then grows slowly. A
 * service that is slow gets fewer requests a second by itself. Times are in milliseconds.
 */
export class FlowControl {
  readonly #most: number;
  #limit: number;
  #hasSlowedDown = false;
  #windowStart = 0;
  #windowCount = 0;
  readonly #intervalMs: number;
  /** When the next request may be sent at the configured rate. */
  #nextAt = 0;
  #pausedUntil = 0;
  readonly #startedAt: number;
  #answeredAt: number | null = null;
  /** Number of attempts in succession that did not reach the service. */
  #misses = 0;
  /** Number of pauses in succession that followed throttled requests. */
  #throttles = 0;
  /** Number of pauses in succession that followed probes of a service that does not answer. */
  #probes = 0;
  readonly #random: () => number;

  /** `random` is from 0 to below 1. */
  constructor(
    { concurrency, ratePerSecond }: Pick<Pacing, 'concurrency' | 'ratePerSecond'>,
    now: number,
    random = Math.random,
  ) {
    this.#most = concurrency;
    this.#limit = Math.ceil(concurrency / 4);
    this.#intervalMs = ratePerSecond === null ? 0 : 1000 / ratePerSecond;
    this.#startedAt = now;
    this.#random = random;
  }

  /** Number of requests that may be under way now. */
  get limit(): number {
    return this.#limit;
  }

  /** When the pause ends that the service asked for, or that starts when it does not answer. */
  get pausedUntil(): number {
    return this.#pausedUntil;
  }

  /** Time for which the next request must wait; 0 if it need not. */
  waitMs(now: number): number {
    return Math.max(0, this.#pausedUntil - now, this.#intervalMs === 0 ? 0 : this.#nextAt - now);
  }

  onSend(now: number): void {
    this.#nextAt = Math.max(this.#nextAt, now - Math.max(this.#intervalMs, burstMs)) + this.#intervalMs;
  }

  onOutcome({ verdict, isLost, startedAt, retryAfterMs }: Signal, now: number): void {
    if (isLost) {
      this.#onMiss(startedAt, now);
      return;
    }
    this.#misses = 0;
    this.#answeredAt = now;
    if (verdict === 'throttled') {
      this.#onThrottle(startedAt, retryAfterMs, now);
      return;
    }
    this.#throttles = 0;
    this.#probes = 0;
    this.#windowCount += 1;
    if (now - this.#windowStart < windowMs) return;
    if (this.#windowCount < Math.min(windowAnswers, this.#limit)) return;
    const more = this.#hasSlowedDown ? Math.max(1, Math.floor(this.#limit / 8)) : this.#limit;
    this.#setLimit(this.#limit + more, now);
  }

  /** Whether the service was unreachable for so long that the run should stop. */
  isGivenUp(now: number): boolean {
    if (this.#misses < missesToPause) return false;
    const patience = this.#answeredAt === null ? patienceMs.before : patienceMs.after;
    return now - (this.#answeredAt ?? this.#startedAt) > patience;
  }

  #onThrottle(startedAt: number, retryAfterMs: number | undefined, now: number): void {
    // Requests that were under way together are throttled together, and count once.
    const isNew = startedAt >= this.#pausedUntil;
    // One that was sent before the last reduction reduces nothing.
    if (startedAt >= this.#windowStart) {
      this.#hasSlowedDown = true;
      this.#setLimit(Math.floor(this.#limit / 2), now);
    }
    if (retryAfterMs !== undefined) this.#pauseUntil(now + retryAfterMs);
    else if (isNew) this.#pauseUntil(now + backOffMs(this.#throttles++, this.#random));
  }

  #onMiss(startedAt: number, now: number): void {
    this.#misses += 1;
    if (this.#misses < missesToPause || startedAt < this.#pausedUntil) return;
    // It is probed with one request at a time.
    this.#hasSlowedDown = false;
    this.#setLimit(1, now);
    this.#pauseUntil(now + backOffMs(this.#probes++, this.#random, maxProbePauseMs));
  }

  #setLimit(limit: number, now: number): void {
    this.#limit = Math.min(this.#most, Math.max(1, limit));
    this.#windowStart = now;
    this.#windowCount = 0;
  }

  #pauseUntil(time: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, time);
  }
}
