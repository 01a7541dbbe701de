/** Lets so many requests a second through, and as many at once after a quiet second. */
export class TokenBucket {
  readonly #perSecond: number;
  readonly #capacity: number;
  readonly #now: () => number;
  #tokens: number;
  #filledAt: number;

  /** `now` gives milliseconds since 1970. */
  constructor(perSecond: number, now: () => number) {
    this.#perSecond = perSecond;
    this.#capacity = Math.max(1, perSecond);
    this.#now = now;
    this.#tokens = this.#capacity;
    this.#filledAt = now();
  }

  /** Takes a token. Gives 0, or the whole seconds after which there is one again. */
  take(): number {
    const now = this.#now();
    // A clock that was set back must not take tokens away.
    const passed = Math.max(0, now - this.#filledAt) / 1000;
    this.#filledAt = now;
    this.#tokens = Math.min(this.#capacity, this.#tokens + passed * this.#perSecond);
    if (this.#tokens < 1) return Math.ceil((1 - this.#tokens) / this.#perSecond);
    this.#tokens -= 1;
    return 0;
  }
}
