// How long a call may take, how often it is made again, and how it is ended from outside.
import { setTimeout as sleep } from 'node:timers/promises';
import { type UserInfoClient, UserInfoError } from 'userinfo-exchange';

/**
 * For a person who waits: 2 seconds in all, 800 ms for one request. It shares the connections of
 * the first client.
 */
export const hurried = (client: UserInfoClient) =>
  client.withOptions({ timeoutMs: 2_000, attemptTimeoutMs: 800, attempts: 2 });

/** For a job that nobody waits for. */
export const patient = (client: UserInfoClient) =>
  client.withOptions({ timeoutMs: 120_000, attempts: 8 });

/**
 * A policy of your own over that of the client: the same call, as long as its error says that this
 * can help.
 */
export async function persist<T>(
  call: () => Promise<T>,
  pausesMs = [1_000, 10_000, 60_000],
): Promise<T> {
  for (const pauseMs of pausesMs) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof UserInfoError && error.retryable)) throw error;
      await sleep(pauseMs);
    }
  }
  return call();
}

/** Ends when the browser leaves (`request.signal` of Next.js), or after a second and a half. */
export function readFor(browser: AbortSignal, client: UserInfoClient, code: string) {
  return client.read({ code }, { signal: AbortSignal.any([browser, AbortSignal.timeout(1_500)]) });
}
