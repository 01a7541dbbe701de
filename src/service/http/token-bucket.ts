/** Maximum number of buckets: while none of them is full again, further keys share one. */
const maxKept = 10_000;

/** The key of that bucket: no app and no address has it. */
const others = '';

/** A rate limit for each key, such as an app or an address. */
export class TokenBuckets {
  readonly #perSecond: number;
  readonly #now: () => number;
  /** In the order of their last use. */
  readonly #buckets = new Map<string, { readonly tokens: number; readonly filledAt: number }>();

  /**
   * After a quiet second, a burst of one second's tokens is allowed. `now` returns milliseconds of a monotonic clock.
   */
  constructor(perSecond: number, now: () => number) {
    this.#perSecond = perSecond;
    this.#now = now;
  }

  /** Takes a token of a key. Returns 0, or the number of whole seconds until the next one. */
  take(key: string): number {
    const kept = this.#buckets.has(key) || this.#hasRoom() ? key : others;
    const filled = this.#filled(kept);
    this.#buckets.delete(kept);
    this.#buckets.set(kept, { tokens: filled < 1 ? filled : filled - 1, filledAt: this.#now() });
    return filled < 1 ? Math.ceil((1 - filled) / this.#perSecond) : 0;
  }

  /** Forgets the least recently used bucket if it is full again. */
  #hasRoom(): boolean {
    if (this.#buckets.size < maxKept) return true;
    const oldest = this.#buckets.keys().next().value ?? others;
    return this.#filled(oldest) >= this.#capacity && this.#buckets.delete(oldest);
  }

  get #capacity(): number {
    return Math.max(1, this.#perSecond);
  }

  /** The tokens of a key now. */
  #filled(key: string): number {
    const bucket = this.#buckets.get(key);
    if (bucket === undefined) return this.#capacity;
    const seconds = (this.#now() - bucket.filledAt) / 1000;
    return Math.min(this.#capacity, bucket.tokens + seconds * this.#perSecond);
  }
}
