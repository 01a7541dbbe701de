import { backOffMs } from '../../core/support/back-off.js';
import type { Verdict } from './outcome.js';

/** The limits at which a run sends its rows. */
export interface Pacing {
  /** Maximum number of requests under way at once. */
  readonly concurrency: number;
  /** Maximum number of requests a second; `null`: unlimited. */
  readonly ratePerSecond: number | null;
  /**
   * Maximum number of attempts a row. An attempt that is throttled while other rows are served does
   * not count, nor one that does not reach the service while no other row does.
   */
  readonly attempts: number;
  /** Time-out of one attempt, in milliseconds. */
  readonly timeoutMs: number;
}

/**
 * The limit grows after this time, in milliseconds, with that many answers, of which none is
 * throttled.
 */
const windowMs = 100;
const windowAnswers = 8;

/** After a pause, at most the requests of this many milliseconds are sent at once. */
const burstMs = 50;

/**
 * After this many consecutive attempts that did not reach the service, it counts as unreachable.
 */
const missesToPause = 5;
/** The longest pause between two attempts while the service is unreachable, in milliseconds. */
const maxProbePauseMs = 1_000;
/**
 * How long to wait for an unreachable service, in milliseconds. One that never answered probably
 * has a wrong address.
 */
const patienceMs = { before: 3_000, after: 30_000 } as const;

/** The state of the service by an attempt. */
export interface Signal {
  readonly verdict: Verdict;
  /** The attempt did not reach the service: no connection, or an answer from something else. */
  readonly isLost: boolean;
  readonly startedAt: number;
  readonly retryAfterMs: number | undefined;
}

/**
 * Flow control: the configured rate and concurrency, or less if the service cannot handle it. The
 * number of requests under way starts low, doubles with each good window, halves when the service
 * throttles, and then grows slowly. A service that is slow gets fewer requests a second by itself.
 * Times are in milliseconds; `random` is from 0 to below 1.
 */
export function flowControl(
  { concurrency, ratePerSecond }: Pick<Pacing, 'concurrency' | 'ratePerSecond'>,
  begunAt: number,
  random = Math.random,
) {
  let limit = Math.ceil(concurrency / 4);
  let hasSlowedDown = false;
  let windowStart = 0;
  let windowCount = 0;
  const intervalMs = ratePerSecond === null ? 0 : 1000 / ratePerSecond;
  /** When the next request may be sent at the configured rate. */
  let nextAt = 0;
  let pausedUntil = 0;
  let answeredAt: number | null = null;
  /** Number of attempts in succession that did not reach the service. */
  let misses = 0;
  /** Number of pauses in succession that followed throttled requests. */
  let throttles = 0;
  /** Number of pauses in succession that followed probes of a service that does not answer. */
  let probes = 0;

  function onThrottle(startedAt: number, retryAfterMs: number | undefined, now: number): void {
    // Requests that were under way together are throttled together, and count once.
    const isNew = startedAt >= pausedUntil;
    // One that was sent before the last reduction reduces nothing.
    if (startedAt >= windowStart) {
      hasSlowedDown = true;
      setLimit(Math.floor(limit / 2), now);
    }
    if (retryAfterMs !== undefined) pauseUntil(now + retryAfterMs);
    else if (isNew) pauseUntil(now + backOffMs(throttles++, random));
  }

  function onMiss(startedAt: number, now: number): void {
    misses += 1;
    if (misses < missesToPause || startedAt < pausedUntil) return;
    // It is probed with one request at a time.
    hasSlowedDown = false;
    setLimit(1, now);
    pauseUntil(now + backOffMs(probes++, random, maxProbePauseMs));
  }

  function setLimit(wanted: number, now: number): void {
    limit = Math.min(concurrency, Math.max(1, wanted));
    windowStart = now;
    windowCount = 0;
  }

  function pauseUntil(time: number): void {
    pausedUntil = Math.max(pausedUntil, time);
  }

  return {
    /** Number of requests that may be under way now. */
    limit: () => limit,
    /** When the pause ends that the service asked for, or that starts when it does not answer. */
    pausedUntil: () => pausedUntil,
    /** Time for which the next request must wait; 0 if it need not. */
    waitMs(now: number): number {
      return Math.max(0, pausedUntil - now, intervalMs === 0 ? 0 : nextAt - now);
    },
    onSend(now: number): void {
      nextAt = Math.max(nextAt, now - Math.max(intervalMs, burstMs)) + intervalMs;
    },
    onOutcome({ verdict, isLost, startedAt, retryAfterMs }: Signal, now: number) {
      if (isLost) return onMiss(startedAt, now);
      misses = 0;
      answeredAt = now;
      if (verdict === 'throttled') return onThrottle(startedAt, retryAfterMs, now);
      throttles = 0;
      probes = 0;
      windowCount += 1;
      if (now - windowStart < windowMs) return;
      if (windowCount < Math.min(windowAnswers, limit)) return;
      const more = hasSlowedDown ? Math.max(1, Math.floor(limit / 8)) : limit;
      setLimit(limit + more, now);
    },
    /** Whether the service was unreachable for so long that the run should stop. */
    isGivenUp(now: number): boolean {
      if (misses < missesToPause) return false;
      const patience = answeredAt === null ? patienceMs.before : patienceMs.after;
      return now - (answeredAt ?? begunAt) > patience;
    },
  };
}

export type FlowControl = ReturnType<typeof flowControl>;
