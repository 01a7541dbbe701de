import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { PostgresServer } from '../../support/postgres/postgres-server.js';
import { printRates } from '../print-rates.js';
import { measureServices } from './measure-service.js';
import { prepareStore } from './prepared-store.js';

const warmUp = 1000;
const counted = 8000;
/** As many as the service has connections. */
const poolSize = 10;

it('measures the service on PostgreSQL', async () => {
  // With what tests switch off: it writes to the disk before it answers.
  const server = await PostgresServer.create(['shared_buffers=256MB', 'max_wal_size=4GB']);
  const store = await prepareStore(server.url);
  const reads = () => Promise.all([store.reads(warmUp), store.reads(counted)]);
  const passbacks = () => [store.passbacks(warmUp), store.passbacks(counted)] as const;

  const selectRate = await pgbenchSelects(server.url, store.users);
  const readRate = await measureServices(server.url, 1, ...(await reads()));
  const passbackRate = await measureServices(server.url, 1, ...passbacks());
  printRates(
    `One service process on PostgreSQL, ${poolSize} connections`,
    { name: 'pgbench: select one user by its key', perSecond: selectRate },
    { name: 'signed reads', perSecond: readRate },
    { name: 'durable passbacks', perSecond: passbackRate },
  );
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
  await store.close();
  await server.remove();
});

/** `pgbench` comes with PostgreSQL, but not with the package that the tests take it from. */
async function pgbenchSelects(url: string, users: number): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'userinfo-pgbench-'));
  const script = join(folder, 'select.sql');
  const select = "SELECT record FROM users WHERE tenant_code = 'acme' AND union_id = 'u' || :n;";
  await writeFile(script, `\\set n random(0, ${users - 1})\n${select}\n`);
  const args = ['-n', '-M', 'prepared', '-c', `${poolSize}`, '-j', '1', '-T', '4', '-f', script, url];
  try {
    const { stdout } = await promisify(execFile)('pgbench', args);
    return Number(/tps = ([\d.]+)/.exec(stdout)?.[1]);
  } catch (cause) {
    throw new Error('this takes pgbench (postgresql-contrib) on PATH', { cause });
  } finally {
    await rm(folder, { recursive: true });
  }
}
