import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { type AppKeys, draftPassback, fetchAnswer, send, signDraft } from '../support/foreign-client.js';
import { createSchema, type TestSchema } from '../support/postgres/test-schema.js';
import { ServedMachine } from '../support/served.js';

let machine: ServedMachine | undefined;
let schema: TestSchema | undefined;

afterEach(async () => {
  await machine?.[Symbol.asyncDispose]();
  await schema?.remove();
  schema = undefined;
});

async function serve(args: readonly string[]): Promise<ServedMachine> {
  schema = await createSchema();
  machine = await ServedMachine.create(['--pool-size', '2', ...args], schema.url);
  return machine;
}

/** The keys that `admin app create` wrote into the profile. */
function appKeys({ profileFile }: ServedMachine): AppKeys {
  const { tenant_code, channel, app_key, secret } = JSON.parse(readFileSync(profileFile, 'utf8')).profiles
    .local;
  return { tenant_code, channel, app_key, secret: secret.value };
}

const passback = (served: ServedMachine, user_info = '{"a":"b"}') =>
  draftPassback(appKeys(served), { union_id: 'u001', user_info });

async function workersOf({ pid }: ServedMachine): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'pid=', '--ppid', String(pid)]).catch(() => ({
    stdout: '',
  }));
  return stdout.trim().split(/\s+/).filter(Boolean).map(Number);
}

/** One letter a process that is there: Z for one that has ended. */
async function statesOf(pids: readonly number[]): Promise<string> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 's=', '-p', pids.join(',')]).catch(() => ({
    stdout: '',
  }));
  return stdout;
}

const health = async (served: ServedMachine) =>
  (await fetchAnswer(`${served.url}/healthz`, { headers: { connection: 'close' } })).status;

describe('serve --workers', () => {
  it('serves one store from several processes, and prints its URL once', async () => {
    const served = await serve(['--workers', '3']);
    await expect.poll(() => workersOf(served)).toHaveLength(3);
    const draft = passback(served);
    const answers = await Promise.all(Array.from({ length: 12 }, () => send(served.url, draft)));
    const codes = answers.map(({ envelope }) => envelope.code).sort();
    expect(codes).toEqual([200, ...Array(11).fill(40105)]);
    // No worker knows what the others were asked.
    expect((await fetchAnswer(`${served.url}/`)).envelope.code).toBe(40402);
    expect(served.log.match(/listening on/g)).toHaveLength(1);
    expect(await served.stop()).toBe(0);
    expect(served.log.match(/stopped/g)).toHaveLength(1);
    expect((await served.record()).extension_info).toEqual({ a: 'b' });
  });

  it('has one port for the probes, the metrics of all workers and new codes', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'userinfo-workers-'));
    writeFileSync(join(folder, 'serve.env'), 'USERINFO_ADMIN_TOKEN=0123456789abcdef\n');
    const config = ['--config', join(folder, 'serve.env')];
    const served = await serve(['--workers', '2', '--admin-port', '0', ...config]);
    rmSync(folder, { recursive: true });
    const adminUrl = /monitoring on (\S+)/.exec(served.log)?.[1];
    await expect.poll(() => workersOf(served)).toHaveLength(2);
    await Promise.all(Array.from({ length: 8 }, () => send(served.url, passback(served))));
    const metrics = async () => await (await fetch(`${adminUrl}/metrics`)).text();
    const count = 'userinfo_requests_total{operation="passback",code="200"} 8\n';
    await expect.poll(metrics).toContain(count);
    expect(await metrics()).toMatch(/userinfo_build_info\{.*\} 1\n/);
    const [suspended = 0, killed = 0] = await workersOf(served);
    process.kill(suspended, 'SIGSTOP');
    // With the last answer of the one that gives none.
    expect(await metrics()).toContain(count);
    process.kill(suspended, 'SIGCONT');
    process.kill(killed, 'SIGKILL');
    await expect.poll(() => served.log).toContain(`worker ${killed} ended: SIGKILL`);
    // Prometheus takes a counter that falls for one that began again at 0.
    expect(await metrics()).toContain(count);
    await expect.poll(() => workersOf(served)).toHaveLength(2);
    expect(await metrics()).toContain(count);
    expect((await fetch(`${adminUrl}/readyz`)).status).toBe(200);
    expect((await fetch(`${served.url}/metrics`)).status).toBe(404);
    const body = JSON.stringify({ tenant_code: 'acme', union_ids: ['u001'] });
    const headers = { authorization: 'Bearer 0123456789abcdef' };
    const issued = await fetch(`${adminUrl}/codes`, { method: 'POST', headers, body });
    expect(await issued.json()).toMatchObject({ codes: [{ union_id: 'u001' }] });
    expect(await served.stop()).toBe(0);
  });

  it('replaces a killed worker, and serves meanwhile', async () => {
    const served = await serve(['--workers', '2']);
    await expect.poll(() => workersOf(served)).toHaveLength(2);
    await expect.poll(() => health(served)).toBe(200);
    // The first to start is certain to serve by now.
    const victim = Math.max(...(await workersOf(served)));
    process.kill(victim, 'SIGKILL');
    await expect.poll(() => served.log).toContain(`worker ${victim} ended: SIGKILL; another starts in 100ms`);
    for (let i = 0; i < 10; i++) expect(await health(served)).toBe(200);
    await expect.poll(() => workersOf(served)).toHaveLength(2);
    expect(await workersOf(served)).not.toContain(victim);
  });

  it('is back on the same port after all workers were killed', async () => {
    const served = await serve(['--workers', '2']);
    await expect.poll(() => workersOf(served)).toHaveLength(2);
    for (const worker of await workersOf(served)) process.kill(worker, 'SIGKILL');
    await expect.poll(() => served.log.match(/ended: SIGKILL/g)).toHaveLength(2);
    await expect.poll(() => health(served).catch(() => 0)).toBe(200);
  });

  it('ends with the status of its workers when none can start', async () => {
    const served = await serve(['--workers', '2']);
    await expect.poll(() => workersOf(served)).toHaveLength(2);
    const ended = served.ended();
    await schema?.remove();
    schema = undefined;
    for (const worker of await workersOf(served)) process.kill(worker, 'SIGKILL');
    expect(await ended).toBe(2);
    expect(served.log).toContain('ended: exit status 2');
    await expect(fetch(served.url)).rejects.toThrow();
  });

  it.each([
    ['SIGTERM to the first process', 'SIGTERM', (pid: number) => [pid]],
    ['SIGHUP, which reaches all of them', 'SIGHUP', (pid: number, workers: number[]) => [pid, ...workers]],
    ['Ctrl-C, which reaches all of them', 'SIGINT', (pid: number, workers: number[]) => [pid, ...workers]],
  ] as const)(
    'answers the requests in flight on %s, and ends with status 0',
    async (_, signal, receivers) => {
      const served = await serve(['--workers', '2']);
      await expect.poll(() => workersOf(served)).toHaveLength(2);
      const workers = await workersOf(served);
      const { target, body } = signDraft(passback(served, '{"last":"word"}'));
      const bytes = body ?? '';
      const open = connect(Number(new URL(served.url).port), '127.0.0.1');
      let received = '';
      open.setEncoding('utf8').on('data', (chunk: string) => {
        received += chunk;
      });
      open.write(`PUT ${target} HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: ${bytes.length}\r\n\r\n`);
      await expect.poll(() => received).toContain('100 Continue');
      const others = receivers(served.pid, workers).slice(1);
      for (const other of others) process.kill(other, signal);
      const stopped = served.stop(signal);
      await new Promise((resolve) => setTimeout(resolve, 100));
      open.write(bytes);
      expect(await stopped).toBe(0);
      expect(received).toContain('"code":200');
      expect(served.log).not.toContain('ended:');
      for (const worker of workers) expect(() => process.kill(worker, 0)).toThrow('ESRCH');
    },
  );

  it('leaves no worker running when the primary process is killed', async () => {
    const served = await serve(['--workers', '2']);
    await expect.poll(() => workersOf(served)).toHaveLength(2);
    const workers = await workersOf(served);
    await served.stop('SIGKILL');
    // Who inherits them may be slow to take note of their end.
    const states = async () => await statesOf(workers);
    await expect.poll(states).not.toMatch(/[^Z\s]/);
  });

  it('reports once why it cannot start, with the exit status of a single process', async () => {
    const served = await serve([]);
    const { port } = new URL(served.url);
    const other = ['serve', '--workers', '3', '--port', port, '--database', served.database];
    expect(await served.run(other)).toMatchObject({
      status: 2,
      stdout: '',
      stderr: `error: port ${port} of 127.0.0.1 is in use\nStop what listens there, or choose another port; 0 picks a free one.\n`,
    });
    const nowhere = ['--workers', '2', '--port', '0', '--host', '192.0.2.1', '--database', served.database];
    expect(await served.run(['serve', ...nowhere])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('error: cannot listen on 192.0.2.1, port 0'),
    });
    const sqlite = await served.run(['serve', '--workers', '2', '--database', 'x.db']);
    expect(sqlite).toMatchObject({ status: 2, stdout: '' });
    expect(sqlite.stderr).toContain('--workers needs PostgreSQL: SQLite has one writer');
  });

  it('has the rate limit of one process', async () => {
    const served = await serve(['--workers', '2', '--rate-limit', '4/s']);
    await expect.poll(() => workersOf(served)).toHaveLength(2);
    await expect.poll(() => health(served)).toBe(200);
    const drafts = Array.from({ length: 40 }, () => passback(served));
    const started = performance.now();
    const answers = await Promise.all(drafts.map((draft) => send(served.url, draft)));
    const seconds = (performance.now() - started) / 1000;
    const through = answers.filter(({ envelope }) => envelope.code !== 42901).length;
    expect(through).toBeGreaterThan(1);
    // A burst of one second, and what was allowed meanwhile.
    expect(through).toBeLessThanOrEqual(4 + 4 * seconds);
  });
});
