/** Maximum number of buckets: over it, the least recently used one is full again. */
const maxKept = 10_000;

/** A rate limit for each key, such as an app or an address. */
export class TokenBuckets {
  readonly #perSecond: number;
  readonly #now: () => number;
  /** In the order of their last use. */
  readonly #buckets = new Map<string, { readonly tokens: number; readonly filledAt: number }>();

  /** After a quiet second, a burst of one second's tokens is allowed. `now` returns milliseconds of a monotonic clock. */
  constructor(perSecond: number, now: () => number) {
    this.#perSecond = perSecond;
    this.#now = now;
  }

  /** Takes a token of a key. Returns 0, or the number of whole seconds until the next one. */
  take(key: string): number {
    const capacity = Math.max(1, this.#perSecond);
    const now = this.#now();
    const { tokens, filledAt } = this.#buckets.get(key) ?? { tokens: capacity, filledAt: now };
    const filled = Math.min(capacity, tokens + ((now - filledAt) / 1000) * this.#perSecond);
    this.#buckets.delete(key);
    this.#buckets.set(key, { tokens: filled < 1 ? filled : filled - 1, filledAt: now });
    if (this.#buckets.size > maxKept) this.#buckets.delete(this.#buckets.keys().next().value ?? '');
    return filled < 1 ? Math.ceil((1 - filled) / this.#perSecond) : 0;
  }
}
