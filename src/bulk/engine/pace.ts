/** After a pause, no more than this many seconds' worth is sent at once. */
const burstSeconds = 0.05;

/** When the next request may be sent: `ratePerSecond` apart, and not before a pause is over. Times are milliseconds. */
export class Pace {
  readonly #intervalMs: number;
  readonly #burstMs: number;
  #nextAt = 0;
  #pausedUntil = 0;

  /** `null` sets no rate. */
  constructor(ratePerSecond: number | null) {
    this.#intervalMs = ratePerSecond === null ? 0 : 1000 / ratePerSecond;
    this.#burstMs = Math.max(this.#intervalMs, burstSeconds * 1000);
  }

  /** How long the next request has to wait; 0 lets it go. */
  waitMs(now: number): number {
    return Math.max(0, this.#pausedUntil - now, this.#intervalMs === 0 ? 0 : this.#nextAt - now);
  }

  /** Until when nothing is sent; in the past where something is. */
  get pausedUntil(): number {
    return this.#pausedUntil;
  }

  /** A request is sent. */
  take(now: number): void {
    this.#nextAt = Math.max(this.#nextAt, now - this.#burstMs) + this.#intervalMs;
  }

  /** Holds everything back. */
  pauseUntil(time: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, time);
  }
}
