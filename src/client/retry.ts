import type { Envelope } from '../protocol/envelope.js';
import { describeResultCode, resultCode } from '../protocol/result-codes.js';
import type { Answer } from './answer.js';
import { NoAnswerError } from './errors.js';

/** What one attempt came to: an answer that is an envelope, or none. */
export type AttemptOutcome = Answer<Envelope> | NoAnswerError;

const firstPauseMs = 100;
const longestPauseMs = 5_000;

/**
 * Whether a request may be sent again. A read uses up its code, so only where the service has certainly not acted on
 * it; a passback writes the same once more, so also where that is not known, and after a fault of the service.
 */
export function mayRetry(operation: 'read' | 'passback', outcome: AttemptOutcome): boolean {
  if (!(outcome instanceof NoAnswerError) && outcome.envelope.code === resultCode.ok) return false;
  if (!mayHaveActed(outcome)) return !(outcome instanceof NoAnswerError && outcome.reason === 'tls');
  if (operation === 'read') return false;
  if (outcome instanceof NoAnswerError && outcome.reason === 'wrong-data') return false;
  if (!(outcome instanceof NoAnswerError)) return isFaultOfService(outcome);
  return outcome.reason !== 'not-envelope' || (outcome.httpStatus ?? 0) >= 500;
}

/** Whether the service may have acted on the request: it is neither known not to have arrived nor turned away unread. */
export function mayHaveActed(outcome: AttemptOutcome): boolean {
  if (isThrottled(outcome)) return false;
  if (outcome instanceof NoAnswerError) return outcome.received;
  return describeResultCode(outcome.envelope.code)?.again !== 'any';
}

/** Whether the request was turned away because there were too many, by the service or by what stands before it. */
export function isThrottled(outcome: AttemptOutcome): boolean {
  if (outcome.httpStatus === 429) return true;
  return !(outcome instanceof NoAnswerError) && outcome.envelope.code === resultCode.tooManyRequests;
}

/** Whether an envelope tells of a fault of the service's own. */
export function isFaultOfService({ envelope, httpStatus }: Answer<Envelope>): boolean {
  return httpStatus >= 500 || describeResultCode(envelope.code)?.again === 'passback';
}

/** How long to wait before attempt number `next` (2 and up): what the service asked for, else back-off with jitter. */
export function pauseBefore(next: number, retryAfterMs: number | undefined, random: () => number): number {
  return retryAfterMs ?? random() * Math.min(longestPauseMs, firstPauseMs * 2 ** (next - 1));
}

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
