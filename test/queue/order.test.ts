import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { UserNaming } from '../../src/bulk/operations.js';
import { NdjsonRow } from '../../src/bulk/source/ndjson.js';
import { Sender } from '../../src/client/sender.js';
import { UserDigests } from '../../src/queue/load-run.js';
import { Queue } from '../../src/queue/queue.js';
import type { NewRun } from '../../src/queue/run.js';
import { processRuns, type WorkerEvent } from '../../src/queue/worker.js';
import { createSchema, query, type TestSchema } from '../support/postgres/test-schema.js';
import { randomOf } from '../support/property-seed.js';
import { httpServer, type TestServer } from '../support/raw-server.js';

const drawn = randomOf('order');

const usualWait = (_user: string): Promise<unknown> => wait(drawn() * 4);
/** A platform that knows nothing of the product: it remembers the values of each user, in their order. */
const platform = {
  written: new Map<string, string[]>(),
  /** Called before a value is written. */
  beforeWrite: usualWait,
};
let server: TestServer;

let schema: TestSchema;
let queue: Queue;

beforeAll(async () => {
  schema = await createSchema();
  queue = await Queue.open(schema.url);
  server = await httpServer(async ({ body }, response) => {
    const form = new URLSearchParams(body);
    const { level, mail } = JSON.parse(form.get('user_info') ?? '{}');
    const user = form.get('union_id') ?? mail;
    await platform.beforeWrite(user);
    platform.written.set(user, [...(platform.written.get(user) ?? []), level]);
    response.end(JSON.stringify({ code: 200, msg: 'ok', data: { union_id: user } }));
  });
});
afterEach(() => {
  platform.beforeWrite = usualWait;
  vi.restoreAllMocks();
});
afterAll(async () => {
  await server.close();
  await queue.close();
  await schema.remove();
});

const byUnionId = { by: 'union_id', column: 'union_id' } as const;
const targetNow = () => ({ environment: 'test', base_url: server.url, tenant_code: 'acme', channel: 'web' });

/** Adds a run that sets `level` of each user, and returns its name. */
async function load(
  users: readonly string[],
  level: string,
  {
    naming = byUnionId,
    channel = 'web',
    rate = null,
    leaseMs = 60_000,
  }: { naming?: UserNaming; channel?: string } & Partial<Pick<NewRun, 'rate' | 'leaseMs'>> = {},
  { signal } = new AbortController(),
): Promise<string> {
  const key = naming.by === 'union_id' ? naming.column : naming.key;
  async function* batches() {
    yield users.map((user, i) => new NdjsonRow(i + 2, JSON.stringify({ [key]: user, level })));
  }
  const digests = new UserDigests();
  for (const user of users) digests.add(user);
  digests.sort();
  const source = { from: 'f', hash: '' };
  const given = { naming, source, rows: users.length, rate, keepsRows: false, leaseMs };
  const target = { ...targetNow(), channel };
  const { run } = await queue.load({ ...given, target }, digests, batches(), signal);
  return run;
}

/** Runs workers, each with its own connections, until the queue is empty or `stop` is called. */
function work(count: number, drains: boolean, timeoutMs = 10_000) {
  const stopped = new AbortController();
  const events: WorkerEvent[] = [];
  const ended = Array.from({ length: count }).map(async () => {
    const queue = await Queue.open(schema.url);
    const sender = new Sender({
      baseUrl: server.url,
      tenantCode: 'acme',
      channel: 'web',
      appKey: 'a',
      appSecret: 's',
    });
    const pacing = { concurrency: 8, attempts: 3, timeoutMs };
    const log = (event: WorkerEvent) => void events.push(event);
    try {
      const { signal } = stopped;
      return await processRuns({ queue, sender, pacing, target: targetNow(), drains, log, signal });
    } finally {
      await sender.drop();
      await queue.close();
    }
  });
  const stop = () => {
    stopped.abort();
    return Promise.all(ended);
  };
  return { events, stop, ended: Promise.all(ended) };
}

const names = (prefix: string, from: number, count: number) =>
  Array.from({ length: count }, (_, i) => `${prefix}-${from + i}`);

const valuesOf = (users: readonly string[]) => users.map((user) => platform.written.get(user)?.join(' '));
async function remove(run: string): Promise<void> {
  for await (const _ of queue.remove(run));
}
const waitsOf = async (run: string) => (await queue.find(run)).waits_for;

/** Does something when a run is added, before the rows of another are read to compare their users. */
function beforeReading(work: (run: string) => Promise<void>) {
  const rows = queue.rows.bind(queue);
  const reading = vi.spyOn(queue, 'rows').mockImplementationOnce(async function* (run) {
    await work(run.run);
    yield* rows(run);
  });
  return reading;
}

describe('runs to one target that name the same users', () => {
  it('end with the values of the later one', async () => {
    const random = (count: number) => Math.floor(drawn() * count);
    const { stop } = work(3, false);
    const pairs = Array.from({ length: 20 }, (_, i) => ({
      older: names(`p${i}`, 0, 1 + random(30)),
      newer: names(`p${i}`, random(20), 1 + random(30)).sort(() => drawn() - 0.5),
    }));
    // Workers process the older run while the newer one is added.
    for (const { older, newer } of pairs) {
      await load(older, 'older');
      await load(newer, 'newer');
    }
    const left = async () => (await queue.list('ready')).length;
    await expect.poll(left, { timeout: 50_000, interval: 100 }).toBe(0);
    await stop();
    for (const { older, newer } of pairs) {
      const both = (user: string) => (older.includes(user) ? 'older newer' : 'newer');
      expect(valuesOf(newer)).toEqual(newer.map(both));
      const only = older.filter((user) => !newer.includes(user));
      expect(valuesOf(only)).toEqual(only.map(() => 'older'));
    }
  });

  it('wait for each other, unless they share no user or have ended', async () => {
    const first = await load(names('w', 0, 1200), 'first');
    const second = await load(names('w', 1190, 20), 'second');
    expect(await waitsOf(second)).toEqual([first]);
    expect(await queue.take(await queue.find(second))).toBeNull();
    expect(await waitsOf(await load(names('w', 1300, 5), 'third'))).toEqual([]);
    expect(await waitsOf(await load(names('w', 0, 5), 'fourth', { channel: 'app' }))).toEqual([]);
    const byKey = await load(['a@example.com'], 'fifth', { naming: { by: 'primary_key', key: 'mail' } });
    expect(await waitsOf(byKey)).toContain(second);
    await queue.cancel(first);
    expect(await waitsOf(second)).toEqual([]);
    for (const { run } of await queue.list('ready')) await queue.cancel(run);
  });

  it('are no longer compared after Ctrl-C: the run that is added is removed', async () => {
    const older = await load(names('k', 0, 5), 'older');
    const before = await queue.list();
    const stop = new AbortController();
    const reading = beforeReading(async () => stop.abort());
    const stopped = load(names('k', 5, 5), 'newer', {}, stop);
    await expect(stopped).rejects.toMatchObject({ name: 'AbortError' });
    expect(reading).toHaveBeenCalledOnce();
    expect(await queue.list()).toEqual(before);
    await queue.cancel(older);
  });

  it('wait for a run that is cancelled, and loses its rows, while they are compared with it', async () => {
    const older = await load(['d1'], 'older');
    const taken = await queue.take(await queue.find(older));
    const reading = beforeReading((run) => queue.cancel(run));
    const newer = await load(['d1'], 'newer');
    expect(reading).toHaveBeenCalledOnce();
    expect(await waitsOf(newer)).toEqual([older]);
    if (taken !== null) await queue.finish(taken);
    expect(await waitsOf(newer)).toEqual([]);
    await queue.cancel(newer);
  });

  it('are compared with each other, though they are added at once', async () => {
    const runs = await Promise.all(Array.from({ length: 6 }, (_, i) => load(['same'], `value ${i}`)));
    const awaited = await Promise.all(runs.map(async (run) => (await waitsOf(run)).length));
    expect(awaited.sort()).toEqual([0, 1, 2, 3, 4, 5]);
    for (const run of runs) await queue.cancel(run);
  });

  it('do not overtake the last request of a run that is cancelled', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let arrived = 0;
    platform.beforeWrite = () => {
      arrived += 1;
      return arrived === 1 ? held : wait(1);
    };
    const older = await load(['c1'], 'older');
    const { stop } = work(2, false);
    await expect.poll(() => arrived).toBe(1);
    const newer = await load(['c1'], 'newer');
    await queue.cancel(older);
    expect(await queue.find(older)).toMatchObject({ state: 'cancelled', chunks_left: 0, workers: 1 });
    await expect(remove(older)).rejects.toThrow('may have requests under way: nothing was deleted');
    const third = await load(['c1'], 'newest');
    expect(await waitsOf(third)).toContain(older);
    await wait(800); // longer than an idle worker sleeps
    expect(arrived).toBe(1);
    release();
    await expect.poll(async () => (await queue.find(third)).state).toBe('done');
    await stop();
    expect(valuesOf(['c1'])).toEqual(['older newer newest']);
    await remove(older);
    expect((await queue.find(newer)).state).toBe('done');
  });

  it('wait for failed chunks: a worker that drains the queue reports them', async () => {
    const older = await load(['f1'], 'older');
    const newer = await load(['f1'], 'newer');
    await query(schema.url, `UPDATE userinfo_chunks SET takings = 1000 WHERE run = '${older}'`);
    const failing = work(1, true);
    const [failed] = await failing.ended;
    expect(failed?.map(({ run }) => run)).toEqual([older]);
    expect(failing.events).toContainEqual({ event: 'run_started', run: newer, rows: 1, waits_for: [older] });
    await queue.retry(older);
    expect(await work(2, true).ended).toEqual([[], []]);
    expect(valuesOf(['f1'])).toEqual(['older newer']);
  });
});

it('a worker whose time-out is longer than its lease does each row once', async () => {
  const users = names('slow', 0, 20);
  const run = await load(users, 'set');
  expect(await work(1, true, 600_000).ended).toEqual([[]]);
  expect(valuesOf(users)).toEqual(users.map(() => 'set'));
  const taken = await query(schema.url, `SELECT takings FROM userinfo_chunks WHERE run = '${run}'`);
  expect(taken.map(({ takings }) => Number(takings))).toEqual([1]);
});

it('a worker hands back what it cannot end, so early that no request is under way when others may take it', async () => {
  platform.beforeWrite = () => wait(300);
  const run = await load(names('late', 0, 500), 'set', { leaseMs: 6_000 });
  const taken = async () => {
    const select = `SELECT takings::INT, leased_until::FLOAT FROM userinfo_chunks WHERE run = '${run}'`;
    return (await query(schema.url, select))[0];
  };
  const { stop } = work(1, false);
  await expect.poll(async () => (await taken())?.takings).toBe(1);
  const first = await taken();
  await expect.poll(async () => (await taken())?.takings).toBe(2);
  expect(Number((await taken())?.leased_until) - Number(first?.leased_until)).toBeLessThan(6_000);
  await queue.cancel(run);
  await stop();
});

it.each([
  [1100, 'x'],
  [3, 'x'.repeat(200_000)],
])(
  'a chunk has 1,000 rows at most, and ends with the row by which it exceeds 256 KiB: %i',
  async (count, level) => {
    const run = await load(names('cut', 0, count), level);
    expect((await queue.find(run)).chunks).toBe(2);
    expect(await work(2, true).ended).toEqual([[], []]);
    expect(await queue.find(run)).toMatchObject({ state: 'done', ok: count, chunks_left: 0 });
  },
);

it('a worker keeps a chunk for as long as the rate lets nobody send the next row', async () => {
  const run = await load(['rated'], 'set', { rate: 0.1 });
  const { stop } = work(1, false);
  await expect.poll(async () => (await queue.find(run)).done).toBe(1);
  expect(await queue.find(run)).toMatchObject({ state: 'ready', workers: 1 });
  await stop();
  expect((await queue.find(run)).state).toBe('done');
});
