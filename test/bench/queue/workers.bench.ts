import { once } from 'node:events';
import { expect, it } from 'vitest';
import { Machine } from '../../support/cli.js';
import { PostgresServer } from '../../support/postgres/postgres-server.js';
import { query } from '../../support/postgres/test-schema.js';
import { startTrivialServer } from '../bulk/trivial-server.js';
import { printRates } from '../print-rates.js';
import { handOver, measure, until, writeRows } from './queue-machine.js';

/** `USERINFO_BENCH_ROWS=1000000` shows what memory is like in the long run. */
const rows = Number(process.env.USERINFO_BENCH_ROWS ?? 20_000);

it('measures workers on one queue, against a service that does nothing', async () => {
  const server = await PostgresServer.create(['shared_buffers=256MB', 'max_wal_size=4GB']);
  const service = await startTrivialServer();
  using machine = new Machine();
  const keys = ['--tenant-code', 'acme', '--channel', 'web', '--app-key', 'a', '--app-secret-env', 'S'];
  const env = { S: 'secret' };
  const { status } = await machine.run(['profile', 'add', 'local', '--base-url', service.url, ...keys], {
    env,
  });
  expect(status).toBe(0);
  await writeRows(machine, 'rows.csv', rows);
  const one = await measureWorkers(1);
  const two = await measureWorkers(2);
  printRates(
    'Workers on one queue',
    { name: 'one worker, rows', perSecond: one.perSecond },
    { name: 'two workers, rows', perSecond: two.perSecond },
  );
  const megabytes = (peaks: readonly number[]) => peaks.map((peak) => `${peak.toFixed(0)} MB`).join(', ');
  const cpuMs = [...one.workers, ...two.workers].reduce((sum, worker) => sum + worker.cpuMs, 0);
  process.stdout.write(
    `\nA row takes ${(cpuMs / 2 / rows).toFixed(3)} ms of a worker's core, ` +
      `${one.waitingBytes.toFixed(0)} bytes while it waits, then ${one.doneBytes.toFixed(0)} bytes\n`,
  );
  process.stdout.write(
    `\nPeak memory with ${rows} rows: handing over ${megabytes([two.handOverMb])}, ` +
      `workers ${megabytes([...one.workers, ...two.workers].map(({ peakMb }) => peakMb))}, results ${megabytes([two.resultsMb])}\n`,
  );
  service.stop();
  await server.remove();

  async function measureWorkers(count: number) {
    const before = await size();
    const { stdout: run, peakMb: handOverMb } = await handOver(machine, 'rows.csv', server.url);
    const waitingBytes = ((await size()) - before) / rows;
    const start = () => machine.start(['-p', 'local', 'worker', '--queue', server.url], { env });
    const workers = Array.from({ length: count }, start);
    const measured = workers.map(measure);
    await Promise.all(workers.map((worker) => once(worker.stderr ?? worker, 'data')));
    const startedAt = performance.now();
    const done = async () =>
      (await query(server.url, `SELECT state FROM userinfo_runs WHERE run = '${run}'`))[0]?.state === 'done';
    await until(done);
    const seconds = (performance.now() - startedAt) / 1000;
    for (const worker of workers) worker.kill('SIGTERM');
    const usages = await Promise.all(measured);
    const doneBytes = ((await size()) - before) / rows;
    const results = ['runs', 'results', run, '--queue', server.url, '--results', 'results.ndjson'];
    const { peakMb: resultsMb, status: ended } = await measure(machine.start(results));
    expect(ended).toBe(0);
    return { perSecond: rows / seconds, handOverMb, workers: usages, resultsMb, waitingBytes, doneBytes };
  }

  /** Of the tables of the queue, in bytes. */
  async function size(): Promise<number> {
    const [found] = await query(
      server.url,
      "SELECT COALESCE(SUM(pg_total_relation_size(oid)), 0) AS size FROM pg_class WHERE relkind = 'r'" +
        " AND relname LIKE 'userinfo%'",
    );
    return Number(found?.size);
  }
}, 7_200_000);
