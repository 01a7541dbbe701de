import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Check } from '../../../../src/cli/commands/doctor/index.js';
import type { RunOptions } from '../../../support/cli.js';
import { httpProxy } from '../../../support/http-proxy.js';
import { httpServer, tcpServer } from '../../../support/raw-server.js';
import { ServedMachine } from '../../../support/served.js';
import { caFile, tlsServer } from '../../../support/tls-server.js';

let machine: ServedMachine;

beforeAll(async () => {
  machine = await ServedMachine.create();
});
afterAll(() => machine[Symbol.asyncDispose]());

/** The exit status, what is said on stderr, and the checks by name. */
async function diagnose(args: readonly string[] = [], options: RunOptions = {}) {
  const { status, stdout, stderr } = await machine.run(['doctor', '--json', ...args], options);
  const checks: Check[] = JSON.parse(stdout);
  const named = Object.fromEntries(checks.map((check) => [check.check, check]));
  const failed = checks.filter((check) => check.status === 'failed').map(({ check }) => check);
  return { status, stderr, checks: named, failed };
}

describe('doctor', () => {
  it('finds nothing wrong with a working profile, and sends only one read unless it may ask', async () => {
    const logged = machine.log.length;
    const done = await machine.run(['doctor']);
    expect(done).toMatchObject({ status: 0, stderr: '' });
    const lines = done.stdout.trimEnd().split('\n');
    expect(lines.filter((line) => !line.startsWith(' '))).toHaveLength(12);
    expect(lines.filter((line) => !/^(?:[✓–] | {16})/.test(line))).toEqual([]);
    expect(done.stdout).toMatch(/^✓ profile file {2}.*profiles\.json: 1 profile, "local" active$/m);
    expect(done.stdout).toMatch(
      /^✓ signing {7}by the default recipes: app_sign has 32 characters, sign 32$/m,
    );
    expect(done.stdout).toMatch(/^✓ read {10}only the code was refused, as expected/m);
    expect(done.stdout).toMatch(/^– passback {6}not asked$/m);
    await expect
      .poll(() => machine.log.slice(logged).trimEnd().split('\n'))
      .toEqual([expect.stringContaining('401 read')]);
  });

  it('says with --yes of each operation that its signatures are accepted, and changes nothing', async () => {
    const logged = machine.log.length;
    const { status, checks } = await diagnose(['--yes']);
    expect(status).toBe(0);
    for (const name of ['read', 'passback'] as const) {
      expect(checks[name]).toMatchObject({
        status: 'ok',
        detail: expect.stringMatching(/^app_sign and sign were accepted: .*, a wrong sign 40103 /),
      });
    }
    const lines = machine.log.slice(logged).split('\n');
    const requests = lines.filter((line) => / \d{3} (?:read|passback) /.test(line));
    expect(requests.length).toBeGreaterThan(8);
    expect(requests.length).toBeLessThanOrEqual(20);
    expect(requests.filter((line) => / 200 /.test(line))).toEqual([]);
  });

  it('reports that plain http is allowed, and how to disallow it', async () => {
    await machine.run(['profile', 'set', 'local', '--allow-http']);
    const { status, checks } = await diagnose();
    expect(status).toBe(0);
    expect(checks.base_url?.next).toMatch(
      /^Warning: plain http is allowed \(profile "local"\): .*To disallow it:$/,
    );
    expect(checks.base_url?.commands).toEqual(['userinfo profile set local --no-allow-http']);
    await machine.run(['profile', 'set', 'local', '--no-allow-http']);
    expect((await diagnose()).checks.base_url?.next).toBeNull();
  });

  it('reports that the active profile does not exist', async () => {
    const stored = readFileSync(machine.profileFile, 'utf8');
    writeFileSync(machine.profileFile, stored.replace('"active": "local"', '"active": "gone"'));
    const { status, checks, failed } = await diagnose(['-p', 'local']);
    writeFileSync(machine.profileFile, stored);
    expect({ status, failed }).toEqual({ status: 0, failed: [] });
    expect(checks.profile_file?.next).toContain('the active profile does not exist');
  });

  it.each<[string, readonly string[], RunOptions, number, string, RegExp]>([
    ['an unknown app key', ['--app-key', 'other'], {}, 4, 'read', /^Check the app key, and/],
    ['another channel', ['--channel', 'other'], {}, 4, 'read', /tenant code and the channel/],
    [
      'a wrong secret',
      [],
      { env: { USERINFO_APP_SECRET: 'mistyped-4711' } },
      4,
      'read',
      /^Signed with the secret in USERINFO_APP_SECRET, not that of profile "/,
    ],
    [
      'a closed port',
      ['--base-url', 'http://127.0.0.1:9'],
      {},
      5,
      'connection',
      /service is running there/,
    ],
    [
      'an unknown host',
      ['--base-url', 'https://nowhere.invalid'],
      {},
      5,
      'connection',
      /^Check the base URL/,
    ],
    ['https where http is spoken', ['--base-url', 'https'], {}, 5, 'tls', /http or https/],
    [
      'plain http elsewhere',
      ['--base-url', 'http://nowhere.invalid'],
      {},
      2,
      'base_url',
      /--allow-http/,
    ],
    ['another path', ['--base-url', 'path'], {}, 4, 'read', /^Check the base URL: the/],
    ['an unknown profile', ['-p', 'loacl'], {}, 3, 'settings', /Did you mean "local"/],
    ['no profile', [], { env: { USERINFO_CONFIG_DIR: '/none' } }, 3, 'settings', /profile add/],
    [
      'no proxy where one is named',
      ['--base-url', 'https://nowhere.invalid'],
      { env: { HTTPS_PROXY: 'x://' } },
      2,
      'proxy',
      /http:\/\/host:port/,
    ],
  ])('finds %s, and suggests the next step', async (_, args, options, status, check, next) => {
    const own = { https: machine.url.replace('http', 'https'), path: `${machine.url}/other` };
    const given = args.map((arg) => own[arg as keyof typeof own] ?? arg);
    const found = await diagnose(given, options);
    expect(found).toMatchObject({ status, stderr: expect.stringContaining('a check failed') });
    expect(found.failed[0]).toBe(check);
    const { next: sentence, commands } = found.checks[check] ?? {};
    expect([sentence, ...(commands ?? [])].join('\n')).toMatch(next);
  });

  it('finds a profile file that others can read', async () => {
    chmodSync(machine.profileFile, 0o640);
    const found = await diagnose();
    const shown = (await machine.run(['doctor'])).stdout;
    chmodSync(machine.profileFile, 0o600);
    expect(shown).toMatch(/mode 0640.*\n +Restrict it:\n +chmod 600 /);
    expect(found).toMatchObject({ status: 3, failed: ['profile_file'] });
    expect(found.checks.profile_file).toMatchObject({
      detail: expect.stringContaining('mode 0640'),
      next: 'Restrict it:',
      commands: [`chmod 600 ${machine.profileFile}`],
    });
  });

  it('finds a damaged profile file', async () => {
    const text = readFileSync(machine.profileFile, 'utf8');
    writeFileSync(machine.profileFile, text.slice(0, -20));
    const found = await diagnose();
    writeFileSync(machine.profileFile, text);
    expect(found).toMatchObject({ status: 3, failed: ['profile_file'] });
  });

  it('finds a missing secret, or one copied with white space', async () => {
    await machine.run(['profile', 'set', 'local', '--app-secret-env', 'SHOP_SECRET']);
    const missing = await diagnose();
    expect(missing).toMatchObject({ status: 3, failed: ['app_secret'] });
    expect(missing.checks).toMatchObject({ signing: { status: 'skipped', detail: 'not reached' } });
    const spaced = await diagnose([], { env: { SHOP_SECRET: 'mistyped-4711 ' } });
    expect(spaced.checks.app_secret).toMatchObject({
      status: 'ok',
      next: expect.stringContaining('white space around it'),
    });
    expect(spaced.failed).toEqual(['read']);
  });
});

describe('doctor reports a service', () => {
  const env = { SHOP_SECRET: 's' };
  const answering = (code: number, aheadMs = 0) =>
    httpServer((_, response) => {
      response.setHeader('date', new Date(Date.now() + aheadMs).toUTCString());
      response.end(JSON.stringify({ code, msg: 'no', data: {} }));
    });

  it('whose clock differs, with the difference', async () => {
    for (const [seconds, said] of [
      [400, /^(\d+) s behind/],
      [-400, /^(\d+) s ahead of/],
    ] as const) {
      const server = await answering(40106, seconds * 1000);
      const found = await diagnose(['--base-url', server.url], { env });
      await server.close();
      expect(found).toMatchObject({ status: 4, failed: ['clock'] });
      const reported = Number(said.exec(found.checks.clock?.detail ?? '')?.[1]);
      const tookMs = Number(/after (\d+) ms/.exec(found.checks.answer?.detail ?? '')?.[1]);
      // The server read its clock somewhere in that time; a Date header has whole seconds.
      expect(Math.abs(reported - 400)).toBeLessThanOrEqual(1 + tookMs / 2000);
    }
  });

  it('with its own result codes, as inconclusive', async () => {
    const server = await answering(1001);
    const found = await diagnose(['--base-url', server.url], { env });
    await server.close();
    expect(found).toMatchObject({ status: 0, failed: [] });
    expect(found.checks.read).toMatchObject({
      status: 'skipped',
      detail: expect.stringContaining('1001'),
      commands: ['userinfo probe -p local --code "$code" --save-profile'],
    });
  });

  it('that has nothing at the address, with the base URL as the cause', async () => {
    const server = await httpServer((_, response) => {
      response.statusCode = 404;
      response.end('{"code":24126,"msg":"not found","data":{}}');
    });
    const found = await diagnose(['--base-url', server.url], { env });
    const read = await machine.run(['read', 'c1', '--base-url', server.url], { env });
    const args = ['sign', 'try', '--base-url', server.url, '--rate', '1000000/s'];
    const dialogue = [
      ['Send up to 150 requests', 'y'],
      ['Send up to 450 more', 'n'],
    ] as const;
    const asked = await machine.onTerminal(args, dialogue, { env });
    await server.close();
    const advice = 'Check the base URL first: its path may lack a part';
    expect(found.checks.answer?.next).toContain(advice);
    expect(read.stderr).toContain(advice);
    const words = asked.stdout.replaceAll(/\s+/g, ' ');
    expect(words).toContain(`Each answer was 24126 "not found". ${advice}`);
  });

  it('that is something else, with what answered', async () => {
    const server = await httpServer((_, response) => response.end('<title>Welcome</title>'));
    const found = await diagnose(['--base-url', server.url], { env });
    await server.close();
    expect(found).toMatchObject({ status: 5, failed: ['answer'] });
    expect(found.checks.answer?.detail).toContain('Welcome');
  });

  it('that is silent, and ends when it is interrupted', async () => {
    const server = await tcpServer(() => {});
    const there = ['--base-url', server.url.replace('http:', 'https:')];
    const found = await diagnose([...there, '--timeout', '300ms'], { env });
    expect(found).toMatchObject({ status: 5, failed: ['connection'] });
    expect(found.checks.connection?.detail).toContain('300 ms');
    await server.close();

    let doctor: ChildProcess | undefined;
    const slow = await tcpServer(() => doctor?.kill('SIGINT'));
    doctor = machine.start(['doctor', '--base-url', slow.url], { env });
    expect(await once(doctor, 'exit')).toEqual([130, null]);
    await slow.close();
  });

  it.each([
    ['good', [], 'tls', /--ca-file/],
    ['self-signed', ['--ca-file', caFile], 'tls', /--ca-file/],
    ['expired', ['--ca-file', caFile], 'tls', /renew/],
    ['other-host', ['--ca-file', caFile], 'tls', /another host/],
  ] as const)(
    'with the certificate "%s", %j, says what to do',
    async (certificate, args, check, next) => {
      const server = await tlsServer(certificate, machine.url);
      const found = await diagnose(['--base-url', server.url, ...args], { env });
      await server.close();
      expect(found).toMatchObject({ status: 5, failed: [check] });
      const { next: sentence, commands } = found.checks[check] ?? {};
      expect([sentence, ...(commands ?? [])].join('\n')).toMatch(next);
    },
  );

  it('with a valid certificate, directly and through a proxy', async () => {
    const server = await tlsServer('good', machine.url);
    const straight = await diagnose(['--base-url', server.url, '--ca-file', caFile], { env });
    expect(straight.checks.tls).toMatchObject({
      status: 'ok',
      detail: 'encrypted, with a valid certificate',
    });

    const proxy = await httpProxy(server.url);
    const far = ['--base-url', 'https://service.example', '--ca-file', caFile];
    const through = await diagnose(far, { env: { ...env, HTTPS_PROXY: proxy.url } });
    expect(through.checks).toMatchObject({
      proxy: { status: 'ok', detail: `${new URL(proxy.url).host} (HTTPS_PROXY)` },
      connection: {
        status: 'ok',
        detail: expect.stringContaining(`service.example through ${new URL(proxy.url).host}`),
      },
      tls: { status: 'ok' },
      answer: { status: 'ok' },
    });
    await proxy.close();

    const closed = await httpProxy(server.url, { refuses: 403 });
    const refused = await diagnose(far, { env: { ...env, HTTPS_PROXY: closed.url } });
    expect(refused).toMatchObject({ status: 5, failed: ['connection'] });
    expect(refused.checks.connection?.detail).toContain('HTTP 403');
    await Promise.all([closed.close(), server.close()]);
  });

  it('in production, and writes nothing', async () => {
    const server = await answering(40106);
    const found = await diagnose(['--base-url', server.url, '--environment', 'production'], {
      env,
    });
    await server.close();
    expect(found).toMatchObject({
      status: 0,
      stderr: `production: profile "local", ${new URL(server.url).host}\n`,
    });
    expect(found.checks.settings?.detail).toMatch(/^production, /);
    expect(server.requests.map(({ method }) => method)).toEqual(['GET']);
  });
});

it('never shows a secret', () => {
  expect(machine.printed).not.toContain('mistyped-4711 ');
});
