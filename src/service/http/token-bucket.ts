/** Maximum number of buckets: while none of them is full again, further keys share one. */
const maxKept = 10_000;

/** The key of that bucket: no app and no address has it. */
const others = '';

/**
 * A rate limit for each key, such as an app or an address: after a quiet second, a burst of one
 * second's tokens is allowed. `now` returns milliseconds of a monotonic clock.
 *
 * @returns what takes a token of a key, and returns 0, or the number of whole seconds until the
 * next one
 */
export function limitRate(perSecond: number, now: () => number): (key: string) => number {
  const capacity = Math.max(1, perSecond);
  /** In the order of their last use. */
  const buckets = new Map<string, { readonly tokens: number; readonly filledAt: number }>();
  /** The tokens of a key now. */
  const tokensOf = (key: string) => {
    const bucket = buckets.get(key);
    if (bucket === undefined) return capacity;
    return Math.min(capacity, bucket.tokens + ((now() - bucket.filledAt) / 1000) * perSecond);
  };
  /** Forgets the least recently used bucket if it is full again. */
  const hasRoom = () => {
    if (buckets.size < maxKept) return true;
    const oldest = buckets.keys().next().value ?? others;
    return tokensOf(oldest) >= capacity && buckets.delete(oldest);
  };
  return (key) => {
    const kept = buckets.has(key) || hasRoom() ? key : others;
    const tokens = tokensOf(kept);
    buckets.delete(kept);
    buckets.set(kept, { tokens: tokens < 1 ? tokens : tokens - 1, filledAt: now() });
    return tokens < 1 ? Math.ceil((1 - tokens) / perSecond) : 0;
  };
}
