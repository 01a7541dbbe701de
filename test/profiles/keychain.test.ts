import { readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CredentialError } from '../../src/profiles/errors.js';
import { Keychain } from '../../src/profiles/keychain.js';
import { type KeychainKind, keychainOf, keychainTools } from '../../src/profiles/keychain-tools.js';
import { type RunCommand, shellRunner } from '../../src/profiles/run-command.js';
import { Secret } from '../../src/signing/secret.js';
import { rejection, secretText, temporaryFolder } from './fixtures.js';

const programs = { 'secret-service': 'secret-tool', macos: 'security', windows: 'powershell.exe' } as const;
const kinds = Object.keys(programs) as KeychainKind[];

/** A keychain whose tool is ours; `folder` is where it keeps what it is given. */
function fakeKeychain(kind: KeychainKind, env: Record<string, string> = {}, timeoutMs?: number) {
  const folder = temporaryFolder();
  symlinkSync(join(import.meta.dirname, '../support/fake-keychain.mjs'), join(folder, programs[kind]));
  const path = `${folder}:${dirname(process.execPath)}:/usr/bin:/bin`;
  const run = shellRunner({ PATH: path, FAKE_KEYCHAIN: folder, ...env });
  const inTime: RunCommand = (command, options) =>
    run(command, timeoutMs === undefined ? options : { ...options, timeoutMs });
  const entries = () => readdirSync(folder).filter((name) => name.startsWith('entry-'));
  return { keychain: new Keychain(kind, inTime), folder, entries };
}

describe.skipIf(process.platform === 'win32').each(kinds)('the keychain of %s', (kind) => {
  it('keeps a secret, gives it back and forgets it', async () => {
    const { keychain, entries } = fakeKeychain(kind);
    await keychain.keep('shop-1', new Secret(secretText));
    await keychain.keep('shop-2', new Secret(' 密钥 "$x" \\ '));
    expect((await keychain.read('shop-1')).reveal()).toBe(secretText);
    expect((await keychain.read('shop-2')).reveal()).toBe(' 密钥 "$x" \\ ');
    expect(await keychain.remove('shop-1')).toBe(true);
    expect(entries()).toEqual(['entry-shop-2']);
    expect(await keychain.remove('shop-1')).toBe(false);
    expect(await rejection(keychain.read('shop-1'))).toBeInstanceOf(CredentialError);
  });

  it('is never told the secret by an argument', async () => {
    const { keychain, folder } = fakeKeychain(kind);
    await keychain.keep('shop-1', new Secret(secretText));
    await keychain.read('shop-1');
    const calls = readFileSync(join(folder, 'calls'), 'utf8');
    const decoded = [...calls.matchAll(/[A-Za-z0-9+/=]{40,}/g)].map(([text]) => Buffer.from(text, 'base64'));
    const shown = [calls, ...decoded.map((bytes) => bytes.toString('utf16le'))].join('\n');
    expect(shown).toContain('shop-1');
    expect(shown).not.toContain(secretText);
    expect(shown).not.toContain(Buffer.from(secretText).toString('hex'));
  });

  it('keeps nothing where the secret does not come back as it was', async () => {
    const { keychain, entries } = fakeKeychain(kind, { FAKE_GARBLES: '1' });
    const error = await rejection(keychain.keep('shop-1', new Secret(secretText)));
    expect(error.message).toContain('does not give the app secret back as it was');
    expect(entries()).toEqual([]);
  });

  it('is given up where it takes too long', async () => {
    const { keychain, entries } = fakeKeychain(kind, { FAKE_HANGS: '1' }, 200);
    const started = Date.now();
    const error = await rejection(keychain.keep('shop-1', new Secret(secretText)));
    expect(Date.now() - started).toBeLessThan(5_000);
    expect(error).toBeInstanceOf(CredentialError);
    expect(error.message).toContain(`${keychainTools[kind].name} took longer than 30 s and was stopped`);
    expect(error.hint).toMatch(/^Nothing was stored\. .*--app-secret-stdin/);
    expect(entries()).toEqual([]);
  });

  it('is missing where its tool is', async () => {
    const run = shellRunner({ PATH: temporaryFolder() });
    const keychain = new Keychain(kind, run);
    const calls = [() => keychain.keep('shop-1', new Secret(secretText)), () => keychain.read('shop-1')];
    for (const call of calls) {
      const error = await rejection(call());
      expect(error).toBeInstanceOf(CredentialError);
      expect(error.message).toContain(`${keychainTools[kind].name} is not installed`);
    }
  });
});

it.each([
  ['linux', 'secret-service'],
  ['freebsd', 'secret-service'],
  ['darwin', 'macos'],
  ['win32', 'windows'],
  ['aix', null],
])('the keychain of the platform %s is %s', (platform, kind) => {
  expect(keychainOf(platform)).toBe(kind);
});
