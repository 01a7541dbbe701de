import type { ChildProcess } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { PostgresServer } from '../../support/postgres/postgres-server.js';
import { query } from '../../support/postgres/test-schema.js';
import { ServedMachine } from '../../support/served.js';
import { handOver, writeRows } from './queue-machine.js';

/** `USERINFO_BENCH_ROWS=200000` is the full size. */
const rows = Number(process.env.USERINFO_BENCH_ROWS ?? 30_000);
const workers = 3;
const killEveryMs = 2000;

const unionIds = Array.from({ length: rows }, (_, i) => `u${i}`);

it('loses and doubles no row while workers are killed and the database is restarted', async () => {
  const server = await PostgresServer.create();
  await using machine = await ServedMachine.create();
  await machine.putUsers(unionIds);
  await writeRows(machine, 'rows.csv', rows);
  const run = (await handOver(machine, 'rows.csv', server.url, ['--lease', '3s'])).stdout;
  const args = ['-p', 'local', 'worker', '--queue', server.url];
  const start = (): ChildProcess => machine.start(args).on('error', () => {});
  const startedAt = performance.now();
  const running = Array.from({ length: workers }, start);
  let kills = 0;
  let restarts = 0;
  let doneBefore = 0;
  for (;;) {
    await wait(killEveryMs);
    const [state] = await query(server.url, 'SELECT state, ok + failed + unknown AS done FROM userinfo_runs');
    if (state?.state === 'done') break;
    // A worker that is killed while it starts does nothing.
    if (Number(state?.done) === doneBefore) continue;
    doneBefore = Number(state?.done);
    const victim = kills % workers;
    running[victim]?.kill('SIGKILL');
    running[victim] = start();
    kills += 1;
    if (restarts === 0 && Number(state?.done) > rows / 3) {
      await server.stop();
      await wait(1000);
      await server.start();
      restarts += 1;
    }
  }
  const seconds = (performance.now() - startedAt) / 1000;
  for (const worker of running) worker.kill('SIGKILL');

  const results = await machine.run(['runs', 'results', run, '--queue', server.url]);
  const found = results.stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  const stored = await machine.extensionInfo();
  const isStored = (id: string, i: number) =>
    stored.get(id)?.level === `v${i}` && stored.get(id)?.mail === `${id}@example.com`;
  const count = (outcome: string) => found.filter((result) => result.outcome === outcome).length;
  const withLine = new Set(found.map(({ line }) => line)).size;
  process.stdout.write(
    `\n${rows} rows over ${workers} workers, ${kills} killed with -9, the database restarted ${restarts} times: ` +
      `${seconds.toFixed(0)} s\n  ${found.length} results lines for ${withLine} rows: ok ${count('ok')}, ` +
      `failed ${count('failed')}, unknown ${count('unknown')}\n` +
      `  ${unionIds.filter(isStored).length} users of the store are as in the input\n`,
  );
  expect(found.map(({ line }) => line).sort((a, b) => a - b)).toEqual(unionIds.map((_, i) => i + 2));
  expect(unionIds.filter((id, i) => !isStored(id, i))).toEqual([]);
  expect(kills).toBeGreaterThan(0);
  await server.remove();
}, 3_600_000);
