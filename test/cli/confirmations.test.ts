import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Machine } from '../support/cli.js';

const machine = new Machine();
const secret = 'never-to-be-seen-4711';
const app = ['--tenant-code', 'acme', '--channel', 'web', '--app-key', 'k'];

beforeAll(() =>
  machine.run(['admin', 'app', 'create', ...app], { env: { USERINFO_DATABASE: machine.database } }),
);
afterAll(() => machine[Symbol.dispose]());

describe('profile import', () => {
  it('adds what profile export printed, with the secret that the options name', async () => {
    const add = ['profile', 'add', 'shop', '--base-url', 'https://test.example.com', ...app];
    await machine.run([...add, '--key-prefix', 'acme_', '--app-secret-stdin'], { stdin: secret });
    const exported = await machine.run(['profile', 'export', 'shop']);
    expect(exported.stdout).not.toContain(secret);
    writeFileSync(`${machine.folder}/shop.json`, exported.stdout);

    const taken = await machine.run(['profile', 'import', 'shop.json', '--app-secret-env', 'S']);
    expect(taken.stderr).toContain('there is a profile "shop"');
    expect(taken.status).toBe(3);
    const missing = await machine.run(['profile', 'import', 'shop.json', '--name', 'two']);
    expect(missing.stderr).toContain('--app-secret-stdin');
    expect(missing.status).toBe(2);
    const done = await machine.run(
      'profile import shop.json --name two --app-secret-env S'.split(' '),
    );
    expect(done.status).toBe(0);
    const again = JSON.parse((await machine.run(['profile', 'export', 'two'])).stdout);
    expect(again).toEqual({ ...JSON.parse(exported.stdout), name: 'two' });
  });

  it('refuses a command, whatever it is answered, and what is no profile', async () => {
    const profile = JSON.parse((await machine.run(['profile', 'export', 'shop'])).stdout);
    const foreign = {
      ...profile,
      name: 'foreign',
      secret: { kind: 'command', command: 'touch ran' },
    };
    writeFileSync(`${machine.folder}/foreign.json`, JSON.stringify(foreign));
    const refused = await machine.run(['profile', 'import', 'foreign.json', '--yes']);
    expect(refused.stderr).toContain('secret is not taken from');
    expect(refused.status).toBe(2);
    expect(existsSync(`${machine.folder}/ran`)).toBe(false);
    for (const json of [
      '[]',
      'null',
      '{}',
      '{"name":"x"}',
      JSON.stringify({ ...profile, name: 'x', more: 1 }),
    ]) {
      writeFileSync(`${machine.folder}/wrong.json`, json);
      const done = await machine.run(['profile', 'import', 'wrong.json', '--app-secret-env', 'S']);
      expect([json, [2, 3].includes(done.status ?? 0)]).toEqual([json, true]);
    }
  });
});

describe('what is destroyed', () => {
  it.each([
    [['admin', 'app', 'delete', '--app-key', 'k']],
    [['admin', 'app', 'rotate-secret', '--app-key', 'k']],
    [['admin', 'user', 'delete', '--tenant-code', 'acme', '--union-id', 'u']],
    [['profile', 'delete', 'shop']],
  ])('needs a confirmation: %j', async (args) => {
    const env = { USERINFO_DATABASE: machine.database };
    const done = await machine.run(args, { env });
    expect(done).toMatchObject({ status: 2, stdout: '' });
    expect(done.stderr).toMatch(
      /^error: confirmation needed.*\n(?:Nothing was sent\. )?Add --yes/m,
    );
  });
});

it('a rotation asks also where the old secret stays valid for a while', async () => {
  const app = (...args: string[]) =>
    machine.run(['admin', 'app', ...args], { env: { USERINFO_DATABASE: machine.database } });
  await app('create', '--tenant-code', 'acme', '--channel', 'web', '--app-key', 'rotated');
  const rotate = ['rotate-secret', '--app-key', 'rotated', '--overlap', '24h'];
  const asked = await app(...rotate);
  expect(asked).toMatchObject({ status: 2, stdout: '' });
  expect(asked.stderr).toContain('One of an earlier rotation stops working now.\nAdd --yes');
  const rotated = await app(...rotate, '--yes');
  expect(rotated.status).toBe(0);
  const [, end = ''] = /^The old secret is accepted until (\S+)\.$/m.exec(rotated.stderr) ?? [];
  expect(Date.parse(end)).toBeGreaterThan(Date.now() + 23 * 3_600_000);
});

it('USERINFO_DATABASE names the database, unless --database does', async () => {
  const env = { USERINFO_DATABASE: machine.database };
  expect((await machine.run(['admin', 'app', 'list', '--json'], { env })).stdout).toContain(
    '"app_key":"k"',
  );
  const other = await machine.run(['admin', 'app', 'list', '--database', 'other.db'], { env });
  expect(other).toMatchObject({ status: 2, stderr: expect.stringContaining('other.db') });
  expect((await machine.run(['admin', 'app', 'list', '--database', ''], { env })).status).toBe(2);
});

it('data is printed in the format that is asked for', async () => {
  expect(JSON.parse((await machine.run(['profile', 'path', '--json'])).stdout)).toEqual({
    path: machine.profileFile,
  });
  expect((await machine.run(['profile', 'export', 'shop', '-o', 'yaml'])).stdout).toMatch(
    /^name: shop$/m,
  );
});

it('people get local times, and words for what is not bounded; programs get the values', async () => {
  const env = { USERINFO_DATABASE: machine.database, TZ: 'UTC' };
  const apps = ['admin', 'app', 'list'];
  const local = /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/;
  const shown = (await machine.run(apps, { env })).stdout;
  expect(shown).toMatch(new RegExp(` created_at +│ disabled .*│ ${local.source} │ no `, 's'));
  const [app] = (await machine.run([...apps, '-o', 'ndjson'], { env })).stdout.split('\n');
  expect(JSON.parse(app ?? '')).toMatchObject({ created_at: expect.any(Number), disabled: false });
  expect((await machine.run(['admin', 'audit'], { env })).stdout).toMatch(
    new RegExp(`│ ${local.source} │ .*app create`),
  );

  const user = { tenant_code: 'acme', union_id: 'u1' };
  const put = await machine.run(['admin', 'user', 'put'], { env, stdin: JSON.stringify(user) });
  expect(put.stderr).toBe('put 1 user\n');
  const issue = 'admin code issue --tenant-code acme --union-id u1 --uses unlimited'.split(' ');
  expect((await machine.run(issue, { env })).stderr).toBe(
    'The code gives access to everything and expires in 5 min.\n',
  );
  const list = ['admin', 'code', 'list', '--tenant-code', 'acme'];
  expect((await machine.run(list, { env })).stdout).toMatch(
    /everything +│ unlimited +│ in \d+ (min|s) /,
  );
  const [json] = JSON.parse((await machine.run([...list, '--json'], { env })).stdout);
  expect(json).toMatchObject({ info_names: null, uses_left: null, expires_at: expect.any(Number) });
});

it.each<[line: string, said: string, env?: Record<string, string>]>([
  ['-p shop read c --dry-run', 'warning: other users can read the app secret in '],
  ['admin code list --tenant-code none', 'there are none'],
  ['admin app create --tenant-code acme --channel web --app-key k2', 'is shown only once.'],
  ['admin app disable --app-key k2', 'disabled app "k2"'],
  ['admin app set --app-key k2 --channel app', 'changed app "k2"'],
  ['admin app delete --app-key k2 --yes', 'deleted app "k2"'],
  ['profile rename two three', 'renamed "two" to "three"'],
  ['profile set three --channel app', 'changed "three" (test, '],
  ['profile use three', 'now using "three" (test, '],
  ['profile use shop', 'USERINFO_PROFILE is "three" and', { USERINFO_PROFILE: 'three' }],
  ['profile delete three --yes', 'deleted "three"'],
])('%s says: %s', async (line, said, more = {}) => {
  chmodSync(machine.profileFile, 0o644);
  const env = { USERINFO_DATABASE: machine.database, ...more };
  const done = await machine.run(line.split(' '), { env });
  expect(done).toMatchObject({ status: 0, stderr: expect.stringContaining(said) });
});
