import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Machine } from '../support/cli.js';

const secret = 'never-to-be-seen-4711';
const values = [
  '--base-url',
  'http://127.0.0.1:9',
  '--tenant-code',
  'acme',
  '--channel',
  'web',
  '--app-key',
  'a1',
];
const tool = process.platform === 'darwin' ? 'security' : 'secret-tool';
let machine: Machine;
let env: Record<string, string>;

beforeEach(() => {
  machine = new Machine();
  const folder = join(machine.folder, 'keychain');
  mkdirSync(folder);
  symlinkSync(join(import.meta.dirname, '../support/fake-keychain.mjs'), join(folder, tool));
  env = { PATH: `${folder}:${dirname(process.execPath)}:/usr/bin:/bin`, FAKE_KEYCHAIN: folder };
});

afterEach(() => {
  expect(machine.printed).not.toContain(secret);
  machine[Symbol.dispose]();
});

const add = (...more: string[]) =>
  machine.run(['profile', 'add', 'shop', ...values, ...more], { stdin: `${secret}\n`, env });
const entries = () => readdirSync(env.FAKE_KEYCHAIN ?? '').filter((name) => name.startsWith('entry-'));
const source = () => JSON.parse(readFileSync(machine.profileFile, 'utf8')).profiles.shop.secret;
const kept = ['--app-secret-stdin', '--app-secret-keychain'];

describe.skipIf(process.platform === 'win32')('--app-secret-keychain', () => {
  it('keeps the secret in the keychain alone, until the profile goes', async () => {
    expect((await add(...kept)).status).toBe(0);
    expect(source()).toEqual({
      kind: 'keychain',
      keychain: process.platform === 'darwin' ? 'macos' : 'secret-service',
      account: expect.stringMatching(/^shop-[0-9a-f]{8}$/),
    });
    expect(entries()).toEqual([`entry-${source().account}`]);
    const call = await machine.run(['read', 'c', '--attempts', '1'], { env });
    expect(call).toMatchObject({ status: 5, stderr: expect.stringContaining('ECONNREFUSED') });
    expect((await machine.run(['profile', 'show'], { env })).stdout).toContain(
      'in the keychain of the system',
    );
    const exported = await machine.run(['profile', 'export', 'shop'], { env });
    expect(JSON.parse(exported.stdout).secret).toEqual({ kind: 'keychain' });
    await machine.run(['profile', 'rename', 'shop', 'other'], { env });
    expect((await machine.run(['read', 'c', '--attempts', '1'], { env })).status).toBe(5);
    expect((await machine.run(['profile', 'remove', 'other', '--yes'], { env })).status).toBe(0);
    expect(entries()).toEqual([]);
  });

  it('asks for the secret on a terminal', async () => {
    const args = ['profile', 'add', 'shop', ...values, '--environment', 'test', '--app-secret-keychain'];
    const done = await machine.onTerminal(args, [['App secret', secret]], { env });
    expect(done.status).toBe(0);
    expect(source().kind).toBe('keychain');
    expect(entries()).toHaveLength(1);
  });

  it('moves the secret of a profile there, and away again', async () => {
    await add('--app-secret-stdin');
    expect(source()).toEqual({ kind: 'file', value: secret });
    expect((await machine.run(['profile', 'set', 'shop', '--app-secret-keychain'], { env })).status).toBe(0);
    expect(source().kind).toBe('keychain');
    expect(readFileSync(machine.profileFile, 'utf8')).not.toContain(secret);
    await machine.run(['profile', 'set', 'shop', ...kept], { env, stdin: 'another' });
    expect(entries()).toEqual([`entry-${source().account}`]);
    await machine.run(['profile', 'set', 'shop', '--app-secret-env', 'SECRET'], { env });
    expect(entries()).toEqual([]);
    const nothing = await machine.run(['profile', 'set', 'shop', '--app-secret-keychain'], { env });
    expect(nothing).toMatchObject({ status: 2, stderr: expect.stringContaining('there is no app secret') });
  });

  it('falls back on nothing: where there is no keychain, it says so, and stores nothing anywhere', async () => {
    env = { ...env, PATH: machine.folder };
    const done = await add(...kept);
    expect(done.status).toBe(3);
    expect(done.stderr).toContain(`the keychain did not take the app secret: ${tool} is not installed`);
    expect(done.stderr).toContain('Nothing was stored. Other places: the profile file (--app-secret-stdin)');
    expect(existsSync(machine.profileFile)).toBe(false);
  });

  it('leaves nothing in the keychain where the profile cannot be written', async () => {
    await add('--app-secret-stdin');
    expect((await add(...kept)).status).toBe(3);
    expect(entries()).toEqual([]);
    expect(source().kind).toBe('file');
  });

  it('says where a secret is missing that should be there', async () => {
    await add(...kept);
    env = { ...env, FAKE_KEYCHAIN: machine.folder };
    const done = await machine.run(['read', 'c'], { env });
    expect(done).toMatchObject({ status: 3, stdout: '' });
    expect(done.stderr).toContain(`the keychain has no app secret for this profile: ${tool} ended with`);
    const removed = await machine.run(['profile', 'remove', 'shop', '--yes'], { env });
    expect(removed).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('may still be in the keychain'),
    });
  });

  it.each([
    ['--app-secret-env', 'X'],
    ['--app-secret-command', 'x'],
  ])('does not go with %s', async (...other) => {
    expect((await add('--app-secret-keychain', ...other)).status).toBe(2);
  });
});
