import { backOffMs } from '../../core/support/back-off.js';
import type { Verdict } from './outcome.js';

/** The limits at which a run sends its rows. */
export interface Pacing {
  /** Maximum number of requests under way at once. */
  readonly concurrency: number;
  /** Maximum number of requests a second; `null`: unlimited. */
  readonly ratePerSecond: number | null;
  /**
   * Maximum number of attempts a row. An attempt that is throttled while other rows are served does
   * not count, nor one that does not reach the service while no other row does.
   */
  readonly attempts: number;
  /** Time-out of one attempt, in milliseconds. */
  readonly timeoutMs: number;
}

/**
 * The limit grows after this time, in milliseconds, with that many answers, of which none is
 * throttled.
 */
const windowMs = 100;
const windowAnswers = 8;

/** After a pause, at most the requests of this many milliseconds are sent at once. */
const burstMs = 50;

/**
 * After this many consecutive attempts that did not reach the service, it counts as unreachable.
 */
const missesToPause = 5;
/** The longest pause between two attempts while the service is unreachable, in milliseconds. */
const maxProbePauseMs = 1_000;
/**
 * How long to wait for an unreachable service, in milliseconds, before and after its first answer:
 * one that never answered probably has a wrong address.
 */
const patienceMs = { before: 3_000, after: 30_000 } as const;

/** What one attempt shows about the service. Times are of one clock, in milliseconds. */
export interface AttemptReport {
  readonly verdict: Verdict;
  /** The attempt did not reach the service: no connection, or an answer from something else. */
  readonly isMiss: boolean;
  /** When the attempt began. */
  readonly startedAt: number;
  /** The pause that the service asked for, in milliseconds. */
  readonly retryAfterMs: number | undefined;
}

/**
 * Flow control: the configured rate and concurrency, or less if the service cannot handle it. The
 * number of requests under way starts low, doubles with each good window, halves when the service
 * throttles, and then grows slowly. A service that is slow gets fewer requests a second by itself.
 * Times are of one clock, in milliseconds.
 */
export class FlowControl {
  readonly #concurrency: number;
  /** The pause between two requests at the configured rate, in milliseconds; 0 without one. */
  readonly #intervalMs: number;
  readonly #begunAt: number;
  readonly #random: () => number;
  #limit: number;
  #hasSlowedDown = false;
  #windowStart = 0;
  #windowCount = 0;
  /** When the next request may be sent at the configured rate. */
  #nextAt = 0;
  #pausedUntil = 0;
  #answeredAt: number | null = null;
  /** Number of attempts in succession that did not reach the service. */
  #misses = 0;
  /** Number of pauses in succession that followed throttled requests. */
  #throttles = 0;
  /** Number of pauses in succession that followed probes of a service that does not answer. */
  #probes = 0;

  /** `begunAt` is when the run begins; `random` returns a number from 0 to below 1. */
  constructor(
    { concurrency, ratePerSecond }: Pick<Pacing, 'concurrency' | 'ratePerSecond'>,
    begunAt: number,
    random = Math.random,
  ) {
    this.#concurrency = concurrency;
    this.#intervalMs = ratePerSecond === null ? 0 : 1000 / ratePerSecond;
    this.#begunAt = begunAt;
    this.#random = random;
    this.#limit = Math.ceil(concurrency / 4);
  }

  /** Number of requests that may be under way now. */
  get limit(): number {
    return this.#limit;
  }

  /** When the pause ends that the service asked for, or that starts when it does not answer. */
  get pausedUntil(): number {
    return this.#pausedUntil;
  }

  /**
   * Time for which the next request must wait, in milliseconds; 0 if it need not. `now` is a time of
   * the clock of `begunAt`, in milliseconds.
   */
  waitMs(now: number): number {
    const untilNext = this.#intervalMs === 0 ? 0 : this.#nextAt - now;
    return Math.max(0, this.#pausedUntil - now, untilNext);
  }

  /** A request is sent now; `now` as in `waitMs`. */
  onSend(now: number): void {
    const earliest = now - Math.max(this.#intervalMs, burstMs);
    this.#nextAt = Math.max(this.#nextAt, earliest) + this.#intervalMs;
  }

  /** An attempt ended; `now` as in `waitMs`. */
  onOutcome({ verdict, isMiss, startedAt, retryAfterMs }: AttemptReport, now: number): void {
    if (isMiss) {
      this.#onMiss(startedAt, now);
      return;
    }
    this.#misses = 0;
    this.#answeredAt = now;
    if (verdict === 'throttled') this.#onThrottle(startedAt, retryAfterMs, now);
    else this.#onAnswer(now);
  }

  /** Whether the service was unreachable for so long that the run should stop. */
  isGivenUp(now: number): boolean {
    if (this.#misses < missesToPause) return false;
    const answeredAt = this.#answeredAt;
    if (answeredAt === null) return now - this.#begunAt > patienceMs.before;
    return now - answeredAt > patienceMs.after;
  }

  #onAnswer(now: number): void {
    this.#throttles = 0;
    this.#probes = 0;
    this.#windowCount += 1;
    if (now - this.#windowStart < windowMs) return;
    if (this.#windowCount < Math.min(windowAnswers, this.#limit)) return;
    const slowGrowth = Math.max(1, Math.floor(this.#limit / 8));
    this.#setLimit(this.#limit + (this.#hasSlowedDown ? slowGrowth : this.#limit), now);
  }

  #onThrottle(startedAt: number, retryAfterMs: number | undefined, now: number): void {
    // Requests that were under way together are throttled together, and count once.
    const isNew = startedAt >= this.#pausedUntil;
    // One that was sent before the last reduction reduces nothing.
    if (startedAt >= this.#windowStart) {
      this.#hasSlowedDown = true;
      this.#setLimit(Math.floor(this.#limit / 2), now);
    }
    if (retryAfterMs !== undefined) {
      this.#pauseUntil(now + retryAfterMs);
    } else if (isNew) {
      this.#pauseUntil(now + backOffMs(this.#throttles, this.#random));
      this.#throttles += 1;
    }
  }

  #onMiss(startedAt: number, now: number): void {
    this.#misses += 1;
    if (this.#misses < missesToPause || startedAt < this.#pausedUntil) return;
    // It is probed with one request at a time.
    this.#hasSlowedDown = false;
    this.#setLimit(1, now);
    this.#pauseUntil(now + backOffMs(this.#probes, this.#random, maxProbePauseMs));
    this.#probes += 1;
  }

  #setLimit(wanted: number, now: number): void {
    this.#limit = Math.min(this.#concurrency, Math.max(1, wanted));
    this.#windowStart = now;
    this.#windowCount = 0;
  }

  #pauseUntil(time: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, time);
  }
}
