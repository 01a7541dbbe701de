// A proxy, an authority of certificates of your own, and a program that closes its client when it
// ends.
import { readFileSync } from 'node:fs';
import { UserInfoClient, type UserInfoClientOptions } from 'userinfo-exchange';

/**
 * `fromEnv` takes the proxy of the environment, the constructor this one alone. A loopback base URL
 * needs none.
 */
export const behindProxy = (options: UserInfoClientOptions, proxy: string, caFile: string) =>
  new UserInfoClient({ ...options, proxy, extraCa: readFileSync(caFile, 'utf8') });

/** Waits for the calls under way, and cancels them after `graceMs`. */
export async function shutDown(client: UserInfoClient, graceMs: number): Promise<void> {
  const timer = setTimeout(() => client.close({ force: true }), graceMs);
  await client.close();
  clearTimeout(timer);
}

// process.once('SIGTERM', () => shutDown(client, 10_000));
