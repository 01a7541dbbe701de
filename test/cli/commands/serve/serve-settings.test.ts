import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { migrateDatabase } from '../../../../src/service/migrate.js';
import { Machine, printedBy } from '../../../support/cli.js';

let machine: Machine;
let service: ChildProcess | undefined;

beforeEach(() => {
  machine = new Machine();
});
afterEach(() => {
  service?.kill('SIGKILL');
  machine[Symbol.dispose]();
});

const write = (file: string, lines: readonly string[]) =>
  writeFileSync(join(machine.folder, file), lines.map((line) => `${line}\n`).join(''));

async function serve(args: readonly string[], env: Record<string, string> = {}) {
  service = machine.start(['serve', ...args], { env });
  return (await printedBy(service, /(?:"listening","url":"|listening on )(http:[^"\s]+)/))[1] ?? '';
}

const put = async (url: string, bytes: number) =>
  (
    await fetch(`${url}/api/v1/server/user/passback_user_info`, {
      method: 'PUT',
      body: 'x'.repeat(bytes),
    })
  ).status;

it('a setting is a flag, else a variable', async () => {
  const env = {
    PORT: '0',
    DATABASE_URL: ':memory:',
    USERINFO_LOG_FORMAT: 'json',
    USERINFO_MAX_BODY: '1KiB',
    USERINFO_HOST: 'localhost',
  };
  const url = await serve(['--host', '127.0.0.1'], env);
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect([await put(url, 1000), await put(url, 1100)]).toEqual([400, 413]);
});

it('accepts two admin tokens, while one replaces the other, and deletes lines of the audit at their age', async () => {
  const tokens = [randomBytes(16).toString('hex'), randomBytes(16).toString('hex')];
  await migrateDatabase({ database: machine.database, actor: 'anna' });
  const tables = new DatabaseSync(machine.database);
  tables.exec(
    "INSERT INTO audit SELECT at - 3 * 86400, 'old', 'ben', action, NULL, subject, NULL, NULL FROM audit",
  );
  const env = { USERINFO_ADMIN_TOKEN: tokens.join(','), USERINFO_AUDIT_DAYS: '2' };
  const args = ['serve', '--port', '0', '--admin-port', '0', '--database', machine.database];
  service = machine.start(args, { env });
  const [, url = ''] = await printedBy(service, /monitoring on (http:\S+)/);
  const post = async (token = '') => {
    const headers = { authorization: `Bearer ${token}` };
    return (await fetch(`${url}/codes`, { method: 'POST', headers, body: '{}' })).status;
  };
  // The body is refused after the token.
  expect([await post(tokens[0]), await post(tokens[1]), await post(tokens.join(','))]).toEqual([
    400, 400, 401,
  ]);
  const actors = () => tables.prepare('SELECT actor FROM audit').all();
  await expect.poll(actors).toEqual([{ actor: 'anna' }]);
  tables.close();
});

const token = ',0123456789abcdef';
const memory = { DATABASE_URL: ':memory:' };
const size =
  "error: option '--max-body <size>' value 'much' from env 'USERINFO_MAX_BODY' is invalid. Write it as";
const level =
  "value 'debug' from env 'USERINFO_LOG_LEVEL' is invalid. Allowed choices are info, warn, error.";
it.each<[said: string, env: Record<string, string>, ...args: string[]]>([
  [size, { USERINFO_MAX_BODY: 'much' }],
  [level, { USERINFO_LOG_LEVEL: 'debug' }],
  ['USERINFO_NO_PAGE: "perhaps" is neither on nor off', { USERINFO_NO_PAGE: 'perhaps' }],
  ['is missing before or after a comma', { USERINFO_ADMIN_TOKEN: token }, '--admin-port', '0'],
  ['--port and --admin-port are both 8787', { PORT: '8787', USERINFO_ADMIN_PORT: '8787' }],
  ['"0.0.0.0/0" is not an address', { ...memory, USERINFO_TRUST_PROXY: '0.0.0.0/0' }],
  ['"all" is not an address', { ...memory, USERINFO_TRUST_PROXY: 'all' }],
  ["value 'http' from env 'PORT' is invalid. Give a number", { PORT: 'http' }],
  ['--host is empty', {}, '--host', ''],
  ['--public-url', {}, '--public-url', 'ftp://x'],
])(
  'refuses what is wrong in the environment as it does in a flag: %s',
  async (said, env, ...args) => {
    const refused = await machine.run(['serve', ...args], { env });
    expect(refused).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining(said) });
  },
);

it('counts an empty variable as not set, and a switch of 0 as off', async () => {
  const env = {
    DATABASE_URL: ':memory:',
    USERINFO_PORT: '',
    PORT: '0',
    USERINFO_NO_PAGE: '1',
    USERINFO_HOST: '',
    USERINFO_LOG_FORMAT: '',
    USERINFO_TRUST_PROXY: '',
    USERINFO_NO_MIGRATE: '0',
    // Longer than Node's default; with the time of an idle connection, longer than its longest
    // timer.
    USERINFO_REQUEST_TIMEOUT: '596h',
    USERINFO_DRAIN_DELAY: '10s',
  };
  const url = await serve(['--drain-delay', '0'], env);
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect((await fetch(url)).status).toBe(404);
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
});

it('admin works on the database of the same variable', async () => {
  const env = { DATABASE_URL: join(machine.folder, 'f.db') };
  const created = await machine.run(
    'admin app create --tenant-code acme --channel web --app-key a --json'.split(' '),
    { env },
  );
  expect(created.status).toBe(0);
  const { stdout } = await machine.run([
    ...'admin app list --json --database'.split(' '),
    env.DATABASE_URL,
  ]);
  expect(JSON.parse(stdout)).toMatchObject([{ app_key: 'a' }]);
});

it('takes the master key from a file, and needs it from then on', async () => {
  write('master.key', [randomBytes(32).toString('base64')]);
  const file = join(machine.folder, 'f.db');
  const env = { DATABASE_URL: file, USERINFO_MASTER_KEY_FILE: join(machine.folder, 'master.key') };
  const create = ['admin', 'app', 'create', '--tenant-code', 'acme', '--channel', 'web', '--json'];
  const { stdout } = await machine.run(create, { env: { DATABASE_URL: file } });
  const { app_secret } = JSON.parse(stdout);
  const encrypted = await machine.run(['admin', 'app', 'encrypt-secrets'], { env });
  expect(encrypted).toMatchObject({ status: 0, stderr: '' });
  expect(readFileSync(file).includes(app_secret)).toBe(false);
  // An empty variable is none.
  const plain = { USERINFO_DATABASE: '', DATABASE_URL: file };
  const without = await machine.run(['admin', 'app', 'list'], { env: plain });
  expect(without.status).toBe(2);
  expect(without.stderr).toContain(
    'are encrypted, and no master key is set\nSet the key in USERINFO_MASTER_KEY',
  );
  expect(await serve(['--port', '0'], env)).toMatch(/^http:/);
});

it('stores no secret in plain text if a master key is set but empty', async () => {
  write('empty.key', ['']);
  const database = join(machine.folder, 'plain.db');
  const app = (args: string, env: Record<string, string> = {}) =>
    machine.run(['admin', 'app', ...args.split(' ')], { env: { DATABASE_URL: database, ...env } });
  const create = 'create --tenant-code acme --channel web --app-key k';
  const file = join(machine.folder, 'empty.key');
  expect(await app(create, { USERINFO_MASTER_KEY_FILE: file })).toMatchObject({
    status: 2,
    stderr: `error: the file "${file}" holds no secret\nWithout one, unset USERINFO_MASTER_KEY_FILE.\n`,
  });
  const missing =
    'error: a master key is missing before or after a comma\nIs it a variable that is not set?\n';
  for (const keys of [',', `,${randomBytes(32).toString('base64')}`]) {
    expect((await app(create, { USERINFO_MASTER_KEY: keys })).stderr).toBe(missing);
  }
  expect(existsSync(database)).toBe(false);
  expect((await app(create)).status).toBe(0);
  const encrypted = await app('encrypt-secrets');
  expect(encrypted).toMatchObject({ status: 2, stdout: '' });
  expect(encrypted.stderr).toMatch(
    /^error: there is no master key to encrypt with\nSet USERINFO_MASTER_KEY,/,
  );
});
