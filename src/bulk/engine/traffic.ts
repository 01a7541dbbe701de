import { BackOff } from './back-off.js';
import { ConcurrencyLimit } from './concurrency-limit.js';
import type { Pacing } from './engine-options.js';
import type { Verdict } from './judge.js';

/** After a pause, no more than this many seconds' worth of requests is sent at once. */
const burstSeconds = 0.05;

/** When the next request may be sent: at `ratePerSecond`, and not during a pause. Times are in milliseconds. */
class Pace {
  readonly #intervalMs: number;
  readonly #burstMs: number;
  #nextAt = 0;
  #pausedUntil = 0;

  /** `null`: no rate. */
  constructor(ratePerSecond: number | null) {
    this.#intervalMs = ratePerSecond === null ? 0 : 1000 / ratePerSecond;
    this.#burstMs = Math.max(this.#intervalMs, burstSeconds * 1000);
  }

  /** How long the next request has to wait; 0 if it need not. */
  waitMs(now: number): number {
    return Math.max(0, this.#pausedUntil - now, this.#intervalMs === 0 ? 0 : this.#nextAt - now);
  }

  /** The end of the last pause. */
  get pausedUntil(): number {
    return this.#pausedUntil;
  }

  /** A request is sent. */
  take(now: number): void {
    this.#nextAt = Math.max(this.#nextAt, now - this.#burstMs) + this.#intervalMs;
  }

  pauseUntil(time: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, time);
  }
}

/** After so many attempts in a row that did not reach the service, it is taken for lost. */
const missesToPause = 5;
/** How long the service may stay lost, in milliseconds: if it never answered, the address is probably wrong. */
const patienceMs = { before: 3_000, after: 30_000 } as const;

/** Whether the service can be reached. Times are in milliseconds. */
class Reachability {
  #misses = 0;
  #answeredAt: number | null = null;
  readonly #startedAt: number;

  constructor(now: number) {
    this.#startedAt = now;
  }

  onAnswer(now: number): void {
    this.#misses = 0;
    this.#answeredAt = now;
  }

  /** An attempt got no connection, or an answer from something else. */
  onMiss(): void {
    this.#misses += 1;
  }

  get isLost(): boolean {
    return this.#misses >= missesToPause;
  }

  /** Whether the service has been lost for so long that the run should stop. */
  isGivenUp(now: number): boolean {
    if (!this.isLost) return false;
    const patience = this.#answeredAt === null ? patienceMs.before : patienceMs.after;
    return now - (this.#answeredAt ?? this.#startedAt) > patience;
  }
}

/** What an attempt says about the service. Times are in milliseconds. */
export interface Signal {
  readonly verdict: Verdict;
  /** The attempt did not reach the service. */
  readonly isLost: boolean;
  readonly startedAt: number;
  readonly retryAfterMs: number | undefined;
}

/** The longest pause between two attempts while the service is lost, in milliseconds. */
const longestProbePauseMs = 1_000;

/** How much is sent, and when: the rate and concurrency asked for, or less if the service cannot take it. */
export class Traffic {
  readonly #pace: Pace;
  readonly #limit: ConcurrencyLimit;
  readonly #reachability: Reachability;
  readonly #throttle: BackOff;
  readonly #probe: BackOff;

  constructor({
    concurrency,
    ratePerSecond,
    now,
    random,
  }: Pacing & { readonly now: () => number; readonly random: () => number }) {
    this.#pace = new Pace(ratePerSecond);
    this.#limit = new ConcurrencyLimit(concurrency);
    this.#reachability = new Reachability(now());
    this.#throttle = new BackOff(random);
    this.#probe = new BackOff(random, longestProbePauseMs);
  }

  /** How many requests may be under way at present. */
  get limit(): number {
    return this.#limit.current;
  }

  /** The end of the pause that the service asked for, or that its silence calls for. */
  get pausedUntil(): number {
    return this.#pace.pausedUntil;
  }

  /** How long the next request has to wait. */
  waitMs(now: number): number {
    return this.#pace.waitMs(now);
  }

  onSend(now: number): void {
    this.#pace.take(now);
  }

  onOutcome({ verdict, isLost, startedAt, retryAfterMs }: Signal, now: number): void {
    if (isLost) {
      this.#onMiss(startedAt, now);
      return;
    }
    this.#reachability.onAnswer(now);
    if (verdict === 'throttled') {
      this.#onThrottle(startedAt, retryAfterMs, now);
      return;
    }
    this.#throttle.reset();
    this.#probe.reset();
    this.#limit.onAnswer(now - startedAt, now);
  }

  /** Whether the service has been lost for too long. */
  isGivenUp(now: number): boolean {
    return this.#reachability.isGivenUp(now);
  }

  #onThrottle(startedAt: number, retryAfterMs: number | undefined, now: number): void {
    // Requests that were under way together are throttled together, which counts once.
    const isNew = startedAt >= this.#pace.pausedUntil;
    this.#limit.onThrottle(startedAt, now);
    if (retryAfterMs !== undefined) this.#pace.pauseUntil(now + retryAfterMs);
    else if (isNew) this.#pace.pauseUntil(now + this.#throttle.next());
  }

  #onMiss(startedAt: number, now: number): void {
    this.#reachability.onMiss();
    if (!this.#reachability.isLost || startedAt < this.#pace.pausedUntil) return;
    this.#limit.onUnreachable(now);
    this.#pace.pauseUntil(now + this.#probe.next());
  }
}
