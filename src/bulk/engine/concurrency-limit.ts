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
