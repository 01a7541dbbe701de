import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Profile } from '../../../src/core/profiles/profile.js';
import { Secret } from '../../../src/core/signing/secret.js';

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
