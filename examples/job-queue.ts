// A job that writes, run by a queue such as BullMQ, pg-boss or SQS: what the error says decides
// whether it runs again.
import { UserInfoError } from 'userinfo-exchange';
import { client } from './client.js';

export interface Job {
  readonly unionId: string;
  readonly level: string;
}

/**
 * What the queue does with a job: drop it when it is done, run it again later, or put it aside for
 * a person.
 */
export type Verdict = 'done' | 'again' | 'aside';

export async function work({ unionId, level }: Job): Promise<Verdict> {
  try {
    await client().passback({ unionId, userInfo: { acme_level: level } });
    return 'done';
  } catch (error) {
    return error instanceof UserInfoError && error.retryable ? 'again' : 'aside';
  }
}
