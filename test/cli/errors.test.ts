import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServedMachine } from '../support/served.js';

let machine: ServedMachine;

beforeAll(async () => {
  machine = await ServedMachine.create();
});
afterAll(() => machine[Symbol.asyncDispose]());

describe('with --json, an error', () => {
  it.each<[string, number, readonly string[]]>([
    ['USAGE', 2, ['read', 'c', '--scop', 'x']],
    ['USAGE', 2, ['profil']],
    ['USAGE', 2, ['read', 'c', '--attempts', 'x']],
    ['INVALID_INPUT', 2, ['read', '']],
    ['INVALID_INPUT', 2, ['passback', 'a\u009b', '--union-id', 'u']],
    ['PROFILE', 3, ['read', 'c', '-p', 'no"such']],
    ['REJECTED', 4, ['read', 'c', '-p', 'local']],
    [
      'NO_ANSWER',
      5,
      ['read', 'c', '-p', 'local', '--base-url', 'http://127.0.0.1:1', '--attempts', '1'],
    ],
  ])('%s (%i) is one line of JSON on stderr: %j', async (code, exit, args) => {
    const done = await machine.run([...args, '--json']);
    expect(done.status).toBe(exit);
    const lines = done.stderr.trimEnd().split('\n');
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      error: {
        code,
        message: expect.stringMatching(/^\S.*\S$/),
        ...(code === 'REJECTED'
          ? { result_code: 40106 }
          : code === 'INVALID_INPUT' && { sent: 'nothing' }),
        hint: expect.stringMatching(/\S/),
        ...(code === 'PROFILE' && { commands: ['userinfo profile list'] }),
        exit,
      },
    });
    expect(done.stderr).not.toContain('\u009b');
  });

  it('is JSON with -o json and USERINFO_OUTPUT, too', async () => {
    for (const [args, env] of [
      [['-o', 'json'], {}],
      [[], { USERINFO_OUTPUT: 'json' }],
    ] as const) {
      const { stderr } = await machine.run(['read', '', ...args], { env });
      expect(JSON.parse(stderr).error.exit).toBe(2);
    }
  });
});

describe('a refused signature', () => {
  const env = { USERINFO_APP_SECRET: 'wrong' };

  it('says where secret and rule are from, and has commands to paste', async () => {
    const { status, stdout, stderr } = await machine.run(['read', 'c', '-p', 'local'], { env });
    expect([status, stdout]).toEqual([4, '40102 app_sign is wrong\n']);
    expect(stderr).toMatch(
      /^error: the service answered 40102 "app_sign is wrong"\nSigned with .* USERINFO_APP_SECRET, .*\n(?:.*\n)+ {2}userinfo sign solve /,
    );
    const explain = stderr.match(/^ {2}(userinfo sign explain .*)$/m)?.[1] ?? '';
    expect((await machine.shell(explain, { env })).status).toBe(0);
  });

  it.each([
    ['read', ['read', 'c']],
    ['bulk read', ['bulk', 'read', 'codes.csv', '--restart']],
    ['passback', ['passback', 'a=x', '--union-id', 'u001']],
    ['bulk passback', ['bulk', 'passback', 'users.csv', '--restart']],
    ['doctor', ['doctor', '--json']],
  ])('is first of all a wrong secret, which is entered again: %s', async (_, args) => {
    writeFileSync(join(machine.folder, 'codes.csv'), 'code\nc1\n');
    writeFileSync(join(machine.folder, 'users.csv'), 'union_id,a\nu001,x\n');
    const wrong = ['profile', 'set', 'local', '--app-secret-stdin'];
    const { profiles } = JSON.parse(readFileSync(machine.profileFile, 'utf8'));
    await machine.run(wrong, { stdin: 'wrong' });
    const done = await machine.run([...args, '-p', 'local']);
    expect(done.stderr + done.stdout).toContain(
      'A wrong secret is the likeliest cause. Enter it again, by the first',
    );
    const [first = ''] =
      /userinfo [a-z]+ [^"\n]*--app-secret-stdin|userinfo sign [^"\n]*/.exec(
        done.stderr + done.stdout,
      ) ?? [];
    expect(first).toBe('userinfo profile set local --app-secret-stdin');
    await machine.type(`printf %s '${profiles.local.secret.value}' | ${first}`);
    const again = await machine.run(['read', 'c', '-p', 'local']);
    expect(again.stdout).toContain('40106');
  });

  it('says to set the variable again where the secret is in one', async () => {
    const { stderr } = await machine.run(['read', 'c', '-p', 'local'], { env });
    expect(stderr).toContain(
      'A wrong secret is the likeliest cause. Set USERINFO_APP_SECRET again. To see',
    );
  });

  it('is a wrong rule where sign was refused, and not app_sign', async () => {
    await machine.run(['profile', 'set', 'local', '--signing-preset', 'sign=taobao']);
    const { stderr } = await machine.run(['read', 'c', '-p', 'local']);
    await machine.run(['profile', 'set', 'local', '--signing-preset', 'default']);
    expect(stderr).toContain('40103 "sign is wrong"');
    expect(stderr).toContain('so the rule of sign is likelier to be wrong than the secret');
    expect(stderr).not.toContain('A wrong secret');
    expect(stderr).not.toContain('--app-secret-stdin');
  });

  it('leads to the search for a rule if sign has another length, too', async () => {
    const useRule = (rule: string) =>
      machine.run(['profile', 'set', 'local', '--signing-preset', rule]);
    await useRule('sign=query-hmac-sha256');
    const { stderr } = await machine.run(['read', 'c', '-p', 'local']);
    await useRule('default');
    expect(stderr).toMatch(
      /40002 "sign has 64 characters, not 32"\n.*recipes of profile.*\n(?:.*\n)+ {2}userinfo sign solve /,
    );
  });

  it('says its reason once on a terminal', async () => {
    const { stdout } = await machine.run(['read', 'c', '-p', 'local'], { env, shows: true });
    expect(stdout.match(/app_sign is wrong/g)).toHaveLength(1);
    expect(stdout).toContain('the service refused the request');
  });
});

describe('an error says where the value came from that may be wrong', () => {
  it.each<[string, readonly string[], Record<string, string>, RegExp]>([
    [
      'the address',
      ['--base-url', 'http://127.0.0.1:1'],
      {},
      /The base URL comes from --base-url\./,
    ],
    [
      'the address',
      [],
      { USERINFO_BASE_URL: 'http://127.0.0.1:1' },
      /The base URL comes from USERINFO_BASE_URL\./,
    ],
    ['the channel', ['--channel', 'other'], {}, /Sent: .*channel "other" \(--channel\), /],
    ['the app key', ['--app-key', 'none'], {}, /Sent: .*app key "none" \(--app-key\)\.$/m],
  ])('%s: %j %j', async (_, flags, env, hint) => {
    const { stderr } = await machine.run(['read', 'c', '-p', 'local', ...flags], { env });
    expect(stderr).toMatch(hint);
    expect(stderr.trimEnd().split('\n').length).toBeLessThanOrEqual(3);
  });
});

it.runIf(process.platform === 'linux')(
  'a folder that cannot be created is an error at once (needs Linux)',
  async () => {
    const add = ['profile', 'add', 'x', '--base-url', 'https://example.com', '--tenant-code', 'a'];
    const env = { USERINFO_CONFIG_DIR: '/proc/none/config' };
    const done = await machine.run(
      [...add, '--channel', 'b', '--app-key', 'k', '--app-secret-env', 'S'],
      { env },
    );
    expect(done).toMatchObject({ status: 3, stderr: expect.stringContaining('cannot be written') });
  },
);

it.each<[string, readonly string[], Record<string, string>, string]>([
  ['the demo', ['demo'], { TMPDIR: '/none' }, '/none/userinfo-demo-'],
  ['a database', ['serve', '--port', '0', '--database', '/none/a.db'], {}, 'database /none/a.db'],
  ['a platform', ['profile', 'set', 'local', '--platform', '/none'], {}, '"/none" cannot be read'],
])('a system error is in words: %s', async (_, args, env, subject) => {
  const { stderr } = await machine.run(args, { env });
  expect(stderr).toMatch(/^error: .*: no such file or folder( \(ENOENT\))?$/m);
  expect(stderr).toContain(subject);
});

it('a group without a command shows its help, on stdout', async () => {
  for (const group of [[], ['profile'], ['admin', 'app']]) {
    expect(await machine.run(group)).toMatchObject({
      status: 0,
      stderr: '',
      stdout: expect.stringContaining('Commands:'),
    });
  }
});
