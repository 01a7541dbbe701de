import { BackOff } from './back-off.js';
import { ConcurrencyLimit } from './concurrency-limit.js';
import type { Pacing } from './engine-options.js';
import type { Verdict } from './judge.js';
import { Pace } from './pace.js';
import { Reachability } from './reachability.js';

/** What an attempt told about the service. Times are in milliseconds. */
export interface Signal {
  readonly verdict: Verdict;
  /** Nobody answered, or a stranger. */
  readonly isLost: boolean;
  readonly startedAt: number;
  readonly retryAfterMs: number | undefined;
}

/** While nobody answers, it is tried this often at least, in milliseconds. */
const longestProbePauseMs = 1_000;

/** How much is sent, and when: the rate that was asked for, less where the service cannot take it. */
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

  /** How many requests may be under way at once, now. */
  get limit(): number {
    return this.#limit.current;
  }

  /** Until when nothing is sent because the service asked for it, or does not answer. */
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

  /** Whether nobody has answered for too long. */
  isGivenUp(now: number): boolean {
    return this.#reachability.isGivenUp(now);
  }

  #onThrottle(startedAt: number, retryAfterMs: number | undefined, now: number): void {
    // Those that were under way together are throttled together: that is one refusal.
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
