import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect, it } from 'vitest';
import { medianOf } from '../median.js';
import { printRates } from '../print-rates.js';
import { startBareServer } from './bare-server.js';
import { load, type SignedRequest } from './load.js';
import { measureServices } from './measure-service.js';
import { prepareStore } from './prepared-store.js';

/** A new process is at its full speed after some thousand requests. */
const warmUp = 5000;
const counted = 10_000;
/** Each rate is the median of this many. */
const turns = 5;

it('measures the service on SQLite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'userinfo-bench-'));
  const database = join(folder, 'bench.db');
  const store = await prepareStore(database);
  const reads = () => Promise.all([store.reads(warmUp), store.reads(counted)]);
  const passbacks = () => [store.passbacks(warmUp), store.passbacks(counted)] as const;

  const bare: number[] = [];
  const read: number[] = [];
  const statement: number[] = [];
  const passback: number[] = [];
  // In turn: a machine or a disk that is slower for a while slows all of them.
  for (let turn = 0; turn < turns; turn += 1) {
    bare.push(await measureBareServer(...(await reads())));
    read.push(await measureServices(database, 1, ...(await reads())));
    statement.push(durableStatements(folder));
    passback.push(await measureServices(database, 1, ...passbacks()));
  }
  const [readRate, passbackRate] = [medianOf(read), medianOf(passback)];
  printRates(
    'One service process on SQLite, 32 connections',
    { name: 'bare node:http server', perSecond: medianOf(bare) },
    { name: 'signed reads', perSecond: readRate },
    { name: 'durable passbacks', perSecond: passbackRate },
  );
  printRates(
    'What a commit costs',
    { name: 'one durable SQLite statement after the other', perSecond: medianOf(statement) },
    { name: 'durable passbacks', perSecond: passbackRate },
  );
  printRates(
    'Two service processes on one SQLite file',
    { name: 'signed reads, one process', perSecond: readRate },
    {
      name: 'signed reads, two processes',
      perSecond: await measureServices(database, 2, ...(await reads())),
    },
    { name: 'passbacks, one process', perSecond: passbackRate },
    { name: 'passbacks, two processes', perSecond: await measureServices(database, 2, ...passbacks()) },
  );
  expect(readRate).toBeGreaterThan(0);
  await store.close();
  await rm(folder, { recursive: true });
});

async function measureBareServer(
  ...[warmUp, requests]: readonly [warmUp: readonly SignedRequest[], requests: readonly SignedRequest[]]
): Promise<number> {
  const server = await startBareServer();
  await load([server.url], warmUp);
  const perSecond = await load([server.url], requests);
  server.stop();
  return perSecond;
}

function durableStatements(folder: string): number {
  const database = new DatabaseSync(join(folder, 'statements.db'));
  database.exec(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE IF NOT EXISTS things (n INTEGER)',
  );
  const insert = database.prepare('INSERT INTO things (n) VALUES (?)');
  const startedAt = performance.now();
  let count = 0;
  while (performance.now() - startedAt < 2000) insert.run(count++);
  const seconds = (performance.now() - startedAt) / 1000;
  database.close();
  return count / seconds;
}
