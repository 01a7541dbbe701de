// A proxy, an authority of certificates of your own, and a program that closes its client when it ends.
import { readFileSync } from 'node:fs';
import { UserInfoClient, type UserInfoClientOptions } from 'userinfo-cli';

/** `proxy` is taken from here alone, never from the environment; a loopback base URL goes without it. */
export const behindProxy = (options: UserInfoClientOptions, proxy: string, caFile: string) =>
  new UserInfoClient({ ...options, proxy, extraCa: readFileSync(caFile, 'utf8') });

/** Waits for the calls under way, and cancels them after `graceMs`. */
export async function shutDown(client: UserInfoClient, graceMs: number): Promise<void> {
  const timer = setTimeout(() => client.close({ force: true }), graceMs);
  await client.close();
  clearTimeout(timer);
}

// process.once('SIGTERM', () => shutDown(client, 10_000));
