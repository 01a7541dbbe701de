import type { CallClient } from '../client/call/call-client.js';
import { NoAnswerError, RejectedError } from '../client/call/errors.js';
import type { PlainRequest } from '../client/call/request.js';
import type { ResultCodeName } from '../core/contract/result-codes.js';

/** An answer of the platform to a request of the lab. */
export interface Reply {
  readonly httpStatus: number;
  /** `code` of the envelope; `null` if the answer is none. */
  readonly code: number | null;
  /** The meaning of the code to the profile; `undefined` if it is no known refusal. */
  readonly means: ResultCodeName | undefined;
}

/** Why no further request is sent. */
export type StopReason =
  | 'requests used up'
  | 'throttled'
  | 'other answer'
  | 'no envelope'
  | 'accepts any signature';

/** No further request is sent. */
export class StoppedAsking extends Error {
  readonly reason: StopReason;
  /** The answer that came instead; `null` if there was none, or the requests are used up. */
  readonly reply: Reply | null;

  constructor(reason: StopReason, reply: Reply | null = null) {
    super(reason);
    this.reason = reason;
    this.reply = reply;
  }
}

/** The answer to a request, or the error that says how it was refused or not answered. */
export type AnswerOrError = Awaited<ReturnType<CallClient['send']>> | RejectedError | NoAnswerError;

/**
 * Sends a request once. A refusal, too, shows something of the platform.
 *
 * @throws CancelledError, AbortError
 */
export async function sendOnce(
  client: CallClient,
  request: PlainRequest,
  signal: AbortSignal,
): Promise<AnswerOrError> {
  try {
    return await client.send(request, { signal, attempts: 1 });
  } catch (error) {
    if (error instanceof RejectedError || error instanceof NoAnswerError) return error;
    throw error;
  }
}
