import { maxClockWindowSeconds } from '../../protocol/limits.js';

/**
 * Time for which the `random` of a request is kept, whatever the clock window of the process: the first request may
 * come when its timestamp is a whole window ahead, and its copy, at another process, until it is a whole window behind.
 */
export const nonceSeconds = 2 * maxClockWindowSeconds;

/** Lead of the wall clock over the monotonic one, in milliseconds. */
interface Offsets {
  least: number;
  most: number;
}

const newOffsets = (): Offsets => ({ least: Number.POSITIVE_INFINITY, most: Number.NEGATIVE_INFINITY });

let previous = newOffsets();
let current = newOffsets();
let changedAt = performance.now();

/**
 * The earliest and the latest time that it may be, in Unix seconds, by the clock of this process. A step of that clock
 * is believed once a random that was used before it would have expired: until then the time before the step goes on,
 * too.
 */
export function possibleTimes(): { readonly earliest: number; readonly latest: number } {
  const [now, steadyNow] = [Date.now(), performance.now()];
  if (steadyNow - changedAt > nonceSeconds * 1000) {
    [previous, current, changedAt] = [current, newOffsets(), steadyNow];
  }
  current.least = Math.min(current.least, now - steadyNow);
  current.most = Math.max(current.most, now - steadyNow);
  return {
    earliest: Math.floor((steadyNow + Math.min(previous.least, current.least)) / 1000),
    latest: Math.ceil((steadyNow + Math.max(previous.most, current.most)) / 1000),
  };
}

/** The time until which a random is kept, in SQL: by the clock of the database or `latest`, whichever is later. */
export function keptUntil(latest: string, seconds = `${nonceSeconds}`): string {
  return `CASE WHEN unixepoch() > ${latest} THEN unixepoch() ELSE ${latest} END + ${seconds}`;
}

/** The time before which all has expired, in SQL: by the clock of the database and by `earliest`. */
export function expiredBefore(earliest: string): string {
  return `CASE WHEN unixepoch() < ${earliest} THEN unixepoch() ELSE ${earliest} END`;
}
