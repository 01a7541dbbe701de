// An app secret that is rotated while the program runs: a function returns it, and is called for each attempt.
import type { Secret } from 'userinfo-cli';

/** Asks the vault once in `lifetimeMs`. A failure is not kept: the next attempt asks again. */
export function cached(
  fetchSecret: () => Promise<string | Secret>,
  lifetimeMs: number,
  now = Date.now,
): () => Promise<string | Secret> {
  let kept: { readonly secret: Promise<string | Secret>; readonly until: number } | null = null;
  return () => {
    if (kept !== null && now() < kept.until) return kept.secret;
    const secret = fetchSecret();
    kept = { secret, until: now() + lifetimeMs };
    secret.catch(() => {
      if (kept?.secret === secret) kept = null;
    });
    return secret;
  };
}

// new UserInfoClient({ …, appSecret: cached(() => vault.read('app-secret'), 60_000) })
