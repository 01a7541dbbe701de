import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InputChangedError } from '../../src/bulk/source/checked-input.js';
import { NdjsonRow } from '../../src/bulk/source/ndjson.js';
import { UserDigests } from '../../src/queue/load-run.js';
import { Queue } from '../../src/queue/queue.js';
import type { QueuedRun } from '../../src/queue/run.js';
import { createSchema, query, type TestSchema } from '../support/postgres/test-schema.js';

let schema: TestSchema;
let queue: Queue;

beforeAll(async () => {
  schema = await createSchema();
  queue = await Queue.open(schema.url);
});
afterAll(async () => {
  await queue.close();
  await schema.remove();
});

const given = {
  target: { environment: 'test', base_url: 'http://127.0.0.1', tenant_code: 'acme', channel: 'web' },
  naming: { by: 'union_id', column: 'union_id' } as const,
  source: { from: 'f', hash: '' },
  rate: null,
  keepsRows: false,
  leaseMs: 60_000,
};
const { signal } = new AbortController();
let loaded = 0;
/** A run with so many rows, from line 2. Its users are its own. */
async function load(
  count: number,
  {
    rate = null,
    leaseMs = 60_000,
    user = `run${loaded++}-u`,
  }: { rate?: number | null; leaseMs?: number; user?: string } = {},
  fault?: Error,
) {
  const rows = Array.from({ length: count }, (_, i) => {
    return new NdjsonRow(i + 2, `{"union_id":"${user}${i}","n":${i}}`);
  });
  async function* batches() {
    yield rows;
    if (fault !== undefined) throw fault;
  }
  const added = await queue.load(
    { ...given, rows: count, rate, leaseMs },
    new UserDigests(),
    batches(),
    signal,
  );
  return await queue.find(added.run);
}

/** The numbers of outcomes that are removed after each step. */
async function remove(run: string, from = queue): Promise<number[]> {
  const steps: number[] = [];
  for await (const removed of from.remove(run)) steps.push(removed);
  return steps;
}

async function take(run: QueuedRun) {
  const taken = await queue.take(run);
  if (taken === null) throw new Error('there is no chunk');
  return taken;
}

const linesOf = ({ rows }: { rows: readonly { line: number }[] }) => rows.map(({ line }) => line);
const outcome = (line: number, result: 'ok' | 'failed' = 'ok') => ({
  line,
  outcome: result,
  result: `"outcome":"${result}"`,
});

describe('a queue', () => {
  it('is opened by several processes at once in an empty database', async () => {
    const name = `queue_${schema.url.slice(-16)}`;
    await query(schema.url, `CREATE DATABASE ${name}`);
    const url = new URL(schema.url);
    [url.pathname, url.search] = [name, ''];
    const opened = await Promise.allSettled([1, 2, 3, 4].map(() => Queue.open(url.href)));
    for (const result of opened) if (result.status === 'fulfilled') await result.value.close();
    await query(schema.url, `DROP DATABASE ${name}`);
    expect(opened.map(({ status }) => status)).toEqual(Array(4).fill('fulfilled'));
  });

  it('gives each chunk to one worker, and ends a run when all are done', async () => {
    const run = await load(2400);
    const taken = [await take(run), await take(run), await take(run)];
    expect(await queue.take(run)).toBeNull();
    expect(taken.flatMap(linesOf)).toEqual(Array.from({ length: 2400 }, (_, i) => i + 2));
    // Two workers may record the same rows at once, in parts of any size.
    const parts = taken.flatMap((chunk) => {
      const all = linesOf(chunk).map((line) => outcome(line));
      return [all.slice(0, 300), all.slice(200, 900), all.slice(600), all.slice(100, 500)];
    });
    const [chunk] = taken;
    if (chunk === undefined) throw new Error('there is no chunk');
    const recorded = await Promise.all(parts.map((part) => queue.record(chunk, part)));
    expect(recorded).toEqual(parts.map(() => true));
    expect(await queue.find(run.run)).toMatchObject({ state: 'ready', ok: 2400 });
    for (const chunk of taken.reverse()) {
      expect(await queue.find(run.run)).toMatchObject({ state: 'ready' });
      await queue.finish(chunk);
    }
    expect(await queue.take(run)).toBeNull();
    expect(await queue.find(run.run)).toMatchObject({ state: 'done', chunks: 3, ok: 2400 });
    await remove(run.run);
    expect(await queue.record(chunk, [outcome(2)])).toBe(false);
    expect((await queue.outcomes(run.run, [{ line: 2 }])).size).toBe(0);
  });

  it('leaves no outcome that a worker records while the run is removed', async () => {
    const run = await load(1);
    const taken = await take(run);
    await queue.cancel(run.run);
    await queue.finish(taken);
    expect(await queue.find(run.run)).toMatchObject({ state: 'cancelled', chunks_left: 0, workers: 0 });
    const other = new Client(schema.url);
    await other.connect();
    const waiting = async () =>
      (await query(schema.url, "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'")).length;
    await other.query('BEGIN');
    await other.query(`SELECT 1 FROM userinfo_runs WHERE run = '${run.run}' FOR NO KEY UPDATE`);
    // Without a time-out for locks.
    const patient = await Queue.open(`${schema.url}&pgbouncer=true`);
    const recorded = patient.record(taken, [outcome(2)]);
    await expect.poll(waiting).toBeGreaterThan(0);
    const removed = remove(run.run, patient);
    await expect.poll(waiting).toBeGreaterThan(1);
    await other.query('ROLLBACK');
    await Promise.all([recorded, removed, other.end()]);
    await patient.close();
    expect((await queue.outcomes(run.run, [{ line: 2 }])).size).toBe(0);
  });

  it('stops the worker of a cancelled run, which is not deleted while its requests may be under way', async () => {
    const run = await load(3);
    const taken = await take(run);
    expect(await queue.record(taken, [outcome(2)])).toBe(true);
    await queue.cancel(run.run);
    expect(await queue.record(taken, [outcome(3)])).toBe(false);
    await expect(remove(run.run)).rejects.toThrow('may have requests under way: nothing was deleted');
    expect([...(await queue.outcomes(run.run, taken.rows)).keys()].sort()).toEqual([2, 3]);
    await queue.finish(taken);
    await remove(run.run);
    await expect(queue.find(run.run)).rejects.toThrow('there is no run');
  });

  it('has one chunk of a run with a rate under way', async () => {
    const run = await load(30, { rate: 2 });
    expect(run.chunks).toBe(3);
    const first = await take(run);
    expect(await queue.take(run)).toBeNull();
    await queue.finish(first);
    await take(run);
    expect(await queue.take(run)).toBeNull();
    const closed = await Queue.open(schema.url);
    await closed.close();
    await expect(closed.take(run)).rejects.toThrow('the database is closed');
  });

  it('keeps the outcomes that came first, and ends a chunk once, after its lease has passed to another', async () => {
    const run = await load(3, { leaseMs: 1000 });
    const slow = await take(run);
    expect(await queue.record(slow, [outcome(2, 'failed')])).toBe(true);
    const takeOver = async () => (await queue.take(run))?.rows;
    await expect.poll(takeOver, { interval: 200 }).toEqual(slow.rows);
    expect([...(await queue.outcomes(run.run, slow.rows)).keys()]).toEqual([2]);
    expect(await queue.record(slow, [outcome(3)])).toBe(false);
    await queue.finish(slow); // row 4 has no outcome
    await queue.finish(slow);
    expect(await queue.take(run)).toBeNull();
    await queue.record(slow, [outcome(3, 'failed'), outcome(4)]);
    await queue.finish(slow);
    await queue.finish(slow);
    const counts = { ok: 2, failed: 1, invalid: 0, unknown: 0 };
    expect(await queue.take(run)).toBeNull();
    expect(await queue.find(run.run)).toMatchObject({ state: 'done', chunks: 1, ...counts });
  });

  it('gives up a chunk that was returned a thousand times, until it is retried', async () => {
    const run = await load(1);
    const returned = `UPDATE userinfo_chunks SET takings = 998 WHERE run = '${run.run}'`;
    for (let hold = 0; hold < 4; hold += 1) {
      const taken = await take(run);
      expect(await queue.find(run.run)).toMatchObject({ chunks_left: 1, failed_chunks: 0, workers: 1 });
      await queue.finish(taken);
      if (hold === 1) await query(schema.url, returned);
    }
    expect(await queue.take(run)).toBeNull();
    expect(await queue.find(run.run)).toMatchObject({ chunks_left: 0, failed_chunks: 1, workers: 0 });
    expect(await queue.retry(run.run)).toBe(1);
    expect(linesOf(await take(run))).toEqual([2]);
    await expect(queue.retry(run.run)).rejects.toThrow('none of its chunks has failed');
  });

  it('is told of runs that ended longer ago than they are kept, the first one first, and removes them in steps', async () => {
    for (const { run, state } of await queue.list())
      if (state === 'done' || state === 'cancelled') await remove(run);
    const run = await load(1200);
    expect(await queue.findExpired(0)).toBeUndefined();
    for (const chunk of [await take(run), await take(run)]) {
      await queue.record(
        chunk,
        linesOf(chunk).map((line) => outcome(line)),
      );
      await queue.finish(chunk);
    }
    const ended = (days: number) =>
      query(
        schema.url,
        `UPDATE userinfo_runs SET ended_at = ended_at - ${days * 86_400_000} WHERE run = '${run.run}'`,
      );
    await ended(29);
    expect(await queue.findExpired(30 * 86_400_000)).toBeUndefined();
    await ended(2);
    expect(await queue.findExpired(30 * 86_400_000)).toBe(run.run);
    // Stopped after the first step, it is continued.
    const first = queue.remove(run.run);
    await first.next();
    await first.return(0);
    expect(await queue.find(run.run)).toMatchObject({ state: 'deleting' });
    expect(await queue.findExpired(30 * 86_400_000)).toBe(run.run);
    expect((await remove(run.run)).at(-1)).toBe(1200);
    expect(await queue.findExpired(0)).toBeUndefined();
  });

  it('takes nothing of an input that is not the one that was checked', async () => {
    const before = await queue.list();
    const loading = load(1500, { user: 'changed' }, new InputChangedError('rows.csv'));
    await expect(loading).rejects.toThrow('was changed after it was checked');
    expect((await queue.list()).map(({ run }) => run)).toEqual(before.map(({ run }) => run));
    const jobs = "SELECT 1 FROM userinfo_chunks WHERE data LIKE '%changed1%'";
    expect(await query(schema.url, jobs)).toEqual([]);
  });

  it.each(['cancel', 'remove'] as const)('can %s a run while it is loaded', async (how) => {
    const before = await queue.list();
    let removed: Promise<unknown> = Promise.resolve();
    async function* batches() {
      for (let batch = 0; batch < 40; batch += 1) {
        yield Array.from(
          { length: 1000 },
          (_, i) => new NdjsonRow(1000 * batch + i + 2, `{"union_id":"loaded${i}"}`),
        );
        if (batch === 10) {
          const run = (await queue.list()).find(({ state }) => state === 'loading')?.run ?? '';
          removed = how === 'cancel' ? queue.cancel(run) : remove(run);
        }
      }
    }
    const loading = queue.load({ ...given, rows: 40_000 }, new UserDigests(), batches(), signal);
    await expect(loading).rejects.toThrow(/run \w+ was cancelled while it was loaded/);
    await removed;
    expect(await queue.list()).toEqual(before);
    const jobs = "SELECT 1 FROM userinfo_chunks WHERE data LIKE '%loaded%'";
    expect(await query(schema.url, jobs)).toEqual([]);
  });

  it('refuses rows that name a user twice', () => {
    const users = new UserDigests();
    for (let i = 0; i < 5000; i += 1) users.add(`u${i}`);
    users.add('u4096');
    expect(() => users.sort()).toThrow('rows 4097 and 5001 name the same user');
  });
});
