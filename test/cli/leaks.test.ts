import { type Dirent, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withoutPassword } from '../../src/cli/command-line/database.js';
import { outputFormats } from '../../src/cli/command-line/options.js';
import { tcpServer } from '../support/raw-server.js';
import { ServedMachine } from '../support/served.js';

/** What is about a person, in texts that nothing else in the run can be. */
const personal = {
  mobile: '13912345678',
  id_card: '330102199001019876',
  device_token: 'tok-7f3a-9921-device',
  gps: '120.155070,30.274085',
  chat_nickname: '欧阳无痕居士阁下先生您好啊',
};
const record = {
  tenant_code: 'acme',
  union_id: 'u001',
  basic_info: {
    mobile: personal.mobile,
    id_card: personal.id_card,
    chat_nickname: personal.chat_nickname,
  },
  login_device_info: [{ brand: 'Acme', device_token: personal.device_token }],
  gps: personal.gps,
};
const userInfo = JSON.stringify({ ...personal, note: 'x' });
const names = ['mobile,id_card,gps,chat_nickname', 'device_info', 'location_info'];

/** Files whose first line is a row. */
const withoutHeader = [',', ';', ' ,'].map(
  (between) => `${[personal.mobile, personal.chat_nickname, personal.id_card].join(between)}\nx\n`,
);
withoutHeader.push(`${personal.mobile},${personal.mobile}\nx,y\n`, `${personal.id_card}\nx\n`);
const valuesAsNames = JSON.stringify({
  union_id: 'u001',
  [personal.mobile]: 'x',
  [personal.id_card]: 'y',
});

let machine: ServedMachine;
let secret: string;

beforeAll(async () => {
  machine = await ServedMachine.create();
  await machine.admin(['user', 'put'], JSON.stringify(record));
  secret = JSON.parse(readFileSync(machine.profileFile, 'utf8')).profiles.local.secret.value;
  writeFileSync(
    join(machine.folder, 'rows.ndjson'),
    `${JSON.stringify({ union_id: 'u001', ...personal })}\n`,
  );
});

afterAll(() => machine[Symbol.asyncDispose]());

/**
 * Commands that print nothing of a person, each with what it reads from standard input. `CODE` is a
 * fresh code.
 */
const commands: readonly (readonly [args: readonly string[], stdin?: string])[] = [
  [['passback', '--user-info', '-', '--union-id', 'u001', '--verbose'], userInfo],
  [
    [
      'passback',
      `mobile=${personal.mobile}`,
      ...'a=x --primary-key mobile --verbose --json'.split(' '),
    ],
  ],
  [
    [
      'passback',
      `mobile=${personal.mobile}`,
      `mobile=${personal.mobile}`,
      '--union-id',
      'u001',
      '--verbose',
    ],
  ],
  [['passback', `mobile:=${personal.mobile}x`, '--union-id', 'u001', '--verbose']],
  [['passback', '--user-info', '-', '--union-id', 'nobody', '--verbose'], userInfo],
  [['passback', '--user-info', '-', '--union-id', 'u001', '--verbose'], userInfo.slice(0, -3)],
  [['passback', '--user-info', '-', '--union-id', 'u001', '--print-curl'], userInfo],
  [['passback', '--user-info', '-', '--union-id', 'u001', '--dry-run', '--json'], userInfo],
  [
    [
      'passback',
      '--user-info',
      '-',
      '--union-id',
      'u001',
      '--base-url',
      'http://127.0.0.1:9',
      '--verbose',
    ],
    userInfo,
  ],
  [['bulk', 'passback', 'rows.ndjson', '--verbose']],
  ...withoutHeader.flatMap((text) => [
    [['bulk', 'passback', '-'], text] as const,
    [['bulk', 'passback', '-', '--primary-key', 'mobile'], text] as const,
    [['bulk', 'read', '-', '--json'], text] as const,
  ]),
  [['bulk', 'passback', '-', '--format', 'ndjson', '--dry-run', '--json'], valuesAsNames],
  [['bulk', 'passback', '-', '--format', 'ndjson', '--dry-run'], valuesAsNames],
  [['bulk', 'passback', 'rows.ndjson', '--dry-run', '--verbose']],
  [['read', 'CODE', '--mask', '--verbose']],
  ...outputFormats.map((format) => [['read', 'CODE', ...names, '--mask', '-o', format]] as const),
  [['read', 'CODE', '--mask', '--query', 'data.basic_info.mobile']],
  [['read', 'CODE', '--print-curl']],
  [['read', 'CODE', '--dry-run', '--verbose']],
  [['read', 'CODE', '--channel', 'other', '--verbose']],
  [['read', 'CODE', '--app-key', 'nobody', '--verbose', '--json']],
  [['read', 'CODE', '--mask', '--base-url', 'http://127.0.0.1:9/', '--attempts', '2', '--verbose']],
  [['sign', 'explain', 'read', 'CODE', '--mask']],
  [['profile', 'list', '--json']],
  [['profile', 'show', '--verbose']],
  [['profile', 'export', 'local']],
  [['profile', 'rename', 'local', 'other']],
  [['profile', 'rename', 'other', 'local']],
  [['profile', 'add', 'broken', '--app-secret', 'never-to-be-seen-4711']],
  [['doctor', '--json']],
  [['doctor', '--verbose']],
  [['completion', 'bash']],
  ['admin user show --tenant-code acme --union-id u001 --mask --database userinfo.db'.split(' ')],
  [['admin', 'user', 'list', '--tenant-code', 'acme', '--mask', '--database', 'userinfo.db']],
  [['admin', 'app', 'list', '--json', '--database', 'userinfo.db']],
];

/**
 * The files of a run, but for the service's own database, the profiles and what we wrote ourselves.
 */
function writtenFiles(): string[] {
  const ours = /userinfo\.db|profiles\.json$|rows\.ndjson$/;
  const entries: Dirent[] = readdirSync(machine.folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !ours.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}

describe('no secret and no personal data is in', () => {
  it.each(commands.map(([args, stdin = '']) => ({ args, stdin, line: args.join(' ') })))(
    'the output and the files of userinfo $line',
    async ({ args, stdin }) => {
      const code = args.includes('CODE') ? await machine.issueCode() : 'CODE';
      const filled = args.map((arg) => (arg === 'CODE' ? code : arg));
      const logged = machine.log.length;
      const done = await machine.run(['-p', 'local', ...filled], { stdin });
      const shown = [done.stdout, done.stderr, machine.log.slice(logged)].join('\n');
      expect(done.status).not.toBe(1);
      expect(done.stdout + done.stderr).not.toBe('');
      const traced = args.includes('explain')
        ? []
        : [code === 'CODE' ? 'never-to-be-seen-4711' : code];
      const files = writtenFiles().map((file) => [file, readFileSync(file, 'latin1')] as const);
      for (const value of [secret, ...Object.values(personal), ...traced]) {
        expect(shown).not.toContain(value);
        const bytes = Buffer.from(value).toString('latin1');
        for (const [file, content] of files)
          expect([file, content.includes(bytes)]).toEqual([file, false]);
      }
    },
  );
});

const typed = 'never-to-be-seen-4711';

it.each([
  ['profile', 'add', 'x', `--app-secert=${typed}`],
  ['profile', 'set', 'local', `--app-secret-stdin=${typed}`],
  ['read', 'c', `--app-secret=${typed}`],
  ['read', 'c', `--secret=${typed}`],
  ['admin', 'app', 'list', `--secret=${typed}`],
  ['sign', 'solve', `--secret=${typed}`],
  [`--secret=${typed}`, 'read', 'c'],
  ['read', 'c', `-s${typed}`],
  ...[
    `postgres:/u:${typed}@h`,
    ` postgres://u:${typed}@h/d`,
    `"postgres://u:${typed}@h/d"`,
    `postgres//u:${typed}@h/d`,
    `postgresql:u:${typed}@h/d`,
    `u:${typed}@h/d`,
    `pg ://u:${typed}@h/d`,
  ].map((url) => ['admin', 'app', 'list', '--database', url]),
])('a secret in the wrong argument is not shown by userinfo %s %s %s %s %s', async (...args) => {
  const done = await machine.run(args);
  expect(done).toMatchObject({ status: 2, stdout: '' });
  expect(done.stderr).not.toContain(typed);
  expect(readdirSync(machine.folder).filter((file) => file.includes(typed))).toEqual([]);
});

it('the password of a proxy is shown by --print-curl --reveal alone', async () => {
  const env = { USERINFO_PROXY: `http://me:${typed}@proxy.example:3128` };
  const there = ['-p', 'local', '--base-url', 'https://service.example'];
  const curl = ['read', 'c', ...there, '--print-curl'];
  for (const args of [
    curl,
    ['profile', 'show', ...there],
    ['profile', 'show', ...there, '--json'],
  ]) {
    const { status, stdout, stderr } = await machine.run(args, { env });
    expect(stdout).toContain('http://****@proxy.example:3128');
    expect(status).toBe(0);
    expect(stdout + stderr).not.toContain(typed);
  }
  const revealed = await machine.run([...curl, '--reveal'], { env });
  expect(revealed.stdout).toContain(`--proxy ${env.USERINFO_PROXY} `);
});

it('a read shows personal data unless --mask is set', async () => {
  const done = await machine.run(['-p', 'local', 'read', await machine.issueCode(), '--verbose']);
  expect(done.stdout).toContain(personal.mobile);
  expect(done.stderr).toMatch(/^> {3}sign=[0-9a-f]{8}…$/m);
  for (const value of Object.values(personal)) expect(done.stderr).not.toContain(value);
});

it('--mask changes nothing else in the received JSON', async () => {
  const read = async (...args: string[]) =>
    (await machine.run(['-p', 'local', 'read', await machine.issueCode(), '--json', ...args]))
      .stdout;
  const masked = (await read()).replaceAll(
    /("(?:mobile|id_card|chat_nickname|device_token|gps)":)"[^"]+"/g,
    '$1"?"',
  );
  expect((await read('--mask')).replaceAll(/"[^"]*\*\*\*\*[^"]*"/g, '"?"')).toBe(masked);
});

it.skipIf(process.platform !== 'linux')(
  'the secret is not among the arguments that every process can see (needs Linux)',
  async () => {
    const seen: string[] = [];
    const silent = await tcpServer(() => {
      seen.push(readFileSync(`/proc/${child.pid}/cmdline`, 'utf8'));
      child.kill();
    });
    const child = machine.start(['-p', 'local', 'read', 'c', '--base-url', silent.url]);
    await new Promise((resolve) => child.once('close', resolve));
    await silent.close();
    expect(seen.join()).toContain('read');
    expect(seen.join()).not.toContain(secret);
  },
);

it.each([
  ['postgres://me:secret@db.example/app', 'postgres://me@db.example/app'],
  [
    '--database=postgresql://me:se@cret@db.example/app',
    '--database=postgresql://me@db.example/app',
  ],
  [
    'postgres://db/app?password=secret&sslpassword=secret&sslmode=require',
    'postgres://db/app?sslmode=require',
  ],
  ['a.csv?password=x', 'a.csv?password=x'],
])('a command to paste has no password of a database: %s', (given, shown) => {
  expect(withoutPassword(given)).toBe(shown);
});
