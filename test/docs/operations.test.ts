import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
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
import { type ResultCodeName, resultCode } from '../../src/core/contract/result-codes.js';
import { createService } from '../../src/service/index.js';
import { Machine, printedBy } from '../support/cli.js';
import { type AppKeys, draftPassback, send } from '../support/foreign-client.js';
import { freePort } from '../support/free-port.js';
import { PostgresServer } from '../support/postgres/postgres-server.js';
import { createSchema, execute, query } from '../support/postgres/test-schema.js';
import { firstUser, ServedMachine } from '../support/served.js';
import { caFile } from '../support/tls-server.js';

const docs = join(import.meta.dirname, '../../docs');
const read = (name: string) => readFileSync(join(docs, name), 'utf8');
const page = read('operations.md') + read('growth.md');
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
    const units = mkdtempSync(join(folder, 'units-'));
    writeFileSync(
      join(units, 'userinfo.service'),
      fenced('ini').replace('/usr/bin/userinfo', process.execPath),
    );
    // That of several processes is made from it.
    const make = fenced('sh', 'userinfo@.service').replace('/etc/systemd/system', units);
    const script = `set -e; systemctl() { :; }\n${make}`;
    expect(spawnSync('sh', ['-c', script], { encoding: 'utf8' })).toMatchObject({
      status: 0,
      stderr: '',
    });
    const commandOf = (name: string) =>
      /^ExecStart=\S+ (.*)$/m.exec(readFileSync(join(units, name), 'utf8'))?.[1];
    expect(commandOf('userinfo@.service')).toBe('serve --port %i --no-page');
    for (const name of ['userinfo.service', 'userinfo@8787.service']) {
      const analyze = (...args: string[]) => {
        const { status, stderr } = spawnSync('systemd-analyze', [...args, join(units, name)], {
          encoding: 'utf8',
        });
        return { name, status, stderr };
      };
      expect(analyze('verify')).toEqual({ name, status: 0, stderr: '' });
      // Its exposure, times ten.
      if (!name.includes('@'))
        expect(analyze('security', '--offline=true', '--threshold=20')).toMatchObject({
          status: 0,
        });
    }
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
      const admin = await machine.shell(
        fenced('sh', 'set -a').replace('/etc/userinfo', machine.folder),
      );
      expect(admin).toMatchObject({
        status: 0,
        stdout: expect.stringMatching(/app_secret.*disabled/s),
      });
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
  const [{ rules }] = parse(read('operations/alerts.yml')).groups;
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
  const meant = selectors.flatMap(
    (selector) => /means=~?"([^"]*)"/.exec(selector)?.[1]?.split('|') ?? [],
  );
  expect(meant.filter((name) => !Object.hasOwn(resultCode, name))).toEqual([]);
  // Prometheus itself has `up`; of a meaning or a pattern the label alone is compared.
  const unknown = selectors.filter((selector) => {
    const [, name, label = '', value = ''] =
      /^(\w+)(?:\{(\w+=)~?("[^"|]*"?))?/.exec(selector) ?? [];
    const wanted = value.endsWith('"') && label !== 'means=' ? label + value : label;
    return (
      name !== 'up' &&
      !metrics
        .split('\n')
        .some(
          (line) =>
            /^[{ ]/.test(line.slice(`${name}`.length)) &&
            line.startsWith(`${name}`) &&
            line.includes(wanted),
        )
    );
  });
  expect(unknown).toEqual([]);
});

/**
 * The series of a healthy service, and for each alert those that differ when it has to fire, after
 * 20 minutes.
 */
const healthy = {
  'up{job="userinfo"}': '1+0x30',
  'userinfo_requests_total{operation="read",means="ok",code="200"}': '0+6000x30',
  'userinfo_requests_total{operation="read",means="storeUnavailable",code="50301"}': '0+6x30',
  'userinfo_requests_total{operation="read",means="randomReplayed",code="40105"}': '0+6x30',
  'userinfo_problems_total{event="store_unavailable"}': '0+0x30',
  'userinfo_problems_total{event="unreadable_secret"}': '0+0x30',
  'userinfo_problems_total{event="fault"}': '0+0x30',
  'userinfo_problems_total{event="overload"}': '0+0x30',
  'userinfo_request_duration_seconds_bucket{operation="read",le="1"}': '0+6000x30',
  'userinfo_request_duration_seconds_bucket{operation="read",le="2"}': '0+6000x30',
  'userinfo_request_duration_seconds_bucket{operation="read",le="+Inf"}': '0+6000x30',
  userinfo_clock_difference_seconds: '2+0x30',
  'userinfo_purge_backlog_seconds{table="codes"}': '0 60 0 60 0+0x30',
  'userinfo_database_connections{state="waiting"}': '0 3 0 3 0+0x30',
};
/** Of a platform that has codes of its own. */
const refused = (means: ResultCodeName) => ({
  [`userinfo_requests_total{operation="read",means="${means}",code="9001"}`]: '0+600x30',
});
const unhealthy: readonly (readonly [alert: string, series: object, labels?: object])[] = [
  ['Down', { 'up{job="userinfo"}': '1+0x15 0+0x15' }, { job: 'userinfo' }],
  ['Down', { 'up{job="userinfo"}': '1+0x5 stale' }, { job: 'userinfo' }],
  ['Errors', refused('storeUnavailable')],
  ['Errors', refused('internal')],
  [
    'DatabaseAway',
    { 'userinfo_problems_total{event="store_unavailable"}': '0+0x18 1+1x12' },
    { event: 'store_unavailable' },
  ],
  [
    'SecretUnreadable',
    { 'userinfo_problems_total{event="unreadable_secret"}': '0+0x18 1+1x12' },
    { event: 'unreadable_secret' },
  ],
  ['Bug', { 'userinfo_problems_total{event="fault"}': '0+0x18 1+0x12' }, { event: 'fault' }],
  ['Overload', { 'userinfo_problems_total{event="overload"}': '0+1x30' }, { event: 'overload' }],
  [
    'Slow',
    { 'userinfo_request_duration_seconds_bucket{operation="read",le="1"}': '0+5000x30' },
    { operation: 'read' },
  ],
  ['Throttled', refused('tooManyRequests')],
  ['WrongSignatures', refused('wrongAppSign')],
  ['WrongSignatures', refused('wrongSign')],
  ['Clock', { userinfo_clock_difference_seconds: '-400+0x30' }],
  ['Late', refused('timestampOutsideWindow')],
  ['Repeated', refused('randomReplayed')],
  [
    'PurgeBehind',
    { 'userinfo_purge_backlog_seconds{table="codes"}': '0+60x30' },
    { table: 'codes' },
  ],
  [
    'ConnectionsExhausted',
    { 'userinfo_database_connections{state="waiting"}': '3+0x30' },
    { state: 'waiting' },
  ],
];

it.skipIf(!isInstalled('promtool', '--version'))(
  'each alert fires when it has to, none otherwise, and the metrics are well-formed (needs promtool)',
  async () => {
    const { groups } = parse(read('operations/alerts.yml'));
    const rules: { alert: string; labels: object; annotations: object }[] = groups[0].rules;
    expect(new Set(unhealthy.map(([alert]) => `Userinfo${alert}`))).toEqual(
      new Set(rules.map(({ alert }) => alert)),
    );
    const testOf = (series: object, fires?: string, labels: object = {}) => ({
      interval: '1m',
      input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
      alert_rule_test: rules
        // Of a failing service others may fire, too.
        .filter(({ alert }) => fires === undefined || alert === fires)
        .map(({ alert, labels: own, annotations }) => ({
          eval_time: '20m',
          alertname: alert,
          exp_alerts: fires
            ? [{ exp_labels: { ...labels, ...own }, exp_annotations: annotations }]
            : [],
        })),
    });
    const failing = unhealthy.map(([alert, series, labels]) =>
      testOf({ ...healthy, ...series }, `Userinfo${alert}`, labels),
    );
    const tests = { rule_files: ['rules.yml'], tests: [testOf(healthy), ...failing] };
    writeFileSync(join(folder, 'rules.yml'), read('operations/alerts.yml'));
    writeFileSync(join(folder, 'tests.yml'), JSON.stringify(tests));
    const promtool = (args: string[], input = '') => {
      const { status, stdout, stderr } = spawnSync('promtool', args, {
        cwd: folder,
        input,
        encoding: 'utf8',
      });
      return { status, text: status === 0 ? '' : stdout + stderr };
    };
    expect(promtool(['check', 'rules', 'rules.yml'])).toEqual({ status: 0, text: '' });
    expect(promtool(['test', 'rules', 'tests.yml'])).toEqual({ status: 0, text: '' });
    await using service = await createService();
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    expect(promtool(['check', 'metrics'], metrics)).toEqual({ status: 0, text: '' });
  },
);

it.skipIf(!isInstalled('nginx', '-v'))(
  'nginx passes signed requests on, and not the page (needs nginx)',
  async () => {
    await using machine = await ServedMachine.create();
    const port = await freePort();
    const server = fenced('nginx')
      .replace('listen 443', `listen 127.0.0.1:${port}`)
      .replace('127.0.0.1:8787', new URL(machine.url).host)
      .replace('/var/log/nginx', folder)
      .replace('/etc/userinfo/server.crt', join(certificates, 'good.crt'))
      .replace('/etc/userinfo/server.key', join(certificates, 'server.key'));
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      .map((name) => `${name}_temp_path ${folder}/${name};`)
      .join(' ');
    const main = `daemon off; pid ${folder}/nginx.pid; error_log stderr; events {}\nhttp { ${paths}\n${server} }\n`;
    writeFileSync(join(folder, 'nginx.conf'), main);
    const nginx = spawn('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf')], {
      stdio: 'inherit',
    });
    try {
      const url = ['--base-url', `https://localhost:${port}`, '--ca-file', caFile, '-p', 'local'];
      const passback = () =>
        machine.run(['passback', 'level=gold', '--union-id', 'u001', '--json', ...url]);
      await expect.poll(async () => (await passback()).status).toBe(0);
      const read = await machine.run([
        'read',
        await machine.issueCode(),
        'level',
        '--json',
        ...url,
      ]);
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

it('the manifest for Kubernetes asks for paths and ports that the service has, and gives it time to end', async () => {
  using machine = new Machine();
  const { spec } = parse(read('operations/kubernetes.yaml')).spec.template;
  const [container] = spec.containers;
  const port = await freePort();
  const adminPort = await freePort();
  const given = Object.fromEntries(
    container.env.map(({ name, value }: { name: string; value: string }) => [name, value]),
  );
  const ports = { [given.USERINFO_ADMIN_PORT]: adminPort, 8787: port };
  const env = {
    ...given,
    USERINFO_ADMIN_PORT: `${adminPort}`,
    PORT: `${port}`,
    USERINFO_DATABASE: ':memory:',
  };
  const service = machine.start(['serve'], { env });
  await printedBy(service, /listening on/);
  const probe = async ({ httpGet }: { httpGet: { path: string; port: number } }) =>
    (await fetch(`http://127.0.0.1:${ports[httpGet.port]}${httpGet.path}`)).status;
  const { startupProbe, livenessProbe, readinessProbe } = container;
  const probes = () => Promise.all([startupProbe, livenessProbe, readinessProbe].map(probe));
  expect(await probes()).toEqual([200, 200, 200]);
  const ended = once(service, 'exit');
  service.kill('SIGTERM');
  await expect.poll(() => probe(readinessProbe), { timeout: 10_000 }).toBe(503);
  expect(await probe(livenessProbe)).toBe(200);
  // Without the delay.
  service.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  const delay = Number.parseInt(given.USERINFO_DRAIN_DELAY, 10);
  expect(delay).toBeGreaterThan(readinessProbe.periodSeconds * readinessProbe.failureThreshold);
  expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(delay + 6);
});

const hasJq = isInstalled('jq', '--version');

it.skipIf(!hasJq)(
  'the command of the page finds why a customer was refused (needs jq)',
  async () => {
    await using machine = await ServedMachine.create();
    await machine.stop();
    const args = [
      '--port',
      new URL(machine.url).port,
      '--database',
      machine.database,
      '--log-format',
      'json',
    ];
    const service = machine.start(['serve', ...args]);
    let log = '';
    service.stderr?.on('data', (chunk) => {
      log += chunk;
    });
    await printedBy(service, /"listening"/);
    const code = await machine.issueCode();
    for (let i = 0; i < 2; i++) await machine.run(['read', code, '-p', 'local']);
    await machine.run(['passback', 'level=gold', '--union-id', 'nobody', '-p', 'local']);
    service.kill('SIGTERM');
    await once(service, 'close');
    writeFileSync(join(machine.folder, 'log'), log);
    const script = fenced('sh', 'jq -c --arg user').replace(/journalctl .*? \|/, 'cat log |');
    const env = { USERINFO_DATABASE: machine.database };
    const { status, stdout } = await machine.shell(script, { env });
    expect([
      status,
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ]).toEqual([
      0,
      [expect.objectContaining({ operation: 'read', code: 40106, request_id: expect.any(String) })],
    ]);
    const seen = await machine.shell(fenced('sh', 'userinfo admin audit'), { env });
    const actions = seen.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).action);
    expect(actions).toEqual(['code issue', 'user put']);
  },
);

/**
 * Backs up by `backUp` while the service runs, goes on, restores by `restore`, and looks at what is
 * accepted then.
 */
async function expectRestored(
  machine: ServedMachine,
  backUp: () => Promise<void>,
  restore: () => Promise<void>,
): Promise<void> {
  const created = await machine.admin(
    'app create --tenant-code acme --channel web --json'.split(' '),
  );
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

/**
 * Runs a block of the page, its paths and URLs replaced; the service is stopped and started by the
 * test.
 */
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
        return runBlock(machine, fenced('sh', 'chown'), {
          ...paths,
          'userinfo-2026-11-22.db': backup,
        });
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
      const parted = server.url.replace(/postgres$/, 'parted');
      await execute(server.url, 'CREATE DATABASE parted');
      await machine.stop();
      await runBlock(machine, fenced('sh', 'PARTITION BY HASH'), {
        'userinfo admin migrate': `userinfo admin migrate >${join(machine.folder, 'migrated')} 2>&1`,
        'postgres://userinfo@db.example/userinfo': parted,
      });
      const partitions = "SELECT relname FROM pg_class WHERE relkind = 'p' ORDER BY 1";
      expect(await query(parted, partitions)).toEqual([{ relname: 'nonces' }]);
      machine.database = parted;
      await machine.admin(['user', 'put'], JSON.stringify(firstUser));
      await machine.serve();
      expect((await machine.record()).union_id).toBe('u001');
    } finally {
      await server.remove();
    }
  },
);

it.skipIf(installed === null)(
  'PostgreSQL is restored to a point in time (needs a PostgreSQL of Debian)',
  async () => {
    const archive = mkdtempSync(join(folder, 'wal-'));
    const base = join(mkdtempSync(join(folder, 'base-')), 'base');
    for (const path of [folder, archive]) chmodSync(path, 0o777);
    const settings = fenced('conf', 'archive_mode')
      .trim()
      .split('\n')
      .map((line) =>
        line.replace(/^(\w+) = '?(.*?)'?$/, '$1=$2').replaceAll('/var/lib/postgresql/wal', archive),
      );
    const server = await PostgresServer.create(['fsync=off', ...settings], installed ?? undefined);
    let restored: PostgresServer | undefined;
    try {
      await using machine = await ServedMachine.create([], server.url);
      const names = { '/var/lib/postgresql/wal': archive, '/var/lib/postgresql/base': base };
      const source = { ...names, 'postgres://postgres@db.example': server.url };
      await runBlock(machine, fenced('sh', 'pg_basebackup'), source);
      let time = '';
      await expectRestored(
        machine,
        async () => {
          const [row] = await query(server.url, 'SELECT now()::text AS now');
          time = String(row?.now);
        },
        async () => {
          const last = await query(server.url, 'SELECT pg_walfile_name(pg_switch_wal()) AS name');
          await expect
            .poll(() => readdirSync(archive), { timeout: 30_000 })
            .toContain(last[0]?.name);
          restored = await server.createBeside((data) =>
            runBlock(machine, fenced('sh', 'recovery_target_time'), {
              ...names,
              '/var/lib/postgresql/data': data,
              '2026-11-22 14:03:00+00': time,
            }),
          );
          machine.database = restored.url;
        },
      );
    } finally {
      await restored?.remove();
      await server.remove();
    }
  },
);
