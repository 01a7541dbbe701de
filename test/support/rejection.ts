import type { NoAnswerError, UserInfoError } from '../../src/index.js';

/** What a promise that must reject rejects with. */
export async function rejection<E extends Error = UserInfoError & Pick<NoAnswerError, 'requestId'>>(
  promise: Promise<unknown>,
): Promise<E> {
  const outcome = await promise.then(
    () => null,
    (error: unknown) => error,
  );
  if (outcome instanceof Error) return outcome as E;
  throw new Error('it was to fail, and did not');
}
