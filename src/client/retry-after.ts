/** What stands for any longer time, in milliseconds: the longest that a timer of Node can wait. */
const longest = 2 ** 31 - 1;

/** RFC 9110, 5.6.7: the one form of a date that is still written. */
const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * `Retry-After` in milliseconds from now; `undefined` where it is missing or makes no sense. A date is counted from
 * `date`, the answer's own, so that a clock that is off does no harm; else from `now`, milliseconds since 1970.
 */
export function parseRetryAfter(
  retryAfter: string | undefined,
  date: string | undefined,
  now: number,
): number | undefined {
  if (retryAfter === undefined) return undefined;
  if (/^\d+$/.test(retryAfter)) return Math.min(longest, Number(retryAfter) * 1000);
  const until = parseDate(retryAfter);
  if (until === undefined) return undefined;
  return Math.min(longest, Math.max(0, until - (parseDate(date) ?? now)));
}

function parseDate(text: string | undefined): number | undefined {
  const time = text !== undefined && httpDate.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}
