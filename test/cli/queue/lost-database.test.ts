import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { printedBy } from '../../support/cli.js';
import { PostgresServer } from '../../support/postgres/postgres-server.js';
import { query } from '../../support/postgres/test-schema.js';
import { ServedMachine } from '../../support/served.js';

let server: PostgresServer;
let machine: ServedMachine;

beforeAll(async () => {
  [server, machine] = await Promise.all([
    PostgresServer.create(),
    ServedMachine.create(['--fault', 'latency=20ms..40ms']),
  ]);
}, 60_000);

afterAll(async () => {
  await machine[Symbol.asyncDispose]();
  await server.remove();
});

it('a worker waits for its queue while the database is away, and loses no row', {
  timeout: 180_000,
}, async () => {
  const unionIds = Array.from({ length: 250 }, (_, i) => `u${i}`);
  await machine.putUsers(unionIds);
  writeFileSync(
    join(machine.folder, 'rows.csv'),
    `union_id,level\n${unionIds.map((id) => `${id},${id}\n`).join('')}`,
  );
  const queue = ['--queue', server.url];
  const { stdout } = await machine.run(['-p', 'local', 'passback', '--from', 'rows.csv', ...queue]);
  const worker = machine.start(['-p', 'local', 'worker', ...queue, '--drain', '--concurrency', '2']);
  onTestFinished(() => void worker.kill('SIGKILL'));
  const ended = new Promise((resolve) => worker.once('exit', resolve));
  const count = async () => (await query(server.url, 'SELECT 1 FROM userinfo_outcomes')).length;
  await expect.poll(count).toBeGreaterThan(0);
  const lost = printedBy(worker, /waiting for the queue: /);
  const back = printedBy(worker, /the queue is back/);
  await server.stop();
  await lost;
  await server.start();
  await back;
  expect(await ended).toBe(0);
  const results = ['runs', 'results', stdout.trim(), ...queue, '--results', 'results.ndjson'];
  expect((await machine.run(results)).status).toBe(0);
  const lines = readFileSync(join(machine.folder, 'results.ndjson'), 'utf8').split('\n').filter(Boolean);
  expect(lines.map((line) => JSON.parse(line).line)).toEqual(unionIds.map((_, i) => i + 2));
});

it('a worker whose database stays away is idle, and ends on SIGTERM', async () => {
  const worker = machine.start(['-p', 'local', 'worker', '--queue', server.url]);
  onTestFinished(() => void worker.kill('SIGKILL'));
  const ended = new Promise((resolve) => worker.once('exit', resolve));
  const lost = printedBy(worker, /waiting for the queue: /);
  const connected = async () =>
    (await query(server.url, "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'SELECT properties%'")).length;
  await expect.poll(connected).toBeGreaterThan(0);
  await server.stop();
  await lost;
  let asked = 0;
  const inItsPlace = createServer((socket) => {
    asked += 1;
    socket.destroy();
  }).listen(server.port, '127.0.0.1');
  await expect.poll(() => asked).toBeGreaterThan(1);
  await wait(1000);
  // Without pauses it would ask thousands of times; with pauses that grow, 20 times take half a minute.
  expect(asked).toBeLessThan(20);
  await new Promise((resolve) => inItsPlace.close(resolve));
  worker.kill('SIGTERM');
  expect(await ended).toBe(0);
  await server.start();
}, 60_000);
