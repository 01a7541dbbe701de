import { randomUUID } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Answer } from '../../../client/answer.js';
import type { CallClient } from '../../../client/client.js';
import { NoAnswerError, RejectedError } from '../../../client/errors.js';
import { readRequest } from '../../../client/request.js';

/** The one request of the doctor: what is known of its connection, and its answer or its error. */
export interface SentRequest {
  readonly connectMs?: number;
  readonly error?: NoAnswerError;
  readonly answered?: Answered;
}

export interface Answered {
  readonly answer: Answer;
  readonly refused: RejectedError | null;
  readonly tookMs: number;
  /** The lead of the service's clock over ours, in seconds; `null` if the answer has no `Date` header. */
  readonly aheadBy: number | null;
}

/**
 * Reads with a code that was never issued: nothing is written, and no code is consumed. undici reports the
 * connection; through a proxy, first that to the proxy.
 *
 * @throws CancelledError
 */
export async function sendRead(client: CallClient, signal: AbortSignal): Promise<SentRequest> {
  const sentAt = Date.now();
  const connection: { connectMs?: number } = {};
  const onConnected = () => {
    connection.connectMs = Date.now() - sentAt;
  };
  const answeredBy = (answer: Answer, refused: RejectedError | null): SentRequest => {
    const receivedAt = Date.now();
    // A `Date` header has whole seconds: half a second is missing on average.
    const theirs = Date.parse(answer.date ?? '') + 500;
    const aheadBy = Math.round((theirs - (sentAt + receivedAt) / 2) / 1000);
    const tookMs = receivedAt - sentAt;
    const answered = { answer, refused, tookMs, aheadBy: Number.isNaN(aheadBy) ? null : aheadBy };
    return { ...connection, answered };
  };
  subscribe('undici:client:connected', onConnected);
  try {
    const request = readRequest({ code: `userinfo-doctor-${randomUUID()}` });
    return answeredBy(await client.send(request, { signal }), null);
  } catch (error) {
    if (error instanceof RejectedError) return answeredBy(error.answer, error);
    if (error instanceof NoAnswerError) return { ...connection, error };
    throw error;
  } finally {
    unsubscribe('undici:client:connected', onConnected);
  }
}
