import type { Endpoint } from '../../core/contract/endpoints.js';
import { maxTimerMs } from '../../core/contract/limits.js';
import { backOffMs } from '../../core/support/back-off.js';
import { type Answer, type AnswerHeaders, headerOf } from './answer.js';
import { NoAnswerError, RejectedError } from './errors.js';

/** The outcome of one attempt: a success, a refusal, or why there is no envelope. */
export type AttemptOutcome = Answer | RejectedError | NoAnswerError;

/**
 * Whether a request may be sent again. A read, which uses up its code, only if the service has
 * certainly not acted on it; a repeatable one also if that is unknown, and after a server error.
 */
export function mayRetry(
  { repeatable }: Pick<Endpoint, 'repeatable'>,
  outcome: AttemptOutcome,
): boolean {
  if (isSuccess(outcome)) return false;
  if (!mayHaveActed(outcome)) return !concernsEveryRequest(outcome);
  if (!repeatable) return false;
  if (outcome instanceof RejectedError) return isFaultOfService(outcome);
  if (outcome.reason === 'wrong-data') return false;
  return outcome.reason !== 'not-envelope' || (outcome.httpStatus ?? 0) >= 500;
}

/**
 * Whether every other request would fail in the same way: the runtime has no sockets, a certificate
 * is not trusted, or a proxy refuses its password, which must not be sent often.
 */
export function concernsEveryRequest(outcome: AttemptOutcome): boolean {
  if (!(outcome instanceof NoAnswerError)) return false;
  if (outcome.reason === 'runtime') return true;
  return outcome.reason === 'tls' || (outcome.reason === 'proxy' && outcome.httpStatus === 407);
}

/** Whether the service carried the request out. */
export function isSuccess(outcome: AttemptOutcome): outcome is Answer {
  return 'envelope' in outcome;
}

/**
 * Whether the service may have acted on the request: it may have arrived, and was not turned away
 * unread.
 */
export function mayHaveActed(outcome: AttemptOutcome): boolean {
  if (isSuccess(outcome)) return true;
  if (isThrottled(outcome)) return false;
  if (outcome instanceof NoAnswerError) return outcome.received;
  return outcome.entry?.retry !== 'always';
}

/** Whether the service refused the signature of the secret. */
export function refusesSignature(outcome: AttemptOutcome): boolean {
  if (!(outcome instanceof RejectedError)) return false;
  return outcome.means === 'wrongAppSign' || outcome.means === 'wrongSign';
}

/**
 * Whether the request was refused because there were too many, by the service or by a proxy before
 * it.
 */
export function isThrottled(outcome: RejectedError | NoAnswerError): boolean {
  if (outcome.httpStatus === 429) return true;
  return outcome instanceof RejectedError && outcome.entry?.retry === 'later';
}

/** Whether another request of this caller, as it is, would be refused like this one. */
export function refusesCaller(outcome: AttemptOutcome): boolean {
  if (isSuccess(outcome)) return false;
  const { httpStatus } = outcome;
  if (outcome instanceof RejectedError && outcome.entry !== undefined)
    return outcome.entry.refuses === 'caller';
  return (httpStatus === 401 || httpStatus === 403) && !concernsEveryRequest(outcome);
}

/** Whether an envelope reports a server error. */
function isFaultOfService(refusal: RejectedError): boolean {
  return refusal.httpStatus >= 500 || refusal.entry?.retry === 'repeatable';
}

/** Said where the last attempt was not carried out, and an earlier one may have been. */
const earlierDoubt = 'Whether an earlier attempt was carried out is not known.';

/**
 * Judges the failure that ends a call or a row: `failed` if the request was certainly not carried
 * out, `unknown` if it may have been, and then the hint of the failure says so. `actedBefore`: the
 * service may have acted on an earlier attempt.
 */
export function judge(
  failure: RejectedError | NoAnswerError,
  { doubt }: Pick<Endpoint, 'doubt'>,
  actedBefore: boolean,
): 'failed' | 'unknown' {
  if (!mayHaveActed(failure)) {
    if (!actedBefore) return 'failed';
    failure.addDoubt(earlierDoubt);
    return 'unknown';
  }
  if (failure instanceof RejectedError) {
    if (!isFaultOfService(failure)) return 'failed';
    failure.addDoubt(doubt);
  }
  return 'unknown';
}

/**
 * Pause before attempt number `next` (2 and up), in milliseconds: as the service requested,
 * otherwise back-off.
 */
export function pauseBefore(next: number, retryAfterMs: number | undefined): number {
  return retryAfterMs ?? backOffMs(next - 2, Math.random);
}

/** RFC 9110, 5.6.7: the only form of a date that servers may send. */
const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * Parses `Retry-After` into milliseconds from now; `undefined` if it is missing or invalid. A date
 * is relative to the answer's own `Date`, so that a wrong local clock does no harm; without it, to
 * `now`, milliseconds since 1970.
 */
export function parseRetryAfter(headers: AnswerHeaders, now: number): number | undefined {
  const retryAfter = headerOf(headers, 'retry-after');
  if (retryAfter === undefined) return undefined;
  if (/^\d+$/.test(retryAfter)) return Math.min(maxTimerMs, Number(retryAfter) * 1000);
  const until = parseDate(retryAfter);
  if (until === undefined) return undefined;
  return Math.min(maxTimerMs, Math.max(0, until - (parseDate(headerOf(headers, 'date')) ?? now)));
}

function parseDate(text: string | undefined): number | undefined {
  if (text === undefined || !httpDate.test(text)) return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}
