/** A rate limit; after a quiet second, a burst of one second's requests is allowed. */
export class TokenBucket {
  readonly #perSecond: number;
  readonly #capacity: number;
  readonly #now: () => number;
  #tokens: number;
  #filledAt: number;

  /** `now` returns milliseconds of a monotonic clock. */
  constructor(perSecond: number, now: () => number) {
    this.#perSecond = perSecond;
    this.#capacity = Math.max(1, perSecond);
    this.#now = now;
    this.#tokens = this.#capacity;
    this.#filledAt = now();
  }

  /** Takes a token. Returns 0, or the number of whole seconds until the next one. */
  take(): number {
    const now = this.#now();
    const passed = (now - this.#filledAt) / 1000;
    this.#filledAt = now;
    this.#tokens = Math.min(this.#capacity, this.#tokens + passed * this.#perSecond);
    if (this.#tokens < 1) return Math.ceil((1 - this.#tokens) / this.#perSecond);
    this.#tokens -= 1;
    return 0;
  }
}

/** Maximum number of buckets: over it, the least recently used one is full again. */
const maxKept = 10_000;

/** One bucket for each key, such as an app or an address. */
export class TokenBuckets {
  readonly #perSecond: number;
  readonly #now: () => number;
  /** In the order of their last use. */
  readonly #buckets = new Map<string, TokenBucket>();

  /** `now` returns milliseconds of a monotonic clock. */
  constructor(perSecond: number, now: () => number) {
    this.#perSecond = perSecond;
    this.#now = now;
  }

  /** Takes a token of a key. Returns 0, or the number of whole seconds until the next one. */
  take(key: string): number {
    const bucket = this.#buckets.get(key) ?? new TokenBucket(this.#perSecond, this.#now);
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (this.#buckets.size > maxKept) {
      for (const oldest of this.#buckets.keys()) {
        this.#buckets.delete(oldest);
        break;
      }
    }
    return bucket.take();
  }
}
