import type { Store } from './store.js';

const intervalSeconds = 60;

/** A request that came in time may still wait for its turn, its `random` not looked at; and clocks are set back. */
const graceSeconds = 60;

/**
 * Forgets a tenant's expired codes and used-up nonces, at most once a minute, beside the work that calls it.
 * `unixSeconds` gives the present; a failure goes to `onFault`, and is no one else's business.
 */
export function createPurge(
  store: Store,
  unixSeconds: () => number,
  onFault: (error: unknown) => void,
): (tenantCode: string) => void {
  const dueAt = new Map<string, number>();
  return (tenantCode) => {
    const now = unixSeconds();
    if (now < (dueAt.get(tenantCode) ?? 0)) return;
    dueAt.set(tenantCode, now + intervalSeconds);
    store
      .write(async ({ codes, nonces }) => {
        await nonces.purge(tenantCode, now - graceSeconds);
        await codes.purge(tenantCode, now);
      })
      .catch(onFault);
  };
}
