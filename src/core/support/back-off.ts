const firstPauseMs = 100;
const maxPauseMs = 5_000;

/**
 * Exponential back-off with jitter: the pause, in milliseconds, after `before` pauses in
 * succession. It is a random time between 50 % and 100 % of 100 ms × 2^before, but of `maxMs` at
 * most. `random` returns a number from 0 to below 1.
 */
export function backOffMs(before: number, random: () => number, maxMs = maxPauseMs): number {
  return Math.min(maxMs, firstPauseMs * 2 ** before) * (0.5 + random() / 2);
}
