import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chownSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import { Client } from 'pg';
import { afterAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { Secret } from '../../src/core/signing/secret.js';
import { openAdmin } from '../../src/service/index.js';
import { Machine, printedBy } from '../support/cli.js';
import {
  type AppKeys,
  type Draft,
  draftPassback,
  send,
  signDraft,
} from '../support/foreign-client.js';
import { freePort } from '../support/free-port.js';
import { serverUser } from '../support/postgres/binaries.js';
import { PostgresServer } from '../support/postgres/postgres-server.js';
import { openSocket } from '../support/raw-exchange.js';
import { tenant, user } from '../support/running-service.js';

const isInstalled = spawnSync('prometheus', ['--version']).status === 0;

/** The rules that operators take; minutes are seconds, so that a test can wait for them. */
function shownRules(): { readonly text: string; readonly alerts: readonly string[] } {
  const text = readFileSync('docs/operations/alerts.yml', 'utf8');
  const rules: { alert: string }[] = parse(text).groups[0].rules;
  return { text: text.replace(/\b(\d+)m\b/g, '$1s'), alerts: rules.map(({ alert }) => alert) };
}

/** A platform with codes of its own, and one HTTP status. */
const platform = {
  http_status: 200,
  result_codes: {
    9001: 'storeUnavailable',
    9002: 'internal',
    9003: 'tooManyRequests',
    9102: 'wrongAppSign',
    9103: 'wrongSign',
    9104: 'timestampOutsideWindow',
    9105: 'randomReplayed',
  },
};

const machine = new Machine();
const children: ChildProcess[] = [];
let isOver = false;
const loads: Promise<void>[] = [];
let server: PostgresServer | undefined;

afterAll(async () => {
  isOver = true;
  for (const child of children) child.kill('SIGKILL');
  await Promise.all(loads);
  await server?.remove();
  machine[Symbol.dispose]();
});

const masterKey = '1'.repeat(64);

/** Creates an app and a user in a database. */
async function prepare(database: string): Promise<AppKeys> {
  const admin = await openAdmin({ database, masterKeys: [new Secret(masterKey)] });
  const { app_secret, ...app } = await admin.createApp({ tenantCode: tenant, channel: 'web' });
  await admin.putUser(user('u1'));
  await admin.close();
  return { ...app, secret: app_secret.reveal() };
}

async function serve(
  database: string,
  options: readonly string[],
  env: Record<string, string> = {},
) {
  const serve = [
    'serve',
    '--port',
    '0',
    '--admin-port',
    '0',
    '--database',
    database,
    '--platform',
    'platform.json',
  ];
  const child = machine.start([...serve, ...options], {
    env: { USERINFO_MASTER_KEY: masterKey, ...env },
  });
  children.push(child);
  const [, adminUrl = '', url = ''] = await printedBy(
    child,
    /monitoring on (\S+)[\s\S]*listening on (\S+)/,
  );
  child.stderr?.resume();
  return { child, url, target: new URL(adminUrl).host };
}

/** Repeats work a few times a second, until all is over. */
function onAndOn(work: () => Promise<unknown>): void {
  const load = async () => {
    while (!isOver) {
      await work().catch(() => {});
      await wait(100);
    }
  };
  loads.push(load());
}

it.skipIf(!isInstalled)(
  'each alert of the page fires in Prometheus, with the codes of a platform, too (needs prometheus)',
  { timeout: 180_000 },
  async () => {
    const { text, alerts } = shownRules();
    writeFileSync(join(machine.folder, 'platform.json'), JSON.stringify(platform));
    const file = (name: string) => join(machine.folder, `${name}.db`);
    const targets: string[] = [];
    const started = async (name: string, options: readonly string[], env = {}) => {
      const app = await prepare(file(name));
      const service = await serve(file(name), options, env);
      targets.push(service.target);
      const passback = (): Draft => draftPassback(app, { union_id: 'u1', user_info: '{"a":"b"}' });
      return { ...service, app, passback };
    };

    // Errors, Slow
    const failing = await started('failing', ['--fault', 'error=20%,latency=1500ms']);
    for (let client = 0; client < 4; client += 1)
      onAndOn(() => send(failing.url, failing.passback()));
    // Throttled
    const throttled = await started('throttled', ['--rate-limit', '1/s']);
    onAndOn(() => send(throttled.url, throttled.passback()));
    // PurgeBehind: what has expired before the start.
    const expired = file('wrong');
    // WrongSignatures, Repeated, SecretUnreadable
    const app = await prepare(expired);
    const tables = new DatabaseSync(expired);
    tables.exec(`INSERT INTO codes VALUES ('${tenant}', 'c', 'u1', NULL, unixepoch() - 1000, 1)`);
    tables.close();
    const unreadable = await prepare(expired);
    const changed = new DatabaseSync(expired);
    changed.exec(
      `UPDATE apps SET app_secret = app_secret || 'AAAA' WHERE app_key = '${unreadable.app_key}'`,
    );
    changed.close();
    const wrong = await serve(expired, []);
    targets.push(wrong.target);
    onAndOn(() =>
      send(wrong.url, {
        ...draftPassback(app, { union_id: 'u1', user_info: '{}' }),
        spoilSign: true,
      }),
    );
    const { target, body } = signDraft(
      draftPassback(app, { union_id: 'u1', user_info: '{"a":"b"}' }),
    );
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    onAndOn(() => fetch(wrong.url + target, { method: 'PUT', headers, body }));
    onAndOn(() =>
      send(wrong.url, draftPassback(unreadable, { union_id: 'u1', user_info: '{"a":"b"}' })),
    );
    // Overload
    const full = await started('full', ['--max-connections', '10']);
    const held = Array.from({ length: 10 }, () => openSocket(full.url));
    onAndOn(async () => openSocket(full.url));
    // Bug
    writeFileSync(
      join(machine.folder, 'fail.cjs'),
      "process.on('SIGUSR2', () => { void Promise.reject(new Error('a bug')); });",
    );
    const broken = await started('broken', ['--drain-delay', '10m'], {
      NODE_OPTIONS: '--require ./fail.cjs',
    });
    // Clock, Late, ConnectionsExhausted, and then DatabaseAway
    server = await PostgresServer.create();
    const lateApp = await prepare(server.url);
    const late = await serve(server.url, ['--fault', 'skew=400s', '--pool-size', '1']);
    targets.push(late.target);
    onAndOn(() =>
      send(late.url, draftPassback(lateApp, { union_id: 'u1', user_info: '{"a":"b"}' })),
    );
    // Down
    targets.push(`127.0.0.1:${await freePort()}`);

    const port = await freePort();
    writeFileSync(join(machine.folder, 'rules.yml'), text);
    writeFileSync(
      join(machine.folder, 'prometheus.yml'),
      JSON.stringify({
        global: { scrape_interval: '500ms', evaluation_interval: '500ms' },
        rule_files: ['rules.yml'],
        scrape_configs: [{ job_name: 'userinfo', static_configs: [{ targets }] }],
      }),
    );
    const { uid, gid } = serverUser() ?? {};
    if (uid !== undefined && gid !== undefined) chownSync(machine.folder, uid, gid);
    const prometheus = spawn(
      'prometheus',
      [
        '--config.file=prometheus.yml',
        '--storage.tsdb.path=data',
        `--web.listen-address=127.0.0.1:${port}`,
        '--log.level=error',
      ],
      { cwd: machine.folder, stdio: ['ignore', 'ignore', 'inherit'], uid, gid },
    );
    children.push(prometheus);
    const fired = new Set<string>();
    const missing = async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/api/v1/alerts`).catch(() => null);
      const { data } = answer === null ? { data: { alerts: [] } } : JSON.parse(await answer.text());
      for (const { state, labels } of data.alerts)
        if (state === 'firing') fired.add(labels.alertname);
      return alerts.filter((alert) => !fired.has(alert));
    };
    const patiently = { timeout: 90_000, interval: 300 };
    // It sees an increase from 0 on.
    const scrapes = `count_over_time(userinfo_problems_total{event="fault",instance="${broken.target}"}[5s])`;
    const scraped = async () => {
      const url = `http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(scrapes)}`;
      const answer = await fetch(url).catch(() => null);
      return Number(
        answer === null ? 0 : (JSON.parse(await answer.text()).data.result[0]?.value[1] ?? 0),
      );
    };
    await expect.poll(scraped, patiently).toBeGreaterThan(2);
    broken.child.kill('SIGUSR2');
    const others = ['UserinfoConnectionsExhausted', 'UserinfoDatabaseAway'];
    const missingNow = async () => (await missing()).filter((alert) => !others.includes(alert));
    await expect.poll(missingNow, patiently).toEqual([]);
    // A lock holds the only connection.
    const lock = new Client(server.url);
    await lock.connect();
    await lock.query('BEGIN; LOCK TABLE apps IN ACCESS EXCLUSIVE MODE');
    for (let client = 0; client < 8; client += 1) {
      onAndOn(() =>
        send(late.url, draftPassback(lateApp, { union_id: 'u1', user_info: '{"a":"b"}' })),
      );
    }
    await expect
      .poll(() => missing().then(() => fired.has('UserinfoConnectionsExhausted')), patiently)
      .toBe(true);
    await lock.end();
    await server.stop();
    await expect.poll(missing, patiently).toEqual([]);
    for (const socket of held) socket.destroy();
  },
);
