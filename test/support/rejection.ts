/** What a promise that must reject rejects with. */
export async function rejection<
  E extends Error = Error & {
    code?: string;
    hint?: string;
    commands?: readonly string[];
    requestId?: string;
  },
>(promise: Promise<unknown>): Promise<E> {
  const outcome = await promise.then(
    () => null,
    (error: unknown) => error,
  );
  if (outcome instanceof Error) return outcome as E;
  throw new Error('it was to fail, and did not');
}
