import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { printedBy } from '../../support/cli.js';
import { dump } from '../../support/postgres/dump.js';
import { createSchema, query, type TestSchema } from '../../support/postgres/test-schema.js';
import { ServedMachine } from '../../support/served.js';

let machine: ServedMachine;
let schema: TestSchema;
let started: ChildProcess[] = [];

beforeAll(async () => {
  schema = await createSchema();
  machine = await ServedMachine.create(['--fault', 'latency=5ms..15ms']);
}, 60_000);

afterAll(async () => {
  for (const child of started) child.kill('SIGKILL');
  await machine[Symbol.asyncDispose]();
  await schema.remove();
});

const queue = () => ['--queue', schema.url];
const runs = (...args: string[]) => machine.run(['runs', ...args, ...queue()]);
const worker = (...args: string[]) => ['-p', 'local', 'worker', ...queue(), ...args];

function start(args: readonly string[]): ChildProcess {
  const child = machine.start(args);
  started = [...started, child];
  return child;
}

function write(file: string, rows: readonly string[]): void {
  writeFileSync(join(machine.folder, file), `union_id,level,mail\n${rows.map((row) => `${row}\n`).join('')}`);
}

const read = (file: string) => readFileSync(join(machine.folder, file), 'utf8');

/** Results lines in the order of the input, as runs write them as they come, without what differs from run to run. */
const inOrder = (text: string) => {
  const lines = text.split('\n').filter(Boolean);
  const results = lines.map((line) => ({ ...JSON.parse(line), request_id: undefined }));
  return results.sort((a, b) => a.line - b.line);
};

async function handOver(file: string, ...args: string[]): Promise<string> {
  const { status, stdout, stderr } = await machine.run([
    ...['-p', 'local', 'passback', '--from', file, ...queue(), ...args],
  ]);
  const said = expect.stringMatching(/^(queued [\d,]+ rows? as run \S+; |dry run: )/m);
  expect({ status, stderr }).toEqual({ status: 0, stderr: said });
  return stdout.trim();
}

const countOutcomes = async () =>
  Number((await query(schema.url, 'SELECT COUNT(*) AS count FROM userinfo_outcomes'))[0]?.count);

/**
 * Stops a worker while it waits for the second of its next row: one that is stopped between the check of its lease and
 * the request sends that request when it continues. On a busy machine the stop may come late; then it waits once more.
 */
async function stopAfterRow(stopped: ChildProcess, countSent: () => Promise<number>): Promise<void> {
  for (let [sent, notYet] = [await countSent(), performance.now()]; ; ) {
    const askedAt = performance.now();
    const found = await countSent();
    stopped.kill(found > sent ? 'SIGSTOP' : 'SIGCONT');
    if (found > sent && performance.now() - notYet < 500) return;
    [sent, notYet] = [found, askedAt];
    await sleep(20);
  }
}

describe('a run over a queue', { timeout: 180_000 }, () => {
  it('is not made by a dry run', async () => {
    write('dry.csv', ['u001,1,a@b.c']);
    expect(await handOver('dry.csv', '--dry-run', '--json')).toContain('"rows":1');
    expect((await runs('list', '--json')).stdout).toBe('[]\n');
  });

  it('comes to the results of a run from here, though a worker is killed', async () => {
    const unionIds = Array.from({ length: 200 }, (_, i) => `u${i}`);
    await machine.putUsers(unionIds);
    const rows = unionIds.map((id, i) => `${id},v${i},${id}@example.com`);
    const strangers = Array.from({ length: 3 }, (_, i) => `stranger${i},gold,"a ""quoted"" one"`);
    write('users.csv', [...rows, ...strangers]);
    const local = await machine.run(['-p', 'local', 'passback', '--from', 'users.csv', '--failed', 'f.csv']);
    expect(local.status).toBe(6);

    const run = await handOver('users.csv', '--lease', '2s');
    const victim = start(worker('--concurrency', '1'));
    await expect.poll(countOutcomes).toBeGreaterThan(0);
    victim.kill('SIGKILL');
    const halfway = JSON.parse((await runs('show', run, '--json')).stdout);
    expect(halfway).toMatchObject({ state: 'ready', chunks_left: 1 });
    expect(halfway.done).toBeGreaterThan(0);
    const others = [1, 2].map(() => machine.run(worker('--drain')));
    for (const { status, stderr } of await Promise.all(others)) {
      expect({ status, stderr }).toMatchObject({ status: 0 });
    }

    expect((await runs('list')).stdout).toMatch(
      new RegExp(`${run} │ done +│ users.csv │ 203 +│ 203 +│ 3 +│ \\d{4}-`),
    );
    const { status, stdout, stderr } = await runs('results', run, '--failed', 'g.csv');
    expect(status).toBe(6);
    expect(stderr).toContain(`run ${run}: 203 rows\n  ok      200\n  failed    3\n`);
    expect(stderr).toMatch(/^ {12}3 {2}40401 .*: lines 202, 203, 204$/m);
    expect(inOrder(stdout)).toEqual(inOrder(read('users.csv.results.ndjson')));
    expect(read('g.csv')).toBe(read('f.csv'));
    const shown = JSON.parse((await runs('show', run, '--json')).stdout);
    expect(shown).toMatchObject({ state: 'done', rows: 203, ok: 200, failed: 3, unknown: 0, workers: 0 });
    const stored = await machine.extensionInfo();
    for (const [i, id] of unionIds.entries()) {
      expect(stored.get(id)).toEqual({ level: `v${i}`, mail: `${id}@example.com` });
    }
  });

  it('is not made of rows that were changed after the check', async () => {
    write('changed.csv', ['u1,checked,']);
    const { host, port } = new URL(schema.url);
    const relay = createServer((client) => {
      write('changed.csv', ['u1,strange,']);
      client
        .on('error', () => {})
        .pipe(connect(Number(port), '127.0.0.1'))
        .on('error', () => {})
        .pipe(client);
    }).listen(0, '127.0.0.1');
    await once(relay, 'listening');
    const through = schema.url.replace(host, `127.0.0.1:${(relay.address() as AddressInfo).port}`);
    const refused = await machine.run([
      '-p',
      'local',
      'passback',
      '--from',
      'changed.csv',
      '--queue',
      through,
    ]);
    relay.close();
    expect(refused.stderr).toContain('"changed.csv" was changed after it was checked');
    expect((await runs('list')).stdout).not.toContain('changed.csv');
  });

  it('writes what --types says is meant, which looks as if it was pasted with something', async () => {
    await machine.putUsers(['meant']);
    writeFileSync(join(machine.folder, 'meant.csv'), 'union_id,mobile\nmeant,"13800001111\u00a0"\n');
    const run = await handOver('meant.csv', '--types', 'mobile:text', '--keep');
    expect((await machine.run(worker('--drain'))).status).toBe(0);
    const { status, stdout } = await runs('results', run);
    expect({ status, result: JSON.parse(stdout) }).toMatchObject({
      status: 0,
      result: { line: 2, union_id: 'meant', outcome: 'ok' },
    });
  });

  it('leaves no secret in the database, and nothing of a person once it is over', async () => {
    await machine.putUsers(['p1']);
    write('people.csv', ['p1,gold,zhang@example.com']);
    const run = await handOver('people.csv');
    const secret = JSON.parse(readFileSync(machine.profileFile, 'utf8')).profiles.local.secret.value;
    expect(await dump(schema.url)).toContain('zhang@example.com');
    expect(await dump(schema.url)).not.toContain(secret);
    expect((await machine.run(worker('--drain'))).status).toBe(0);
    const after = await dump(schema.url);
    for (const word of ['zhang@example.com', 'p1', secret]) expect(after).not.toContain(word);
    const { status, stdout } = await runs('results', run);
    expect(status).toBe(0);
    expect(stdout).toMatch(
      /^\{"line":2,"union_id":"p1","outcome":"ok","code":200,"msg":"ok","request_id":"[0-9a-f]{20}"\}\n$/,
    );
    expect((await runs('delete', run, '--yes')).status).toBe(0);
    expect(await dump(schema.url)).not.toContain(run);
    expect((await runs('show', run)).status).toBe(2);
  });

  it('keeps its rows with --keep, and gives results without the file', async () => {
    await machine.putUsers(['k1']);
    write('kept.csv', ['k1,gold,li@example.com', 'nobody,gold,']);
    const run = await handOver('kept.csv', '--keep');
    await machine.run(worker('--drain'));
    expect(await dump(schema.url)).toContain('li@example.com');
    writeFileSync(join(machine.folder, 'kept.csv'), 'another\n');
    const { status, stdout } = await runs('results', run, '--failed', 'again.ndjson');
    expect(status).toBe(6);
    expect(inOrder(stdout)).toMatchObject([
      { line: 2, union_id: 'k1', outcome: 'ok' },
      { line: 3, union_id: 'nobody', outcome: 'failed', code: 40401 },
    ]);
    expect(read('again.ndjson')).toBe('{"union_id":"nobody","level":"gold"}\n');
    // Whoever has the file deletes the run next.
    const preload = join(import.meta.dirname, '..', '..', 'support', 'disk-log.cjs');
    const log = join(machine.folder, 'disk.json');
    const under = ['env', `NODE_OPTIONS=--require ${preload}`, `DISK_LOG=${log}`];
    await machine.run(['runs', 'results', run, '--results', 'k.ndjson', ...queue()], { under });
    const ofResults = JSON.parse(readFileSync(log, 'utf8')).filter(
      (event: string[]) => event[1] === 'k.ndjson',
    );
    expect(ofResults.map(([kind]: string[]) => kind)).toEqual(['write', 'sync']);
    const other = await runs('results', run, '--from', 'kept.csv');
    expect(other.status).toBe(2);
    expect(other.stderr).toContain('is not the file that run');
    await runs('delete', run, '--yes');
    expect(await dump(schema.url)).not.toContain('li@example.com');
  });

  it('is logged as JSON, and deleted by a worker once its results were kept for long enough', async () => {
    await machine.putUsers(['j1']);
    write('json.csv', ['j1,gold,', 'nobody,gold,']);
    const run = await handOver('json.csv');
    const work = worker('--drain', '--log-format', 'json', '--keep-results', '30d');
    const lines = async () => {
      const { status, stderr } = await machine.run(work);
      expect(status).toBe(0);
      return stderr
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
        .filter((line) => line.run === run);
    };
    const head = { time: expect.stringMatching(/^\d{4}-.*Z$/), level: 'info', run };
    expect(await lines()).toEqual([
      { ...head, event: 'run_started', rows: 2, waits_for: [] },
      { ...head, event: 'chunk', chunk: 0, ms: expect.any(Number), ok: 1, failed: 1, invalid: 0, unknown: 0 },
      { ...head, event: 'run_ended', rows: 2 },
    ]);
    expect((await runs('show', run)).status).toBe(0);
    await query(schema.url, `UPDATE userinfo_runs SET ended_at = 0 WHERE run = '${run}'`);
    write('later.csv', ['j1,silver,']);
    const later = await handOver('later.csv');
    expect(await lines()).toEqual([{ ...head, event: 'run_deleted', outcomes: 2 }]);
    expect((await runs('show', run)).status).toBe(2);
    // Another worker deletes the next one meanwhile.
    await query(schema.url, `UPDATE userinfo_runs SET ended_at = 0 WHERE run = '${later}'`);
    const removal = query(schema.url, `DELETE FROM userinfo_runs WHERE run = '${later}'; SELECT pg_sleep(1)`);
    const removing = `SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND query LIKE '%${later}%'`;
    await expect.poll(() => query(schema.url, removing), { interval: 10 }).not.toEqual([]);
    expect(await machine.run(work)).toMatchObject({ status: 0, stderr: '' });
    await removal;
  });

  it('has failed chunks, which no worker takes until they are retried', async () => {
    await machine.putUsers(['f1']);
    write('failed.csv', ['f1,gold,']);
    const run = await handOver('failed.csv');
    await query(schema.url, `UPDATE userinfo_chunks SET takings = 1000 WHERE run = '${run}'`);
    const url = schema.url.replace('@', ':pass4711@');
    const refused = await machine.run(['-p', 'local', 'worker', '--queue', url, '--drain']);
    expect(refused.status).toBe(6);
    expect(refused.stderr).not.toContain('pass4711');
    expect(refused.stderr).toContain(`run ${run} has failed chunks: 1 of 1`);
    expect(JSON.parse((await runs('show', run, '--json')).stdout)).toMatchObject({ failed_chunks: 1 });
    const results = await runs('results', run, '--wait');
    expect(results.stderr).toMatch(
      /is ready: 1 row without an outcome\nThey are in its failed chunks\. .*\n {2}userinfo runs retry/,
    );
    expect(refused.stderr).toContain('Retry them:\n  userinfo runs retry ');
    expect((await runs('retry', run)).stderr).toBe(`workers take 1 chunk of run ${run} again\n`);
    expect((await machine.run(worker('--drain'))).status).toBe(0);
    expect((await runs('results', run)).status).toBe(0);
  });

  it('is left alone by a worker for another environment, address, tenant or channel', async () => {
    write('test.csv', ['p1,silver,']);
    const run = await handOver('test.csv');
    for (const [option, value, name] of [
      ['--environment', 'production', 'environment'],
      ['--base-url', 'https://other.invalid', 'environment, base URL'],
      ['--tenant-code', 'another', 'tenant code'],
      ['--channel', 'app', 'channel'],
    ]) {
      const { status, stderr } = await machine.run(worker('--drain', `${option}=${value}`));
      expect([status, stderr]).toEqual([
        2,
        expect.stringContaining(`run ${run} is for another ${name} than this`),
      ]);
    }
    expect(JSON.parse((await runs('show', run, '--json')).stdout)).toMatchObject({ state: 'ready', ok: 0 });
    expect([(await runs('delete', run, '--yes')).status, (await runs('cancel', run)).status]).toEqual([2, 2]);
    const cancelled = `run ${run} is cancelled; requests in flight still finish\n`;
    expect(await runs('cancel', run, '--yes')).toMatchObject({ status: 0, stderr: cancelled });
    expect((await runs('delete', run, '--yes')).status).toBe(0);
  });

  it('is given up by a worker that was stopped for longer than its lease, and writes nothing old', async () => {
    const unionIds = Array.from({ length: 5 }, (_, i) => `s${i}`);
    await machine.putUsers(unionIds);
    write(
      'stopped.csv',
      unionIds.map((id) => `${id},old,`),
    );
    const run = await handOver('stopped.csv', '--rate', '1/s', '--lease', '3s');
    const stopped = start(worker('--concurrency', '1'));
    await stopAfterRow(stopped, async () => {
      const stored = await machine.extensionInfo();
      return unionIds.filter((id) => stored.get(id)?.level === 'old').length;
    });
    expect(await machine.run(worker('--drain'))).toMatchObject({ status: 0 });
    expect(JSON.parse((await runs('show', run, '--json')).stdout)).toMatchObject({ state: 'done', ok: 5 });
    write(
      'newer.csv',
      unionIds.map((id) => `${id},new,`),
    );
    expect(await machine.run(['-p', 'local', 'passback', '--from', 'newer.csv'])).toMatchObject({
      status: 0,
    });
    const ends = printedBy(stopped, new RegExp(`run ${run}: \\d+ done here`));
    stopped.kill('SIGCONT');
    await ends;
    const stored = await machine.extensionInfo();
    stopped.kill('SIGKILL');
    expect(unionIds.map((id) => stored.get(id)?.level)).toEqual(unionIds.map(() => 'new'));
  });

  it('is given up by a worker whose machine was suspended after its clock was set back', async () => {
    write(
      'suspended.csv',
      Array.from({ length: 30 }, (_, i) => `u${i},suspended,`),
    );
    const run = await handOver('suspended.csv', '--rate', '5/s');
    const before = await countOutcomes();
    // The clock is set back by 4 min, then the machine sleeps for 2: performance.now() stands still. The service, which
    // allows 5 min, goes on answering.
    writeFileSync(
      join(machine.folder, 'suspend.cjs'),
      'const { now } = Date; let ahead = 0; Date.now = () => now() + ahead;' +
        'process.on("SIGUSR2", () => { ahead -= 240_000; setTimeout(() => { ahead += 120_000; }, 300); });',
    );
    const args = worker('--concurrency', '1');
    const suspended = machine.start(args, { env: { NODE_OPTIONS: '--require ./suspend.cjs' } });
    started = [...started, suspended];
    await expect.poll(countOutcomes).toBeGreaterThan(before);
    suspended.kill('SIGUSR2');
    // To the database, the chunk is still the worker's, which returns it therefore, and asks for it again.
    const takings = async () =>
      (
        await query(
          schema.url,
          `SELECT MAX(takings)::INT AS takings FROM userinfo_chunks WHERE run = '${run}'`,
        )
      )[0]?.takings;
    await expect.poll(takings).toBe(2);
    expect((await runs('cancel', run, '--yes')).status).toBe(0);
    // Later runs with its users wait until it has handed its chunk back.
    const workers = async () => JSON.parse((await runs('show', run, '--json')).stdout).workers;
    await expect.poll(workers).toBe(0);
    suspended.kill('SIGKILL'); // it would take chunks of later runs
  });

  it('is handed back by a worker on Ctrl-C, and ends when it is cancelled', async () => {
    write(
      'slow.csv',
      Array.from({ length: 200 }, (_, i) => `u${i},slow,`),
    );
    const before = await countOutcomes();
    const run = await handOver('slow.csv', '--rate', '20/s');
    const stopped = start(worker());
    await expect.poll(countOutcomes).toBeGreaterThan(before);
    const ended = new Promise((resolve) => stopped.once('exit', resolve));
    stopped.kill('SIGINT');
    expect(await ended).toBe(0);
    const shown = JSON.parse((await runs('show', run, '--json')).stdout);
    expect(shown).toMatchObject({ state: 'ready', workers: 0, rate: 20 });
    const other = start(worker());
    const ends = printedBy(other, new RegExp(`run ${run}: \\d+ done here`));
    await printedBy(other, new RegExp(`run ${run}: 200 rows`));
    expect((await runs('cancel', run, '--yes')).status).toBe(0);
    await ends;
    const { status, stderr } = await runs('results', run);
    expect(status).toBe(6);
    expect(stderr).toMatch(/run \w+ is cancelled: [\d,]+ rows without an outcome/);
    expect(await dump(schema.url)).not.toContain(',slow');
  });

  it('stays loading if the command that loads it is killed, until it is deleted', async () => {
    write(
      'large.csv',
      Array.from({ length: 60_000 }, (_, i) => `u${i},half-loaded,`),
    );
    const stored = async () =>
      (await query(schema.url, "SELECT 1 FROM userinfo_chunks WHERE data LIKE '%half-loaded%'")).length;
    const loading = start(['-p', 'local', 'passback', '--from', 'large.csv', ...queue()]);
    await expect.poll(stored, { interval: 10 }).toBeGreaterThan(0);
    loading.kill('SIGKILL');
    const list = await runs('list', '-o', 'ndjson');
    const found = list.stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    const run = found.find(({ from }) => from === 'large.csv');
    expect(run).toMatchObject({ state: 'loading', rows: 60_000, done: 0 });
    expect((await runs('delete', run.run, '--yes')).status).toBe(0);
    expect(await stored()).toBe(0);
  });

  it('is refused with a lease or users that it cannot have, and shows no password', async () => {
    const lease = '-p local passback --from x.csv --lease 1d'.split(' ');
    const long = await machine.run([...lease, ...queue()]);
    expect(long.status).toBe(2);
    expect(long.stderr).toContain('The maximum is 12h.');
    write('twice.csv', ['u1,gold,', 'u2,gold,', 'u1,silver,']);
    const twice = await machine.run(['-p', 'local', 'passback', '--from', 'twice.csv', ...queue()]);
    expect(twice.status).toBe(2);
    expect(twice.stderr).toContain('rows 1 and 3 name the same user: nothing was queued');
    const url = 'postgres://me:pass4711@127.0.0.1:1/queue';
    writeFileSync(join(machine.folder, 'delimiter.csv'), 'union_id;level\nu1;gold\n');
    const named = await machine.run(['-p', 'local', 'passback', '--from', 'delimiter.csv', '--queue', url]);
    expect(named.stderr).toMatch(
      /PGPASSWORD\. .*\n.* --queue postgres:\/\/me@127\.0\.0\.1:1\/queue --delimiter/,
    );
    expect(named.stderr).not.toContain('pass4711');
    const closed = await machine.run(['runs', 'list', '--queue', url]);
    expect(closed.status).toBe(2);
    expect(closed.stderr).toContain('cannot open the queue postgres://me@127.0.0.1:1/queue');
    expect(closed.stderr).not.toContain('pass4711');
  });
});
