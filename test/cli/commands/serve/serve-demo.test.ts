import { readFileSync, statSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Machine, printedBy } from '../../../support/cli.js';
import { createSchema } from '../../../support/postgres/test-schema.js';

let machine: Machine;

beforeEach(() => {
  machine = new Machine();
});

afterEach(() => machine[Symbol.dispose]());

/** Serves a demo while `work` is done; gives all that it printed. */
async function serveDemo(
  args: readonly string[],
  work: (commands: string[], url: string) => Promise<void>,
): Promise<string> {
  const service = machine.start(['serve', '--demo', '--port', '0', ...args]);
  let printed = '';
  service.stderr?.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
  });
  const ended = new Promise((resolve) => service.once('close', resolve));
  try {
    const [, commands = '', url = ''] = await printedBy(
      service,
      /another terminal:\n(.*)\nand open (\S+) in a browser/s,
    );
    await work(
      commands.split('\n').map((line) => line.trim()),
      url,
    );
  } finally {
    service.kill();
    await ended;
  }
  return printed;
}

const secretIn = (file: string): string =>
  JSON.parse(readFileSync(file, 'utf8')).profiles.demo.secret.value;

describe('serve --demo', { timeout: 60_000 }, () => {
  it('prints commands that work, the last of them refused and shown on the page', async () => {
    const database = `${machine.folder}/demo store.db`;
    const printed = await serveDemo(
      ['--database', database],
      async ([read, passback, wrong], url) => {
        const [one, two, three] = [
          await machine.shell(read ?? ''),
          await machine.type(passback ?? ''),
          await machine.shell(wrong ?? ''),
        ];
        expect(one).toMatchObject({ status: 0, stdout: expect.stringContaining('13800138000') });
        expect(two.status).toBe(0);
        expect(three).toMatchObject({ status: 4, stdout: expect.stringContaining('40102') });
        expect(three.stderr).toContain(
          '\nSigned with the secret in USERINFO_APP_SECRET, not that of profile "demo", by the default recipes.\n',
        );
        const [explain = '', solve, tryPresets, doctor = ''] = [
          ...three.stderr.matchAll(/^ {2}(userinfo .+)$/gm),
        ].map(([, text]) => text);
        expect((await machine.type(explain)).stdout).toContain('&key=<secret>');
        expect(solve).toBe('userinfo sign solve - --save demo -p demo');
        expect(tryPresets).toBe('userinfo sign try --save demo -p demo');
        expect((await machine.type(doctor)).status).toBe(0);
        const page = await (await fetch(url)).text();
        expect(page).toContain('It was signed with the app key in place of the secret.');
      },
    );
    const secret = secretIn(machine.profileFile);
    expect(secret).toMatch(/^\w{32}$/);
    expect(statSync(machine.profileFile).mode & 0o777).toBe(0o600);
    expect(printed + machine.printed).not.toContain(secret);
  });

  it('can be started again, with another secret', async () => {
    const database = ['--database', `${machine.folder}/demo.db`];
    expect(await serveDemo(database, async () => {})).not.toContain('profile "demo" was');
    const first = secretIn(machine.profileFile);
    await machine.run(['profile', 'set', 'demo', '--base-url', 'http://127.0.0.1:9']);
    const again = await serveDemo(database, async ([, passback]) => {
      expect(await machine.type(passback ?? '')).toMatchObject({ status: 0 });
    });
    expect(again).toContain('profile "demo" was of http://127.0.0.1:9, and is of ');
    expect(secretIn(machine.profileFile)).not.toBe(first);
  });

  it('in memory prints a code to read with', async () => {
    await serveDemo(['--database', ':memory:'], async ([read]) => {
      expect(read).toMatch(/^userinfo read \w{32} -p demo$/);
      expect(await machine.type(read ?? '')).toMatchObject({ status: 0 });
    });
  });

  it('prints commands without the password of its database', async () => {
    const schema = await createSchema();
    const database = new URL(schema.url);
    database.password = 'a-password';
    const printed = await serveDemo(['--database', database.href], async ([read = '']) => {
      expect(read).toContain(" --database 'postgres");
      expect(await machine.shell(read)).toMatchObject({ status: 0 });
    });
    expect(printed).not.toContain('a-password');
    await schema.remove();
  });

  it.each([
    ['elsewhere', 'https://example.com'],
    ['on this machine', 'http://127.0.0.1:9'],
  ])('overwrites no profile of another service %s', async (_, baseUrl) => {
    const own = ['--tenant-code', 't', '--channel', 'c', '--app-key', 'k', '--app-secret-env', 'S'];
    const url = ['--base-url', baseUrl];
    expect((await machine.run(['profile', 'add', 'demo', ...own, ...url])).status).toBe(0);
    const before = readFileSync(machine.profileFile, 'utf8');
    const refused = await machine.run(['serve', '--demo', '--port', '0', '--database', ':memory:']);
    expect(refused).toMatchObject({ status: 2, stdout: '' });
    expect(refused.stderr).toBe(
      'error: profile "demo" is for another service: it is not overwritten\n' +
        'Rename it, or remove it:\n  userinfo profile rename demo demo-old\n  userinfo profile delete demo\n',
    );
    expect(readFileSync(machine.profileFile, 'utf8')).toBe(before);
  });

  it.each([
    [['--demo', '--host', '0.0.0.0'], '--demo only works on this machine, not on "0.0.0.0"'],
  ])('refuses %j, which does not go together', async (args, said) => {
    const refused = await machine.run([
      ...'serve --port 0 --database'.split(' '),
      `${machine.folder}/x.db`,
      ...args,
    ]);
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain(said);
  });
});
