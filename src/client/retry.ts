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
