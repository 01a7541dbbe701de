import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { LockHost } from '../../src/profiles/file-lock.js';
import type { Profile } from '../../src/profiles/profile.js';
import { Secret } from '../../src/signing/secret.js';

/** This process, as the CLI hands it in. */
export const thisProcess: LockHost = {
  pid: process.pid,
  hostname: hostname(),
  isRunning(pid) {
    try {
      return process.kill(pid, 0);
    } catch (error) {
      return error instanceof Error && 'code' in error && error.code === 'EPERM';
    }
  },
  now: () => Date.now(),
  uniqueText: () => randomUUID(),
};

export const secretText = 'q7Vx-the-app-secret-Zt41';

export function sampleProfile(changes: Partial<Profile> = {}): Profile {
  return {
    name: 'shop',
    environment: 'test',
    base_url: 'https://test.example.com',
    tenant_code: 't1',
    channel: 'c1',
    app_key: 'k1',
    secret: { kind: 'file', value: new Secret(secretText) },
    ...changes,
  };
}

/** A folder of its own for one test, gone when the test is. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'userinfo-profiles-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** What a promise that must reject rejects with. */
export async function rejection(
  promise: Promise<unknown>,
): Promise<Error & { code?: string; hint?: string }> {
  const outcome = await promise.then(
    () => null,
    (error: unknown) => error,
  );
  if (outcome instanceof Error) return outcome;
  throw new Error('it was to fail, and did not');
}
