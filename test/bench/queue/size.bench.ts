import { join } from 'node:path';
import { it } from 'vitest';
import { Queue } from '../../../src/queue/queue.js';
import { fillQueue } from '../../support/postgres/fill-queue.js';
import { PostgresServer } from '../../support/postgres/postgres-server.js';
import { execute } from '../../support/postgres/test-schema.js';
import { medianOf } from '../median.js';

/** The folder of another PostgreSQL's programs, such as /usr/lib/postgresql/15/bin. */
const programs = process.env.USERINFO_BENCH_POSTGRES;
const runs = 50;
const chunks = 10_000;

it('measures a queue of 50 ready runs of ten million rows, and the removal of one that is done', async () => {
  const binaries = programs && { initdb: join(programs, 'initdb'), postgres: join(programs, 'postgres') };
  const server = await PostgresServer.create([], binaries || undefined);
  const queue = await Queue.open(server.url);
  await fillQueue(server.url, { runs, chunks, done: chunks / 2 });
  await execute(
    server.url,
    `INSERT INTO userinfo_runs (run, state, properties, created_at, ended_at, chunks, chunks_done, ok)
       SELECT 'over', 'done', properties, 1, 1, 0, 0, 10000000 FROM userinfo_runs LIMIT 1;
     INSERT INTO userinfo_outcomes (run, line, outcome, result)
       SELECT 'over', n, 'ok', '"outcome":"ok","code":200,"msg":"ok","request_id":"0123456789abcdef0123"'
       FROM generate_series(1, 10000000) n`,
  );
  const [first] = await queue.list();
  const run = await queue.find('run1');
  const timed = async (name: string, count: number, work: () => Promise<unknown>) => {
    const times: number[] = [];
    for (let i = 0; i < count; i += 1) {
      const startedAt = performance.now();
      await work();
      times.push(performance.now() - startedAt);
    }
    process.stdout.write(
      `${name.padEnd(20)} median ${medianOf(times).toFixed(1)} ms, longest ${Math.max(...times).toFixed(1)} ms of ${count}\n`,
    );
  };
  process.stdout.write(`\n${runs} ready runs of ${chunks} chunks, half of them done (${first?.run})\n`);
  await timed('runs list', 40, () => queue.list());
  await timed('ready runs', 40, () => queue.list('ready'));
  await timed('runs show', 40, () => queue.find('run7'));
  await timed('take and finish', 200, async () => {
    const taken = await queue.take(run);
    if (taken === null) throw new Error('there is no chunk');
    await queue.finish(taken);
  });
  const removal = queue.remove('over');
  await timed('remove 5,000 outcomes', 2000, () => removal.next());
  await queue.close();
  await server.remove();
}, 3_600_000);
