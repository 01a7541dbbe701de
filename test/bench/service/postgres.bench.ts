import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { PostgresServer } from '../../support/postgres/postgres-server.js';
import { execute } from '../../support/postgres/test-schema.js';
import { printRates } from '../print-rates.js';
import { startBareServer } from './bare-server.js';
import { pacedLoad } from './load.js';
import { measureLatencies, measureServices } from './measure-service.js';
import { prepareStore } from './prepared-store.js';

/** A new process is at its full speed after some thousand requests. */
const warmUp = 5000;
const counted = 8000;
/** How long pgbench runs for its rate. */
const leastSeconds = 4;
/** How long requests are sent at a steady rate. */
const pacedSeconds = 12;
/**
 * Not counted of them: code is compiled, connections are opened, and PostgreSQL writes whole pages at their first
 * change.
 */
const settlingSeconds = 4;
/** As many as the service has connections. */
const poolSize = 10;

it('measures the service on PostgreSQL', async () => {
  // With what tests switch off: it writes to the disk before it answers.
  const server = await PostgresServer.create(['shared_buffers=256MB', 'max_wal_size=4GB']);
  const store = await prepareStore(server.url);
  const reads = () => Promise.all([store.reads(warmUp), store.reads(counted)]);
  const passbacks = () => [store.passbacks(warmUp), store.passbacks(counted)] as const;

  const least = await prepareLeast(server.url, store.users);
  const leastRate = await least.rate();
  const readRate = await measureServices(server.url, 1, ...(await reads()));
  const passbackRate = await measureServices(server.url, 1, ...passbacks());
  printRates(
    `One service process on PostgreSQL, ${poolSize} connections`,
    { name: 'pgbench: insert a nonce, update a code, select a user, commit', perSecond: leastRate },
    { name: 'signed reads', perSecond: readRate },
    { name: 'durable passbacks', perSecond: passbackRate },
  );
  for (const [name, prepare, rate] of [
    ['signed reads', store.reads, readRate / 2],
    ['durable passbacks', store.passbacks, passbackRate / 2],
  ] as const) {
    const requests = await prepare(warmUp + Math.ceil(pacedSeconds * rate));
    const ours = await measureLatencies(server.url, requests.slice(0, warmUp), requests.slice(warmUp), rate);
    const settled = settlingSeconds * rate;
    printLatencies(`${name} at half that rate, ${rate.toFixed(0)}/s`, ours.slice(settled));
    printLatencies('  pgbench at the same rate', (await least.latencies(rate)).slice(settled));
    const bare = await startBareServer();
    const bareLatencies = await pacedLoad(bare.url, requests.slice(warmUp), rate);
    bare.stop();
    printLatencies('  bare node:http server at the same rate', bareLatencies.slice(settled));
  }
  printRates(
    'Two service processes on one PostgreSQL',
    { name: 'signed reads, one process', perSecond: readRate },
    {
      name: 'signed reads, two processes',
      perSecond: await measureServices(server.url, 2, ...(await reads())),
    },
    { name: 'passbacks, one process', perSecond: passbackRate },
    { name: 'passbacks, two processes', perSecond: await measureServices(server.url, 2, ...passbacks()) },
  );
  expect(readRate).toBeGreaterThan(0);
  await least.remove();
  await store.close();
  await server.remove();
});

function printLatencies(name: string, latencies: number[]): void {
  const sorted = latencies.sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(share * sorted.length)] ?? Number.NaN;
  const [p50, p99] = [at(0.5), at(0.99)];
  process.stdout.write(
    `${name.padEnd(45)}p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms: ${(p99 / p50).toFixed(1)} times p50\n`,
  );
}

/**
 * The least that the database does for a signed read, in a transaction of its own. `pgbench` comes with PostgreSQL,
 * but not with the package that the tests take it from.
 */
async function prepareLeast(url: string, users: number) {
  await execute(
    url,
    `INSERT INTO codes SELECT 'acme', 'least' || n, 'u' || n, NULL, 9999999999, 1000000
       FROM generate_series(0, ${users - 1}) n; ANALYZE`,
  );
  const folder = await mkdtemp(join(tmpdir(), 'userinfo-pgbench-'));
  const script = join(folder, 'least.sql');
  await writeFile(
    script,
    `\\set n random(0, ${users - 1})
     \\set r random(0, 1000000000000000)
     BEGIN;
     INSERT INTO nonces (tenant_code, app_key, random, expires_at)
       VALUES ('acme', 'least', 'random' || :r, 9999999999) ON CONFLICT DO NOTHING;
     UPDATE codes SET uses_left = uses_left - 1
       WHERE tenant_code = 'acme' AND code = 'least' || :n AND uses_left > 0 RETURNING union_id;
     SELECT record FROM users WHERE tenant_code = 'acme' AND union_id = 'u' || :n;
     COMMIT;\n`,
  );
  const run = async (...more: string[]) => {
    const args = ['-n', '-M', 'prepared', '-c', `${poolSize}`, '-j', '1', ...more, '-f', script, url];
    try {
      return (await promisify(execFile)('pgbench', args, { cwd: folder })).stdout;
    } catch (cause) {
      throw new Error('this takes pgbench (postgresql-contrib) on PATH', { cause });
    }
  };
  return {
    rate: async () => Number(/tps = ([\d.]+)/.exec(await run('-T', `${leastSeconds}`))?.[1]),
    /** How long each transaction took from when it was due, in milliseconds, at a steady rate. */
    async latencies(perSecond: number) {
      await run('-T', `${pacedSeconds}`, '-R', perSecond.toFixed(0), '-l', '--log-prefix=latencies');
      const [log = ''] = (await readdir(folder)).filter((name) => name.startsWith('latencies'));
      const lines = (await readFile(join(folder, log), 'utf8')).trim().split('\n');
      await rm(join(folder, log));
      return lines.map((line) => Number(line.split(' ')[2]) / 1000);
    },
    remove: () => rm(folder, { recursive: true }),
  };
}
