import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { PostgresServer } from '../../support/postgres/postgres-server.js';
import { execute } from '../../support/postgres/test-schema.js';
import { startServiceProcesses } from '../../support/service-process.js';
import { medianOf } from '../median.js';
import { printRates } from '../print-rates.js';
import { load } from './load.js';
import { prepareStore } from './prepared-store.js';

/** A new process is at its full speed after some thousand requests. */
const warmUp = 5000;
const counted = 6000;
const rounds = 5;
/** How long pgbench runs in each round. */
const leastSeconds = 4;
/** As many as the service has connections. */
const poolSize = 10;

/** That of the npm package, and those that Debian installs. */
const debian = '/usr/lib/postgresql';
const servers = [
  '',
  ...(existsSync(debian) ? readdirSync(debian).map((version) => join(debian, version, 'bin')) : []),
];

it.each(servers)('measures the service on PostgreSQL %s', async (folder) => {
  const programs = { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres') };
  // With what tests switch off: it writes to the disk before it answers.
  const settings = ['shared_buffers=256MB', 'max_wal_size=4GB'];
  const server = await PostgresServer.create(settings, folder === '' ? undefined : programs);
  const store = await prepareStore(server.url);
  const least = await prepareLeast(server.url, store.users);
  const [service] = await startServiceProcesses(server.url, 1);
  const plain = spawn(process.execPath, [
    join(import.meta.dirname, 'plain-server.mjs'),
    server.url,
  ]);
  const urls = {
    ours: [service?.url ?? ''],
    plain: [String((await once(plain.stdout, 'data'))[0]).trim()],
  };
  for (const url of Object.values(urls)) {
    await load(url, [...(await store.reads(warmUp)), ...store.passbacks(warmUp)]);
  }
  const rates = { least: [] as number[], reads: [] as number[], passbacks: [] as number[] };
  const plainRates = { reads: [] as number[], passbacks: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    rates.least.push(await least.rate());
    for (const [url, { reads, passbacks }] of [
      [urls.plain, plainRates],
      [urls.ours, rates],
    ] as const) {
      reads.push(await load(url, await store.reads(counted)));
      passbacks.push(await load(url, store.passbacks(counted)));
    }
  }
  printRates(
    `One service process on PostgreSQL ${folder || 'of the npm package'}, ${poolSize} connections, medians of ${rounds}`,
    {
      name: 'pgbench: insert a nonce, update a code, select a user, commit',
      perSecond: medianOf(rates.least),
    },
    { name: 'a plain server: reads', perSecond: medianOf(plainRates.reads) },
    { name: 'a plain server: passbacks', perSecond: medianOf(plainRates.passbacks) },
    { name: 'signed reads', perSecond: medianOf(rates.reads) },
    { name: 'durable passbacks', perSecond: medianOf(rates.passbacks) },
  );
  expect(medianOf(rates.reads)).toBeGreaterThan(0);
  service?.child.kill();
  plain.kill();
  await least.remove();
  await store.close();
  await server.remove();
});

/**
 * The least that the database does for a signed read, in a transaction of its own. `pgbench` comes
 * with PostgreSQL, but not with the package that the tests take it from.
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
    const args = [
      '-n',
      '-M',
      'prepared',
      '-c',
      `${poolSize}`,
      '-j',
      '1',
      ...more,
      '-f',
      script,
      url,
    ];
    try {
      return (await promisify(execFile)('pgbench', args, { cwd: folder })).stdout;
    } catch (cause) {
      throw new Error('this takes pgbench (postgresql-contrib) on PATH', { cause });
    }
  };
  return {
    rate: async () => Number(/tps = ([\d.]+)/.exec(await run('-T', `${leastSeconds}`))?.[1]),
    remove: () => rm(folder, { recursive: true }),
  };
}
