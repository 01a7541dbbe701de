import { setTimeout as wait } from 'node:timers/promises';

/** Waits for a promise, whether it resolves or rejects, at most so many milliseconds. */
export async function atMost(ms: number, promise: Promise<unknown>): Promise<void> {
  const ended = new AbortController();
  const timer = wait(Math.max(0, ms), undefined, { signal: ended.signal });
  await Promise.race([promise, timer]).catch(() => {});
  ended.abort();
  await timer.catch(() => {});
}
