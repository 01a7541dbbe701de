import type { Verdict } from '../outcome.js';
import type { Pacing } from './engine-options.js';

const firstMs = 100;
const longestMs = 5_000;

/** How long to hold everything back: longer with each time in a row, with jitter; milliseconds. */
export class BackOff {
  readonly #random: () => number;
  readonly #longestMs: number;
  #times = 0;

  constructor(random: () => number, longest = longestMs) {
    this.#random = random;
    this.#longestMs = longest;
  }

  next(): number {
    const limit = Math.min(this.#longestMs, firstMs * 2 ** this.#times);
    this.#times += 1;
    return limit * (0.5 + this.#random() / 2);
  }

  /** All is well again. */
  reset(): void {
    this.#times = 0;
  }
}

/** A window is judged when it is this old, in milliseconds, */
const windowMs = 100;
/** and has so many answers. */
const windowAnswers = 8;
/** Latency has climbed where the window's mean is so many times the usual, */
const climbFactor = 2;
/** and so much above it, in milliseconds: what is below that is our own queueing. */
const climbMs = 50;
/** In about this time a higher latency becomes the usual one, in milliseconds: a climb is seen until then. */
const usualUpMs = 30_000;
/** How much of the usual latency a window is that is below it. */
const usualDown = 0.3;
/** Latency alone brings the limit down to this part of the most: the service may just have become slower. */
const climbedPart = 1 / 8;

/**
 * How many requests may be under way at once. It begins low, doubles with each window that goes well, halves where
 * the service throttles, shrinks where its latency climbs, and creeps up again.
 */
export class ConcurrencyLimit {
  readonly #most: number;
  #current: number;
  #hasSlowedDown = false;
  /** Milliseconds; 0 while nothing is known. */
  #usualMs = 0;
  #windowStart = 0;
  #windowTotalMs = 0;
  #windowCount = 0;

  constructor(most: number) {
    this.#most = most;
    this.#current = Math.ceil(most / 4);
  }

  get current(): number {
    return this.#current;
  }

  /** `now` is in milliseconds. */
  onAnswer(latencyMs: number, now: number): void {
    this.#windowTotalMs += latencyMs;
    this.#windowCount += 1;
    if (now - this.#windowStart < windowMs) return;
    if (this.#windowCount < Math.min(windowAnswers, this.#current)) return;
    this.#judge(this.#windowTotalMs / this.#windowCount, now - this.#windowStart);
    this.#startWindow(now);
  }

  /** `startedAt` is when the request was sent that was throttled: one more from before the last cut says nothing new. */
  onThrottle(startedAt: number, now: number): void {
    if (startedAt < this.#windowStart) return;
    this.#slowDown(0.5);
    this.#startWindow(now);
  }

  /** Nobody answers there: one request at a time finds out when somebody does. */
  onUnreachable(now: number): void {
    this.#slowDown(0);
    this.#hasSlowedDown = false;
    this.#startWindow(now);
  }

  #judge(meanMs: number, ageMs: number): void {
    if (this.#usualMs === 0) this.#usualMs = meanMs;
    const usualMs = this.#usualMs;
    const hasClimbed = meanMs > usualMs * climbFactor && meanMs > usualMs + climbMs;
    if (!hasClimbed) this.#speedUp();
    else if (this.#current > this.#most * climbedPart) {
      this.#slowDown(Math.max(0.5, (usualMs * climbFactor) / meanMs));
    }
    const weight = meanMs < usualMs ? usualDown : Math.min(1, ageMs / usualUpMs);
    this.#usualMs += (meanMs - usualMs) * weight;
  }

  #speedUp(): void {
    const more = this.#hasSlowedDown ? Math.max(1, Math.floor(this.#current / 8)) : this.#current;
    this.#current = Math.min(this.#most, this.#current + more);
  }

  #slowDown(factor: number): void {
    this.#current = Math.max(1, Math.floor(this.#current * factor));
    this.#hasSlowedDown = true;
  }

  #startWindow(now: number): void {
    this.#windowStart = now;
    this.#windowTotalMs = 0;
    this.#windowCount = 0;
  }
}

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
interface Signal {
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
