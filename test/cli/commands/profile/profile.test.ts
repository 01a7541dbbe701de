import {
  chmodSync,
  chownSync,
  existsSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deploymentFlags, Machine } from '../../../support/cli.js';
import { caFile, certificates } from '../../../support/tls-server.js';

const secret = 'never-to-be-seen-4711';
const values = deploymentFlags('https://test.example.com/');
let machine: Machine;

beforeEach(() => {
  machine = new Machine();
});

afterEach(() => {
  expect(machine.printed).not.toContain(secret);
  machine[Symbol.dispose]();
});

const add = (name: string, ...more: string[]) => {
  const kept = values.filter((_, at) => !more.includes(values[at - (at % 2)] ?? ''));
  return machine.run(['profile', 'add', name, ...kept, '--app-secret-stdin', ...more], {
    stdin: `${secret}\n`,
  });
};
const inPlainText = () =>
  `The app secret is in plain text in ${machine.profileFile} (mode 0600). --app-secret-command keeps it elsewhere.\n`;
const file = () => JSON.parse(readFileSync(machine.profileFile, 'utf8'));

describe('profile add', () => {
  it('stores a profile readable by its owner alone; the first one is active', async () => {
    expect(await add('shop.test-1')).toMatchObject({
      status: 0,
      stdout: '',
      stderr:
        `added "shop.test-1" (test, test.example.com), now active\n` +
        `warning: without --environment this is a test profile: writes with it need no confirmation\n${inPlainText()}`,
    });
    expect(statSync(machine.profileFile).mode & 0o777).toBe(0o600);
    expect(statSync(machine.configFolder).mode & 0o777).toBe(0o700);
    expect(file().profiles['shop.test-1'].secret.value).toBe(secret);
    expect((await add('live', '--environment', 'production', '--yes')).stderr).toBe(
      `added "live" (production, test.example.com)\n${inPlainText()}`,
    );
  });

  it('prompts on a terminal for missing values, and hides the secret', async () => {
    const done = await machine.onTerminal(
      ['profile', 'add', 'shop', '--channel', 'web'],
      [
        ['Environment', ''],
        ['Base URL', 'https://test.example.com/api/v1'],
        ['/api/v1.', `${'\b'.repeat(7)} `],
        ['Tenant code', '  acme\u3000'],
        ['App key', '"a1"'],
        ['App secret', secret],
        ['the app key, "\\"a1\\"", is in quotes', 'y'],
        ['How it signs is not known. Send up to 150 requests that change nothing', 'n'],
      ],
    );
    expect(done.status).toBe(0);
    expect(done.stdout).toContain('the tenant code has white space around it, which is cut off');
    expect(done.stdout).toContain('added "shop" (test, test.example.com), now active');
    expect(done.stdout).toContain('plain text');
    expect(done.stdout).not.toContain(secret);
    expect(file().profiles.shop).toMatchObject({
      tenant_code: 'acme',
      app_key: '"a1"',
      secret: { value: secret },
    });
  });

  it('takes from another profile what production has in common with test, and asks for the rest', async () => {
    await add('shop-test', '--signing-preset', 'taobao', '--key-prefix', 'acme_', '--allow-http');
    const done = await machine.onTerminal(
      ['profile', 'add', 'shop', '--like', 'shop-test'],
      [
        ['Environment', '\x1b[B'],
        ['Base URL', 'https://live.example.com'],
        ['App key', 'a2'],
        ['App secret', 'another'],
      ],
    );
    expect(done.stdout).toContain('added "shop" (production, live.example.com)');
    const { 'shop-test': test, shop } = file().profiles;
    const { tenant_code, channel, platform, key_prefix } = test;
    expect(shop).toEqual({
      ...{ environment: 'production', base_url: 'https://live.example.com', app_key: 'a2' },
      ...{ tenant_code, channel, platform, key_prefix },
      secret: { kind: 'file', value: 'another' },
    });
    expect((await machine.run(['profile', 'add', 'x', '--like', 'nobody'])).stderr).toContain(
      'there is no profile "nobody"',
    );
  });

  it('ends with status 130 on Ctrl-C at a question, and stores nothing', async () => {
    const done = await machine.onTerminal(
      ['profile', 'add', 'shop', ...values],
      [
        ['Environment', ''],
        ['App secret', null],
      ],
    );
    expect(done.status).toBe(130);
    expect(existsSync(machine.profileFile)).toBe(false);
  });

  it('lists everything that is missing without a terminal', async () => {
    const done = await machine.run(['profile', 'add', 'shop', '--channel', 'web']);
    expect(done.status).toBe(2);
    expect(done.stderr).toContain(
      'missing: --base-url, --tenant-code, --app-key, --app-secret-stdin',
    );
  });

  it('never takes the secret from an argument, nor from a terminal that would show it', async () => {
    for (const args of [['--app-secret', secret], [`--app-secret=${secret}`]]) {
      const done = await machine.run(['profile', 'add', 'shop', ...values, ...args]);
      expect(done.stderr).toContain('never accepted as an argument');
      expect(done.status).toBe(2);
    }
    const add = ['profile', 'add', 'shop', ...values, '--app-secret-stdin', '--no-input'];
    const { status, stdout } = await machine.onTerminal(add, []);
    expect([status, stdout]).toEqual([2, expect.stringContaining('standard input is a terminal')]);
    expect(existsSync(machine.profileFile)).toBe(false);
  });

  it.each([
    ['--app-secret-env', 'SHOP_SECRET'],
    ['--app-secret-command', `printf %s ${'"$SHOP_SECRET"'}`],
  ])('%s keeps where the secret is, not the secret', async (option, value) => {
    const done = await machine.run(['profile', 'add', 'shop', ...values, option, value]);
    expect(done).toMatchObject({ status: 0, stderr: expect.not.stringContaining('plain text') });
    expect(readFileSync(machine.profileFile, 'utf8')).not.toContain(secret);
    const set = await machine.run(['read', 'c', '--base-url', 'http://127.0.0.1:9'], {
      env: { SHOP_SECRET: secret },
    });
    expect(set.status).toBe(5);
    const unset = await machine.run(['read', 'c', '--base-url', 'http://127.0.0.1:9']);
    expect(unset.status).toBe(3);
  });

  it('says so when profile set puts the secret into the file', async () => {
    await machine.run(['profile', 'add', 'shop', ...values, '--app-secret-env', 'SHOP_SECRET']);
    const set = await machine.run(['profile', 'set', 'shop', '--app-secret-stdin'], {
      stdin: secret,
    });
    expect(set.stderr).toBe(`changed "shop" (test, test.example.com)\n${inPlainText()}`);
  });

  it.each([['constructor'], ['__proto__'], [''], ['a b'], ['a/b']])(
    'refuses the name "%s"',
    async (name) => {
      expect(await add(name)).toMatchObject({ status: 3 });
      expect(existsSync(machine.profileFile)).toBe(false);
    },
  );
});

it('a profile that is added or changed is on the disk before it takes the place of the old file', async () => {
  const log = join(machine.folder, 'disk.json');
  const preload = join(import.meta.dirname, '../../../support/disk-log.cjs');
  const env = { NODE_OPTIONS: `--require ${preload}`, DISK_LOG: log };
  machine.apart = true;
  for (const args of [
    ['profile', 'add', 'shop', ...values, '--app-secret-env', 'HOME'],
    ['profile', 'set', 'shop', '--channel', 'app'],
  ]) {
    expect(await machine.run(args, { env })).toMatchObject({ status: 0 });
    const events: string[][] = JSON.parse(readFileSync(log, 'utf8'));
    const renamed = events.findIndex(([kind, , to]) => kind === 'rename' && to === 'profiles.json');
    const before = events.slice(0, renamed).filter(([, name]) => name === events[renamed]?.[1]);
    expect(before.map(([kind]) => kind)).toEqual(['write', 'sync']);
    expect(before[0]?.[1]).toMatch(/^profiles\.json\.tmp-/);
  }
});

describe('profiles', () => {
  it('are listed, switched, changed, renamed, exported and deleted', async () => {
    await add('shop-test');
    await add('shop', '--environment', 'production', '--key-prefix', 'acme_', '--yes');
    expect((await machine.run(['profile', 'use', 'shop'])).stderr).toBe(
      'now using "shop" (production, test.example.com)\n',
    );
    const list = JSON.parse((await machine.run(['profile', 'list', '--json'])).stdout);
    expect(list).toMatchObject([
      { name: 'shop-test', active: false, environment: 'test' },
      {
        name: 'shop',
        active: true,
        environment: 'production',
        base_url: 'https://test.example.com',
      },
    ]);
    expect((await machine.run(['profile', 'list'])).stdout).toBe(
      '  shop-test  test        test.example.com\n* shop       production  test.example.com\n',
    );

    const set = ['profile', 'set', 'shop', '--base-url', 'https://live.example.com'];
    await machine.run([...set, '--key-prefix', '']);
    await machine.run(['profile', 'rename', 'shop', 'live']);
    const exported = await machine.run(['profile', 'export', 'live']);
    expect(JSON.parse(exported.stdout)).toMatchObject({
      base_url: 'https://live.example.com',
      app_key: 'a1',
    });

    expect((await machine.run(['profile', 'delete', 'live'])).status).toBe(2);
    const removed = await machine.onTerminal(
      ['profile', 'delete', 'live'],
      [['Delete profile', 'y']],
    );
    expect(removed).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('No profile is active now'),
    });
    expect(Object.keys(file().profiles)).toEqual(['shop-test']);
    expect((await machine.run(['read', 'c'])).status).toBe(3);
    expect((await machine.run(['profile', 'path'])).stdout).toBe(`${machine.profileFile}\n`);
  });

  it('show the source of each value', async () => {
    await add('shop');
    const env = { USERINFO_CHANNEL: 'app' };
    const shown = await machine.run(['profile', 'show', '--app-key', 'a2', '--json'], { env });
    expect(JSON.parse(shown.stdout)).toMatchObject({
      profile: 'shop',
      environment: { value: 'test', origin: 'profile "shop"' },
      channel: { value: 'app', origin: 'USERINFO_CHANNEL' },
      app_key: { value: 'a2', origin: '--app-key' },
      app_secret: { value: 'set, in the profile file', origin: 'profile "shop"' },
    });
    expect((await machine.run(['profile', 'show'])).stdout).toMatch(
      /│ channel +│ web +│ profile "shop" │/,
    );
    await machine.run(['profile', 'set', 'shop', '--app-secret-env', 'PATH']);
    const { stdout } = await machine.run(['profile', 'show']);
    expect(stdout).toContain('set, in the environment variable PATH');
  });

  it('are used with -p, and repaired by profile use, if the active one does not exist', async () => {
    await add('shop');
    writeFileSync(machine.profileFile, JSON.stringify({ ...file(), active: 'gone' }));
    expect((await machine.run(['read', 'c', '--dry-run'])).stderr).toBe(
      'error: the active profile "gone" does not exist\n' +
        'Select one with -p, or for all commands:\n  userinfo profile use shop\n',
    );
    expect((await machine.run(['read', 'c', '--dry-run'])).status).toBe(3);
    expect((await machine.run(['read', 'c', '--dry-run', '-p', 'shop'])).status).toBe(0);
    expect((await machine.run(['profile', 'list'])).stdout).toMatch(/^ {2}shop /);
    expect((await machine.run(['profile', 'set', 'shop', '--channel', 'app'])).status).toBe(0);
    expect((await machine.run(['profile', 'use', 'shop'])).status).toBe(0);
    expect((await machine.run(['read', 'c', '--dry-run'])).status).toBe(0);
  });

  it('show that plain http is allowed, until it is disallowed', async () => {
    await add('shop', '--base-url', 'http://test.example.com', '--allow-http');
    expect((await machine.run(['profile', 'show'])).stdout).toMatch(
      /│ plain http +│ allowed +│ profile "shop" +│/,
    );
    // In yellow on a terminal, not with the colour's escapes as text.
    expect((await machine.run(['profile', 'show'], { shows: true })).stdout).toContain(
      '\u001b[33mallowed',
    );
    const shown = await machine.run(['profile', 'show', '--json']);
    expect(JSON.parse(shown.stdout).allow_http).toEqual({ value: true, origin: 'profile "shop"' });
    expect((await machine.run(['read', 'c', '--dry-run'])).status).toBe(0);
    // It is for the profile's own base URL.
    const other = await machine.run([
      'read',
      'c',
      '--dry-run',
      '--base-url',
      'http://other.example',
    ]);
    expect(other).toMatchObject({
      status: 2,
      stdout: '',
      stderr: expect.stringContaining('--allow-http'),
    });
    expect((await machine.run(['profile', 'set', 'shop', '--no-allow-http'])).status).toBe(0);
    expect((await machine.run(['profile', 'show'])).stdout).not.toContain('plain http');
    expect((await machine.run(['read', 'c', '--dry-run'])).status).toBe(2);
  });

  it('do not prompt if the name is in use', async () => {
    await add('shop');
    const done = await machine.run(['profile', 'add', 'shop'], { shows: true });
    expect(done).toMatchObject({
      status: 3,
      stdout: expect.stringContaining('there is a profile "shop" already'),
    });
  });

  it.skipIf(process.platform === 'win32')(
    'show a path with escape sequences as text on a terminal (needs POSIX)',
    async () => {
      const env = { USERINFO_CONFIG_DIR: join(machine.folder, 'a\u001b]0;title\u0007') };
      const shown = await machine.run(['profile', 'path'], { env, shows: true });
      expect(shown.stdout).toContain('a\\u001b]0;title\\u0007/profiles.json');
      expect((await machine.run(['profile', 'path'], { env })).stdout).toContain(
        'a\u001b]0;title\u0007/',
      );
    },
  );

  it.each([
    ['that is cut off', (text: string) => text.slice(0, -20)],
    ['with an unknown environment', (text: string) => text.replace('"test"', '"staging"')],
  ])('in a file %s are reported, and the file is left as it is', async (_, damage) => {
    await add('shop');
    const damaged = damage(readFileSync(machine.profileFile, 'utf8'));
    writeFileSync(machine.profileFile, damaged);
    for (const args of [
      ['list'],
      ['use', 'shop'],
      ['set', 'shop', '--channel', 'x'],
      ['delete', 'shop', '--yes'],
    ]) {
      const done = await machine.run(['profile', ...args]);
      expect(done).toMatchObject({ status: 3, stdout: '' });
      expect(done.stderr).toContain(machine.profileFile);
    }
    expect((await add('other')).status).toBe(3);
    expect(readFileSync(machine.profileFile, 'utf8')).toBe(damaged);
  });
});

describe.skipIf(process.platform === 'win32')(
  'a profile file that other users could have written (needs POSIX)',
  () => {
    const run = (...args: string[]) => machine.run([...args, '--dry-run']);
    const marker = () => join(machine.folder, 'was-run');
    const clientCertificate = [
      ...['--client-cert', join(certificates, 'good.crt')],
      ...['--client-key', join(certificates, 'server.key')],
    ];

    it.each([
      ['command', () => ['--app-secret-command', `touch ${marker()}; echo x`]],
      ['module', () => ['--app-secret-env', 'HOME', '--signing-module', 'signer.mjs']],
      ['header', () => ['--app-secret-env', 'HOME', '--header', 'X-Region=cn-east']],
      ['proxy', () => ['--app-secret-env', 'HOME', '--proxy', 'http://proxy.example:3128']],
      ['CA file', () => ['--app-secret-env', 'HOME', '--ca-file', caFile]],
      ['client certificate', () => ['--app-secret-env', 'HOME', ...clientCertificate]],
    ])('has no %s of it used', async (what, options) => {
      machine.apart = what === 'module'; // a process evaluates a module once
      writeFileSync(
        join(machine.folder, 'signer.mjs'),
        `import { writeFileSync } from 'node:fs';
       writeFileSync(${JSON.stringify(marker())}, '');
       export const sign = () => ({ digest: 'x' });
       export const app_sign = sign;`,
      );
      const added = await machine.run(['profile', 'add', 'shop', ...values, ...options()]);
      expect(added.status).toBe(0);
      rmSync(marker(), { force: true });
      const shared: (readonly [share: () => void, undo: () => void])[] = [
        [() => chmodSync(machine.profileFile, 0o620), () => chmodSync(machine.profileFile, 0o600)],
        [
          () => chmodSync(machine.configFolder, 0o777),
          () => chmodSync(machine.configFolder, 0o700),
        ],
        [() => chmodSync(machine.folder, 0o777), () => chmodSync(machine.folder, 0o700)],
      ];
      if (process.geteuid?.() === 0) {
        shared.push([
          () => chownSync(machine.configFolder, 4002, 4002),
          () => chownSync(machine.configFolder, 0, 0),
        ]);
      }
      for (const [share, undo] of shared) {
        share();
        const refused = await run('read', 'c1');
        undo();
        expect(refused).toMatchObject({ status: 3, stdout: '' });
        expect(refused.stderr).toMatch(
          /(other users|another user \(uid 4002\)): what the profile runs, loads or sends in headers is not used/,
        );
        expect(existsSync(marker())).toBe(false);
      }
      expect((await run('read', 'c1')).status).toBe(0);
      expect(existsSync(marker())).toBe(what === 'command' || what === 'module');
    });
  },
);

describe('admin app create --profile', () => {
  const create = (name: string, ...more: string[]) =>
    machine.run(
      ['admin', 'app', 'create', '--tenant-code', 'acme', '--channel', 'web', '-p', name, ...more],
      { env: { XDG_DATA_HOME: machine.folder } },
    );
  const apps = async () => {
    const list = await machine.run(['admin', 'app', 'list', '-o', 'ndjson'], {
      env: { XDG_DATA_HOME: machine.folder },
    });
    return list.stdout.split('\n').length - 1;
  };

  it('writes a new profile; one that exists is left alone, and no app is made', async () => {
    expect(await create('local')).toMatchObject({ status: 0 });
    const before = readFileSync(machine.profileFile);
    const again = await create('local');
    expect(again).toMatchObject({ status: 3, stdout: '' });
    expect(again.stderr).toContain('there is a profile "local" already');
    expect(readFileSync(machine.profileFile)).toEqual(before);
    expect(await apps()).toBe(1);
  });

  it.each([
    ['a bad name', 'a b', 3],
    ['a profile file that cannot be written', 'local', 3],
  ])('makes no app for %s', async (_, name, status) => {
    if (name === 'local') writeFileSync(machine.configFolder, 'a file in the place of the folder');
    expect(await create(name)).toMatchObject({ status });
    rmSync(machine.configFolder, { force: true, recursive: true });
    expect(await create('other')).toMatchObject({ status: 0 });
    expect(await apps()).toBe(1);
  });

  it('names the database folder if it cannot be created', async () => {
    const file = join(machine.folder, 'file');
    writeFileSync(file, '');
    for (const args of [
      ['admin', 'app', 'create', '--tenant-code', 'acme', '--channel', 'web'],
      ['serve', '--port', '0'],
    ]) {
      const done = await machine.run(args, { env: { XDG_DATA_HOME: file } });
      expect(done).toMatchObject({ status: 2, stdout: '' });
      expect(done.stderr).toMatch(
        /^error: cannot create the data folder .*: a part of the path is a file/,
      );
      expect(done.stderr).toContain('--database <file>');
    }
  });
});
