import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parser } from '@prometheus-io/lezer-promql';
import { afterAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { Machine, printedBy } from '../support/cli.js';
import { type AppKeys, draftPassback, send } from '../support/foreign-client.js';
import { freePort } from '../support/free-port.js';
import { PostgresServer } from '../support/postgres/postgres-server.js';
import { createSchema, execute } from '../support/postgres/test-schema.js';
import { ServedMachine } from '../support/served.js';
import { caFile } from '../support/tls-server.js';

const page = readFileSync(join(import.meta.dirname, '../../docs/operations.md'), 'utf8');
/** The first block of a language in which a text is. */
const fenced = (language: string, text = '') => {
  const blocks = page.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'));
  return [...blocks].map(([, block = '']) => block).find((block) => block.includes(text)) ?? '';
};
const certificates = join(import.meta.dirname, '../support/certificates');
const folder = mkdtempSync(join(tmpdir(), 'userinfo-operations-'));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const isLinux = process.platform === 'linux';
const isInstalled = (program: string, ...args: string[]) =>
  isLinux && spawnSync(program, args).error === undefined;

it.skipIf(!isInstalled('systemd-analyze', '--version'))(
  'systemd takes the unit (needs systemd-analyze)',
  () => {
    const unit = fenced('ini').replace('/usr/bin/userinfo', process.execPath);
    writeFileSync(join(folder, 'userinfo.service'), unit);
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', join(folder, 'userinfo.service')], {
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  },
);

it.runIf(isLinux)(
  'the command of the unit serves with the settings of the page, and admin with the same (needs Linux)',
  async () => {
    using machine = new Machine();
    const port = await freePort();
    const settings = fenced('sh', 'USERINFO_DATABASE').replace('/var/lib/userinfo', machine.folder);
    writeFileSync(join(machine.folder, 'env'), `${settings}PORT=${port}\n`);
    const [, command = ''] = /^ExecStart=\S+ (.*)$/m.exec(fenced('ini')) ?? [];
    const env = Object.fromEntries(
      settings
        .trim()
        .split('\n')
        .map((line) => line.replaceAll("'", '').split('=')),
    );
    const service = machine.start(command.split(' '), { env: { ...env, PORT: String(port) } });
    const ended = once(service, 'exit');
    try {
      await printedBy(service, /"event":"listening"/);
      expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
      const admin = await machine.shell(fenced('sh', 'set -a').replace('/etc/userinfo', machine.folder));
      expect(admin).toMatchObject({ status: 0, stdout: expect.stringMatching(/app_secret.*disabled/s) });
    } finally {
      service.kill('SIGTERM');
    }
    expect(await ended).toEqual([0, null]);
  },
);

it('the alerts are PromQL, over metrics and labels that the service has', async () => {
  const schema = await createSchema();
  let metrics: string;
  {
    await using machine = await ServedMachine.create([], schema.url);
    await machine.run(['passback', 'level=gold', '--union-id', 'u001', '-p', 'local']);
    metrics = await (await fetch(`${machine.url}/metrics`)).text();
  }
  await schema.remove();
  const [{ rules }] = parse(fenced('yaml')).groups;
  const selectors: string[] = [];
  for (const { expr } of rules) {
    parser.parse(expr).iterate({
      enter({ name, type, from, to }) {
        if (type.isError) throw new Error(`not PromQL: ${expr}`);
        if (name === 'VectorSelector') selectors.push(expr.slice(from, to));
      },
    });
  }
  expect(selectors.length).toBeGreaterThanOrEqual(rules.length);
  // Prometheus itself has `up`; of a pattern the label alone is compared.
  const unknown = selectors.filter((selector) => {
    const [, name, label = '', value = ''] = /^(\w+)(?:\{(\w+=)~?("[^"|]*"?))?/.exec(selector) ?? [];
    const wanted = value.endsWith('"') ? label + value : label;
    return (
      name !== 'up' &&
      !metrics
        .split('\n')
        .some(
          (line) =>
            /^[{ ]/.test(line.slice(`${name}`.length)) && line.startsWith(`${name}`) && line.includes(wanted),
        )
    );
  });
  expect(unknown).toEqual([]);
});

it.skipIf(!isInstalled('nginx', '-v'))(
  'nginx passes signed requests on, and not the page (needs nginx)',
  async () => {
    await using machine = await ServedMachine.create();
    const port = await freePort();
    const server = fenced('nginx')
      .replace('listen 443', `listen 127.0.0.1:${port}`)
      .replace('127.0.0.1:8787', new URL(machine.url).host)
      .replace('/etc/userinfo/server.crt', join(certificates, 'good.crt'))
      .replace('/etc/userinfo/server.key', join(certificates, 'server.key'));
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      .map((name) => `${name}_temp_path ${folder}/${name};`)
      .join(' ');
    const main = `daemon off; pid ${folder}/nginx.pid; error_log stderr; events {}\nhttp { ${paths}\n${server} }\n`;
    writeFileSync(join(folder, 'nginx.conf'), main);
    const nginx = spawn('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf')], { stdio: 'inherit' });
    try {
      const url = ['--base-url', `https://localhost:${port}`, '--ca-file', caFile, '-p', 'local'];
      const passback = () => machine.run(['passback', 'level=gold', '--union-id', 'u001', '--json', ...url]);
      await expect.poll(async () => (await passback()).status).toBe(0);
      const read = await machine.run(['read', await machine.issueCode(), 'level', '--json', ...url]);
      expect(JSON.parse(read.stdout).data).toEqual({ union_id: 'u001', level: 'gold' });
      const env = { NODE_EXTRA_CA_CERTS: caFile };
      const script = `fetch('https://localhost:${port}/').then(({ status }) => console.log(status))`;
      const { stdout } = spawnSync(process.execPath, ['-e', script], { env, encoding: 'utf8' });
      expect(stdout).toBe('404\n');
    } finally {
      nginx.kill('SIGTERM');
      await once(nginx, 'exit');
    }
  },
);

/** Backs up by `backUp` while the service runs, goes on, restores by `restore`, and looks at what is accepted then. */
async function expectRestored(
  machine: ServedMachine,
  backUp: () => Promise<void>,
  restore: () => Promise<void>,
): Promise<void> {
  const created = await machine.admin([
    'app',
    'create',
    '--tenant-code',
    'acme',
    '--channel',
    'web',
    '--json',
  ]);
  const { app_secret: secret, ...keys } = JSON.parse(created);
  const app: AppKeys = { ...keys, secret };
  const passback = (value: string) =>
    draftPassback(app, { union_id: 'u001', user_info: `{"level":"${value}"}` });
  const [before, after] = [passback('before'), passback('after')];
  const answer = async (draft: typeof before) => (await send(machine.url, draft)).envelope.code;
  expect(await answer(before)).toBe(200);
  await backUp();
  expect(await answer(after)).toBe(200);
  expect(await answer(after)).toBe(40105);
  await machine.stop();
  await restore();
  await machine.serve();
  expect((await machine.record()).extension_info).toEqual({ level: 'before' });
  expect(await answer(before)).toBe(40105);
  // Used after the backup: accepted again, as the page says.
  expect(await answer(after)).toBe(200);
}

/** Runs a block of the page, its paths and URLs replaced; the service is stopped and started by the test. */
async function runBlock(machine: Machine, block: string, names: Readonly<Record<string, string>>) {
  let script = `set -e; systemctl() { :; }\n${block}`;
  for (const [shown, real] of Object.entries(names)) script = script.replaceAll(shown, real);
  expect(await machine.shell(script)).toMatchObject({ status: 0, stderr: '' });
}

it.skipIf(!isInstalled('sqlite3', '--version'))(
  'a backup of SQLite is restored (needs sqlite3)',
  async () => {
    await using machine = await ServedMachine.create();
    const backups = join(machine.folder, 'backups');
    mkdirSync(backups);
    const paths = { '/var/lib/userinfo': machine.folder, '/var/backups': backups };
    await expectRestored(
      machine,
      () => runBlock(machine, fenced('sh', 'VACUUM INTO'), paths),
      () => {
        const [backup = ''] = readdirSync(backups);
        return runBlock(machine, fenced('sh', 'chown'), { ...paths, 'userinfo-2026-11-22.db': backup });
      },
    );
  },
);

/** The programs of a PostgreSQL that is as old as its pg_dump, where Debian puts them. */
function installedPostgres() {
  const { stdout } = spawnSync('pg_dump', ['--version'], { encoding: 'utf8' });
  const folder = `/usr/lib/postgresql/${/ (\d+)/.exec(stdout ?? '')?.[1]}/bin`;
  const programs = { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres') };
  return existsSync(programs.postgres) ? programs : null;
}

const installed = installedPostgres();

it.skipIf(installed === null)(
  'a backup of PostgreSQL is restored into an empty database (needs a PostgreSQL of Debian)',
  async () => {
    const server = await PostgresServer.create(undefined, installed ?? undefined);
    try {
      await using machine = await ServedMachine.create([], server.url);
      const restored = server.url.replace(/postgres$/, 'restored');
      await expectRestored(
        machine,
        () =>
          runBlock(machine, fenced('sh', 'pg_dump'), {
            'postgres://userinfo@db.example/userinfo': server.url,
          }),
        async () => {
          await execute(server.url, 'CREATE DATABASE restored');
          await runBlock(machine, fenced('sh', 'pg_restore'), {
            'postgres://userinfo@db.example/userinfo': restored,
          });
          machine.database = restored;
        },
      );
    } finally {
      await server.remove();
    }
  },
);
