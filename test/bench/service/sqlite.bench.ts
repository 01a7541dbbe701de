import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect, it } from 'vitest';
import { printRates } from '../print-rates.js';
import { startBareServer } from './bare-server.js';
import { load } from './load.js';
import { measureServices } from './measure-service.js';
import { prepareStore } from './prepared-store.js';

/** A new process is at its full speed after some thousand requests. */
const warmUp = 5000;
const counted = 10_000;

it('measures the service on SQLite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'userinfo-bench-'));
  const database = join(folder, 'bench.db');
  const store = await prepareStore(database);
  const reads = () => Promise.all([store.reads(warmUp), store.reads(counted)]);
  const passbacks = () => [store.passbacks(warmUp), store.passbacks(counted)] as const;

  const bare = await startBareServer();
  await load([bare.url], await store.reads(warmUp));
  const bareRate = await load([bare.url], await store.reads(counted));
  bare.stop();
  const readRate = await measureServices(database, 1, ...(await reads()));
  const passbackRate = await measureServices(database, 1, ...passbacks());
  printRates(
    'One service process on SQLite, 32 connections',
    { name: 'bare node:http server', perSecond: bareRate },
    { name: 'signed reads', perSecond: readRate },
    { name: 'durable passbacks', perSecond: passbackRate },
  );
  printRates(
    'What a commit costs',
    { name: 'one durable SQLite statement after the other', perSecond: durableStatements(folder) },
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

function durableStatements(folder: string): number {
  const database = new DatabaseSync(join(folder, 'statements.db'));
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE things (n INTEGER)');
  const insert = database.prepare('INSERT INTO things (n) VALUES (?)');
  const startedAt = performance.now();
  let count = 0;
  while (performance.now() - startedAt < 2000) insert.run(count++);
  const seconds = (performance.now() - startedAt) / 1000;
  database.close();
  return count / seconds;
}
