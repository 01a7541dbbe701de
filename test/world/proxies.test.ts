import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type Admin, openAdmin } from '../../src/service/index.js';
import { Machine, printedBy } from '../support/cli.js';
import { type AppKeys, draftPassback, draftRead, signDraft } from '../support/foreign-client.js';
import { freePort } from '../support/free-port.js';
import { createSchema, type TestSchema } from '../support/postgres/test-schema.js';
import { tenant, user } from '../support/running-service.js';
import { SlowRelay } from '../support/slow-relay.js';

const root = join(import.meta.dirname, '../..');
const page = ['operations', 'growth']
  .map((name) => readFileSync(join(root, `docs/${name}.md`), 'utf8'))
  .join('');
const block = (language: string) =>
  new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'ms').exec(page)?.[1] ?? '';
const { configs } = parse(readFileSync(join(root, 'compose.yaml'), 'utf8'));

const isInstalled = (program: string) =>
  process.platform === 'linux' && spawnSync(program, ['-v']).error === undefined;
const canRun = isInstalled('nginx') && isInstalled('haproxy');

const patiently = { timeout: 45_000 };

const hosts = ['127.0.0.1', '127.0.0.2', '127.0.0.3'];
const machine = new Machine();
let schema: TestSchema;
/** Between the services and their database. */
let relay: SlowRelay;
let admin: Admin;
let app: AppKeys;
let port: number;
const processes = new Map<string, ChildProcess>();
const proxies = new Map<string, { readonly url: string; readonly child: ChildProcess }>();
/** What the proxies printed. */
let printed = '';

async function serve(host: string): Promise<void> {
  const args = ['--no-page', '--host', host, '--port', `${port}`, '--database', relay.url];
  const child = machine.start(['serve', ...args, '--drain-delay', '2500ms']);
  processes.set(host, child);
  await printedBy(child, /listening on/);
}

/** Starts a proxy in front of the three, by a configuration whose ports are replaced. */
async function start(
  name: string,
  configure: (port: number) => { config: string; command: string[] },
) {
  const own = await freePort();
  const { config, command } = configure(own);
  const file = join(machine.folder, `${name}.conf`);
  writeFileSync(file, config);
  const [program = '', ...args] = command;
  const child = spawn(program, [...args, file], { stdio: 'pipe', cwd: machine.folder });
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text) => {
      printed += text;
    });
  const url = `http://127.0.0.1:${own}`;
  proxies.set(name, { url, child });
  const isReady = async () => (await fetch(`${url}/readyz`).catch(() => null))?.status;
  await expect.poll(isReady, patiently).toBe(200);
}

/**
 * The blocks of the page word for word but for ports and certificates, with which they run further
 * below.
 */
const ofThePage = {
  nginx: (own: number, servers: number) => {
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
    const paths = temporary.map((kind) => `${kind}_temp_path ${machine.folder}/${kind};`).join(' ');
    const [line = ''] = /^ +server 127.0.0.1:8787.*;$/m.exec(block('nginx')) ?? [];
    const lines = hosts.map((host) => line.replace('127.0.0.1:8787', `${host}:${servers}`));
    const server = block('nginx')
      .replace('listen 443 ssl', `listen 127.0.0.1:${own}`)
      .replace(/^ +ssl_.*\n/gm, '')
      .replace('/var/log/nginx/', `${machine.folder}/${own}-`)
      .replace(line, lines.join('\n'));
    const config = `daemon off; pid nginx-${own}.pid; error_log stderr; events {}\nhttp { ${paths}\n${server} }\n`;
    return { config, command: ['nginx', '-p', machine.folder, '-c'] };
  },
  haproxy: (own: number, servers: number) => {
    const config = block('haproxy')
      .replace(/bind :443 .*/, `bind 127.0.0.1:${own}`)
      .replace(/127\.0\.0\.1:87\d(\d)/g, (_, last) => `${hosts[Number(last) - 7]}:${servers}`);
    return { config, command: ['haproxy', '-q', '-db', '-f'] };
  },
};

/** What Docker answers for the name of a scaled service: the address of each container. */
async function startNames(): Promise<{ readonly port: number; close(): void }> {
  const socket = createSocket('udp4');
  socket.on('message', (query, { address, port: to }) => {
    const end = query.indexOf(0, 12) + 1;
    const question = query.subarray(12, end + 4);
    const isA = query.readUInt16BE(end) === 1;
    const answers = isA
      ? hosts.map((host) =>
          Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, ...host.split('.').map(Number)]),
        )
      : [];
    const header = Buffer.from([
      query[0] ?? 0,
      query[1] ?? 0,
      0x81,
      0x80,
      0,
      1,
      0,
      answers.length,
      0,
      0,
      0,
      0,
    ]);
    socket.send(Buffer.concat([header, question, ...answers]), to, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { port: (socket.address() as AddressInfo).port, close: () => socket.close() };
}

let names: Awaited<ReturnType<typeof startNames>>;

/** Starts all of them. */
async function startAll(): Promise<void> {
  schema = await createSchema();
  relay = await SlowRelay.before(schema.url);
  port = await freePort();
  admin = await openAdmin({ database: schema.url });
  const { app_secret, ...rest } = await admin.createApp({ tenantCode: tenant, channel: 'web' });
  app = { ...rest, secret: app_secret.reveal() };
  await Promise.all(hosts.map(serve));
  for (const [name, configure] of Object.entries(ofThePage))
    await start(name, (own) => configure(own, port));
  names = await startNames();
  await start('compose', (own) => {
    const config = configs.haproxy.content
      .replace('bind :8787', `bind 127.0.0.1:${own}`)
      .replace('userinfo:8787', `userinfo:${port}`)
      .replace('127.0.0.11:53', `127.0.0.1:${names.port}`);
    return { config, command: ['haproxy', '-q', '-db', '-f'] };
  });
}

afterAll(async () => {
  for (const { child } of proxies.values()) child.kill('SIGTERM');
  for (const child of processes.values()) child.kill('SIGKILL');
  names?.close();
  relay?.close();
  await admin?.close();
  await schema?.remove();
  machine[Symbol.dispose]();
});

const writersOfEach = 4;

it.skipIf(!canRun)(
  'three processes behind nginx, HAProxy and that of compose.yaml: a restart of each refuses nothing, a kill loses nothing (needs nginx, haproxy)',
  { timeout: 120_000 },
  async () => {
    await startAll();
    const ended = new AbortController();
    /** The last value of each key that was acknowledged, by user: a record holds 100 keys. */
    const acknowledged = new Map<string, Map<string, number>>();
    const failures: { proxy: string; status: number; text: string }[] = [];
    const counts = new Map<string, number>();
    const readOnce = async (proxy: string, url: string, unionId: string) => {
      const { code } = await admin.issueCode({ tenantCode: tenant, unionId });
      const { target } = signDraft(draftRead(app, code));
      const answer = await fetch(url + target).catch(() => null);
      const text = (await answer?.text()) ?? '';
      if (answer?.status !== 200) failures.push({ proxy, status: answer?.status ?? 0, text });
    };
    const write = async (proxy: string, url: string, unionId: string) => {
      for (let i = 0; !ended.signal.aborted; i++) {
        if (i % 5 === 0) await readOnce(proxy, url, unionId);
        const key = `k${i % 50}`;
        const { target, body } = signDraft(
          draftPassback(app, { union_id: unionId, user_info: JSON.stringify({ [key]: i }) }),
        );
        const headers = { 'content-type': 'application/x-www-form-urlencoded' };
        const answer = await fetch(url + target, { method: 'PUT', headers, body }).catch(
          () => null,
        );
        const text = (await answer?.text()) ?? '';
        if (answer?.status === 200) {
          acknowledged.get(unionId)?.set(key, i);
          counts.set(proxy, (counts.get(proxy) ?? 0) + 1);
        } else failures.push({ proxy, status: answer?.status ?? 0, text });
        await wait(20);
      }
    };
    const writers: Promise<void>[] = [];
    for (const [proxy, { url }] of proxies) {
      for (let i = 0; i < writersOfEach; i++) {
        const unionId = `${proxy}-${i}`;
        await admin.putUser(user(unionId));
        acknowledged.set(unionId, new Map());
        writers.push(write(proxy, url, unionId));
      }
    }
    /** Waits until each proxy has passed on so many more. */
    const more = async (count: number) => {
      const before = new Map(counts);
      const least = () =>
        Math.min(
          ...[...proxies.keys()].map((name) => (counts.get(name) ?? 0) - (before.get(name) ?? 0)),
        );
      await expect.poll(least, patiently).toBeGreaterThanOrEqual(count);
    };
    await more(20);

    for (const host of hosts) {
      const stopped = processes.get(host);
      stopped?.kill('SIGTERM');
      expect(stopped && (await once(stopped, 'exit'))).toEqual([0, null]);
      await more(20);
      await serve(host);
      await more(20);
    }
    expect(failures).toEqual([]);

    processes.get('127.0.0.1')?.kill('SIGKILL');
    await more(40);
    for (const name of proxies.keys()) {
      const failed = failures.filter(({ proxy }) => proxy === name).length;
      expect(failed, name).toBeLessThanOrEqual(2 * writersOfEach);
    }
    // No answer is one of the service: a request that was sent again would be refused as repeated.
    const answered = failures.filter(
      ({ status, text }) => ![0, 502].includes(status) || text.includes('"code"'),
    );
    expect(answered).toEqual([]);
    const before = failures.length;
    await more(40);
    expect(failures.slice(before)).toEqual([]);

    // A slow database is no reason to take processes out: each probe takes longer than its interval
    // of a second.
    relay.delayMs = 600;
    await wait(8000);
    relay.delayMs = 0;
    await more(4);
    expect(failures.slice(before)).toEqual([]);
    ended.abort();
    await Promise.all(writers);
    for (const [unionId, values] of acknowledged) {
      const { extension_info } = await admin.getUser({ tenantCode: tenant, unionId });
      expect(values.size).toBeGreaterThan(0);
      // What was not acknowledged may have been written nevertheless.
      const lost = [...values].filter(([key, value]) => !(Number(extension_info[key]) >= value));
      expect(lost).toEqual([]);
    }
  },
);

/** Runs what it reads from its input with a network, mounts and processes of its own. */
const apart = [
  'unshare',
  '--net',
  '--mount',
  '--pid',
  '--fork',
  '--kill-child',
  'sh',
  '-e',
] as const;
const isRoot = process.platform === 'linux' && process.getuid?.() === 0;

it.skipIf(!canRun || !isRoot)(
  'the blocks serve word for word, at their ports, with their certificates (needs nginx, haproxy, root)',
  async () => {
    const database = join(machine.folder, 'apart.db');
    const store = await openAdmin({ database });
    const { app_secret, ...rest } = await store.createApp({ tenantCode: tenant, channel: 'web' });
    await store.putUser(user('u1'));
    await store.close();
    const signed = (key: string) => {
      const form = { union_id: 'u1', user_info: JSON.stringify({ [key]: 'x' }) };
      return signDraft(draftPassback({ ...rest, secret: app_secret.reveal() }, form));
    };
    const certificates = join(import.meta.dirname, '../support/certificates');
    const write = (file: string, text: string) => writeFileSync(join(machine.folder, file), text);
    write('nginx.block', block('nginx'));
    write('haproxy.block', block('haproxy'));
    const passed = (proxy: string) => {
      const { target, body } = signed(proxy);
      write(`${proxy}.body`, body ?? '');
      const curl = `curl --silent --show-error --cacert ${certificates}/ca.crt --resolve service.example:443:127.0.0.1`;
      const url = `https://service.example${target}`;
      return `for try in $(seq 100); do ${curl} --fail --output /dev/null https://service.example/readyz && break; sleep 0.1; done 2>/dev/null
        ${curl} --request PUT --data-binary @${machine.folder}/${proxy}.body '${url}'; echo`;
    };
    const script = `
      ip link set lo up
      mkdir ${machine.folder}/own && mount -t tmpfs tmpfs ${machine.folder}/own && cd ${machine.folder}/own
      mkdir upper work && mount -t overlay overlay -o lowerdir=/etc,upperdir=upper,workdir=work /etc
      mount -t tmpfs tmpfs /run && mkdir -p /var/log/nginx && mount -t tmpfs tmpfs /var/log/nginx
      mkdir -p /etc/userinfo /etc/nginx/conf.d /etc/haproxy
      cp ${certificates}/good.crt /etc/userinfo/server.crt
      cp ${certificates}/server.key /etc/userinfo/server.key
      cat ${certificates}/good.crt ${certificates}/server.key > /etc/userinfo/server.pem
      cp ../nginx.block /etc/nginx/conf.d/userinfo.conf
      cp ../haproxy.block /etc/haproxy/haproxy.cfg
      for port in 8787 8788 8789; do
        ${process.execPath} ${root}/bin/userinfo.cjs serve --no-page --port $port --database ${database} 2>/dev/null &
      done
      nginx -g 'daemon off;' & proxy=$!
      ${passed('nginx')}
      kill $proxy; wait $proxy || true
      haproxy -q -db -f /etc/haproxy/haproxy.cfg & proxy=$!
      ${passed('haproxy')}`;
    const [program, ...args] = apart;
    const { stdout, stderr } = spawnSync(program, args, {
      input: script,
      encoding: 'utf8',
      timeout: 60_000,
    });
    const codes = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).code);
    expect(codes, stderr).toEqual([200, 200]);
  },
);

it.skipIf(!canRun)(
  'a request is sent once, whatever becomes of the process that got it, and in no log of nginx (needs nginx, haproxy)',
  async () => {
    let received: string[] = [];
    printed = '';
    const own = await freePort();
    const servers = hosts.map((host) =>
      createServer((request, answer) => {
        if (request.url === '/readyz') {
          answer.end();
          return;
        }
        received.push(request.method ?? '');
        request.resume().once('end', () => request.socket.destroy());
      }).listen(own, host),
    );
    for (const [name, configure] of Object.entries(ofThePage)) {
      await start(`${name}-once`, (port) => configure(port, own));
      const url = `${proxies.get(`${name}-once`)?.url}/api/v1/server/user/it?sign=do-not-log-me`;
      for (const method of ['PUT', 'GET']) {
        received = [];
        const body = method === 'PUT' ? 'user_info={}' : null;
        const answer = await fetch(url, { method, body }).catch(() => null);
        expect([name, answer?.status ?? 502, received]).toEqual([name, 502, [method]]);
      }
    }
    const closed = servers.map((server) => once(server.close(), 'close'));
    for (const server of servers) server.closeAllConnections();
    await Promise.all(closed);
    const { url, child } = proxies.get('nginx-once') ?? {};
    const refused = await fetch(`${url}/api/v1/server/user/it?code=do-not-log-me`);
    expect(refused.status).toBe(502);
    child?.kill('SIGQUIT');
    await (child && once(child, 'exit'));
    const log = readFileSync(
      join(machine.folder, `${new URL(url ?? '').port}-userinfo.log`),
      'utf8',
    );
    expect(log.match(/ (?:PUT|GET) \/api\/v1\/server\/user\/it 502 /g)).toHaveLength(3);
    const texts = readdirSync(machine.folder).flatMap((name) =>
      name.endsWith('.log') ? [readFileSync(join(machine.folder, name), 'utf8')] : [],
    );
    expect(`${texts.join('')}${printed}`).not.toContain('do-not-log-me');
  },
);
