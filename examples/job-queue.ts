// A job that writes, run by a queue such as BullMQ, pg-boss or SQS: what the error says decides whether it runs again.
import { NoAnswerError, RejectedError } from 'userinfo-cli';
import { client } from './client.js';

export interface Job {
  readonly unionId: string;
  readonly level: string;
}

/** What the queue does with a job: drop it when it is done, run it again later, or put it aside for a person. */
export type Verdict = 'done' | 'again' | 'aside';

export async function work({ unionId, level }: Job): Promise<Verdict> {
  try {
    await client.passback({ unionId, userInfo: { acme_level: level } });
    return 'done';
  } catch (error) {
    return canSucceedLater(error) ? 'again' : 'aside';
  }
}

/** A passback writes the same once more, so it is run again even if an earlier one may have arrived. */
function canSucceedLater(error: unknown): boolean {
  if (error instanceof NoAnswerError) return error.reason !== 'tls' && error.reason !== 'wrong-data';
  return error instanceof RejectedError && (error.resultCode === 42901 || error.resultCode >= 50000);
}
