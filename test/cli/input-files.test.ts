import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openInput, readInputFile } from '../../src/core/support/input-file.js';
import { deploymentFlags, Machine } from '../support/cli.js';
import { httpServer } from '../support/raw-server.js';

const machine = new Machine();
let server: Awaited<ReturnType<typeof httpServer>>;
const path = (name: string) => join(machine.folder, name);
const env = { SECRET: 's3cret', NO_PROXY: '*' };

/** Files that a user may name, each wrong in its way. */
const kinds: Readonly<Record<string, (place: string) => void>> = {
  folder: (place) => mkdirSync(place),
  device: (place) => symlinkSync('/dev/zero', place),
  pipe: (place) => execFileSync('mkfifo', [place]),
  'large file': (place) => writeFileSync(place, Buffer.alloc(17 * 1024 * 1024, 0x20)),
};

beforeAll(async () => {
  server = await httpServer((_, response) => {
    response.end(JSON.stringify({ code: 200, msg: 'ok', data: { union_id: 'u1' } }));
  });
  const values = deploymentFlags(server.url);
  await machine.run(['profile', 'add', 'local', ...values, '--app-secret-env', 'SECRET']);
  for (const [kind, create] of Object.entries(kinds)) create(path(kind));
  writeFileSync(path('rows.csv'), 'union_id,v\nu1,x\n');
  writeFileSync(path('value.txt'), 'gold');
  writeFileSync(path('users.ndjson'), '{"tenant_code":"acme","union_id":"u1"}\n');
});

afterAll(async () => {
  await server.close();
  machine[Symbol.dispose]();
});

const passback = ['-p', 'local', 'passback', '--union-id', 'u1'];
const database = ['--database', 'users.db'];
/** Each place where a command reads a file that is named to it; variables are written before it. */
const uses: Readonly<Record<string, (file: string) => readonly string[]>> = {
  'a value': (file) => [...passback, `v=@${file}`],
  '--ca-file': (file) => [...passback, 'v=x', '--ca-file', file],
  '--platform': (file) => [...passback, 'v=x', '--platform', file],
  'a stored platform': (file) => ['profile', 'set', 'local', '--platform', file],
  'a sample': (file) => ['-p', 'local', 'sign', 'verify', '--sample', file],
  'a profile to import': (file) => ['profile', 'import', file],
};
/** Where the input may be of any size. */
const streams: typeof uses = {
  rows: (file) => ['-p', 'local', 'bulk', 'passback', file],
  'records of users': (file) => ['admin', 'user', 'put', file, ...database],
};
const words: Readonly<Record<string, string>> = {
  folder: 'folder',
  device: 'device',
  pipe: 'no process writes to the pipe',
  'large file': 'it is larger than 16 MiB',
};

describe.skipIf(process.platform === 'win32')('a file that is named to a command', () => {
  it.each(Object.keys(kinds))('is refused in words if it is a %s', async (kind) => {
    // A pipe is waited for: one command that reads a file whole stands for all, each in a process
    // of its own.
    const whole = Object.entries(uses).slice(0, kind === 'pipe' ? 1 : undefined);
    const all = [...whole, ...(kind === 'large file' ? [] : Object.entries(streams))];
    const runs: ReturnType<typeof machine.run>[] = [];
    for (const [, args] of all) {
      const run = machine.run(args(kind), { env });
      if (kind !== 'pipe') await run;
      runs.push(run);
    }
    for (const [index, { status, stdout, stderr }] of (await Promise.all(runs)).entries()) {
      const use = all[index]?.[0];
      expect({ use, status, stdout }).toEqual({ use, status: 2, stdout: '' });
      expect(stderr).toContain(`"${kind}"`);
      expect(stderr).toContain(words[kind]);
    }
    expect(server.requests).toHaveLength(0);
  });

  it('may be what another command prints', async () => {
    const lines = [
      `userinfo ${passback.join(' ')} v=@<(cat value.txt)`,
      `sleep 0.2 | cat value.txt - | userinfo ${passback.join(' ')} v=@/dev/stdin`,
      `mkfifo later; (sleep 0.5; cat value.txt > later) & userinfo ${passback.join(' ')} v=@later`,
      `userinfo -p local bulk passback <(cat rows.csv)`,
      `cat rows.csv | userinfo -p local bulk passback /dev/stdin`,
      `userinfo admin user put <(cat users.ndjson) ${database.join(' ')}`,
    ];
    for (const line of lines) {
      const { status, stderr } = await machine.shell(line, { env }, 'bash');
      expect({ line, status, stderr }).toMatchObject({ line, status: 0 });
    }
    expect(server.requests.map(({ body }) => new URLSearchParams(body).get('user_info'))).toEqual([
      '{"v":"gold"}',
      '{"v":"gold"}',
      '{"v":"gold"}',
      '{"v":"x"}',
      '{"v":"x"}',
    ]);
  });

  it('may be empty as what another command prints', async () => {
    const { status, stderr } = await machine.shell(
      'userinfo -p local bulk passback <(true)',
      { env },
      'bash',
    );
    expect(status).toBe(2);
    expect(stderr).toMatch(/^error: \S+ has no row\n/);
  });
});

describe.skipIf(process.platform === 'win32')(
  'the profile file, and the CA file that a profile names',
  () => {
    it.each([
      ['pipe', 'it is a pipe, not a file'],
      ['device', 'it is a device'],
      ['large file', 'it is larger than 16 MiB'],
    ])('is refused at once if it is a %s', async (kind, fault) => {
      const other = { env: { ...env, USERINFO_CONFIG_DIR: path(`config of ${kind}`) } };
      mkdirSync(path(`config of ${kind}`));
      symlinkSync(path(kind), path(`config of ${kind}/profiles.json`));
      const unread = await machine.run(['profile', 'list'], other);
      expect(unread.status).toBe(3);
      expect(unread.stderr).toContain(`profiles.json: cannot be read: ${fault}`);
      expect((await machine.run(['__complete', '-p', ''], other)).stdout).toBe('');

      await machine.run(['profile', 'set', 'local', '--ca-file', kind]);
      const refused = await machine.run([...passback, 'v=x'], { env });
      await machine.run(['profile', 'set', 'local', '--ca-file', '']);
      expect(refused.status).toBe(2);
      expect(refused.stderr).toContain(`(profile "local") cannot be read: ${fault}`);
    });
  },
);

it.skipIf(process.platform === 'win32')(
  'a signing module that is a pipe is not loaded',
  async () => {
    const values = deploymentFlags(server.url);
    const signing = ['--app-secret-env', 'SECRET', '--signing-module', 'pipe'];
    const added = await machine.run(['profile', 'add', 'module', ...values, ...signing]);
    expect(added.stderr).toContain('"pipe" is not a file');
    expect(added.status).toBe(2);
  },
);

it
  .skipIf(process.platform === 'win32')
  .each([
    '-p local passback --union-id u1 v=@/dev/stdin',
    '-p local passback --union-id u1 --user-info -',
    '-p local read -',
    '-p local sign verify -',
    'profile import -',
    'admin user find --tenant-code acme --key mobile',
  ])('what is endless is not read beyond 16 MiB: %s', async (args) => {
  const endless = await machine.shell(`yes aaaaaaaa | userinfo ${args}`, { env });
  expect(endless.stderr).toContain('it is larger than 16 MiB');
  expect(endless.status).toBe(2);
});

it.skipIf(process.platform !== 'linux')('nor is a file without a size (needs /proc)', () => {
  expect(() => readInputFile('/proc/self/pagemap')).toThrow('it is larger than 16 MiB');
});

it.skipIf(process.platform === 'win32')('a named pipe is waited for only so long', async () => {
  rmSync(path('quiet'), { force: true });
  execFileSync('mkfifo', [path('quiet')]);
  await expect(openInput(path('quiet'), undefined, 50)).rejects.toThrow(
    'no process writes to the pipe',
  );
  const interrupt = new AbortController();
  setTimeout(() => interrupt.abort(), 20);
  await expect(openInput(path('quiet'), interrupt.signal)).rejects.toThrow(/abort/);
});
