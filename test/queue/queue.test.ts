import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { passbackRows } from '../../src/bulk/operations.js';
import { InputChangedError } from '../../src/bulk/source/checked-input.js';
import { ndjsonFormat } from '../../src/bulk/source/ndjson.js';
import { loadRun } from '../../src/queue/load-run.js';
import { openQueue, type Queue } from '../../src/queue/queue.js';
import { createSchema, type TestSchema } from '../support/postgres/test-schema.js';

let schema: TestSchema;
let queue: Queue;

beforeAll(async () => {
  schema = await createSchema();
  queue = await openQueue(schema.url);
});
afterAll(async () => {
  await queue.close();
  await schema.remove();
});

const naming = { by: 'union_id', column: 'union_id' } as const;
const given = {
  target: { environment: 'test', base_url: 'http://127.0.0.1', tenant_code: 'acme', channel: 'web' },
  naming,
  source: { from: 'f', hash: '', format: null, delimiter: null, encoding: null, types: null, empty: null },
  rate: null,
  keepsRows: false,
};
const { signal } = new AbortController();
const leaseMs = 60_000;

/** A run with a row for each of the users, in their order. */
async function load(users: readonly string[], more: { rate?: number } = {}, fault?: Error) {
  const rows = users.map((user, i) => {
    const json = `{"union_id":"${user}","n":${i}}`;
    return { line: i + 2, json, size: json.length };
  });
  const toLoad = {
    format: ndjsonFormat,
    async *read() {
      yield rows;
      if (fault !== undefined) throw fault;
    },
    onRows() {},
  };
  const newRun = { ...given, rows: rows.length, ...more };
  const name = await loadRun(queue, newRun, passbackRows(naming), toLoad, signal);
  return await queue.runs.find(name);
}

const manyUsers = Array.from({ length: 300 }, (_, i) => `u${i}`);
const ok = (line: number, outcome: 'ok' | 'failed' = 'ok') => ({
  line,
  outcome,
  result: `"outcome":"${outcome}"`,
});

describe('a queue', () => {
  it('gives chunks their turns, so that all workers together keep to the rate of a run', async () => {
    const run = await load(manyUsers, { rate: 2 });
    const first = await queue.chunks.take(run, { holder: 'a', leaseMs });
    const second = await queue.chunks.take(run, { holder: 'b', leaseMs });
    const third = await queue.chunks.take(run, { holder: 'a', leaseMs });
    expect(first?.startsInMs).toBe(0);
    const firstTakesMs = (first?.open.length ?? 0) * 500;
    const apartMs = (second?.open.length ?? 0) * 500;
    // The clock runs on between them.
    expect(second?.startsInMs).toBeGreaterThan(firstTakesMs - 10_000);
    expect(second?.startsInMs).toBeLessThanOrEqual(firstTakesMs);
    expect(third?.startsInMs).toBeGreaterThan(firstTakesMs + apartMs - 10_000);
  });

  it('gives out the rows of one user one chunk after the other', async () => {
    const run = await load(Array.from({ length: 2400 }, () => 'u1'));
    const take = (holder: string) => queue.chunks.take(run, { holder, leaseMs });
    const lines: number[] = [];
    for (const holder of ['a', 'b', 'c']) {
      const chunk = await take(holder);
      expect(await take('d')).toBeNull();
      if (chunk === null) throw new Error('there is no chunk');
      lines.push(...chunk.lines);
      await queue.chunks.finish(
        run,
        chunk,
        chunk.lines.map((line) => ok(line)),
      );
    }
    expect(lines).toEqual(Array.from({ length: 2400 }, (_, i) => i + 2));
    expect(await queue.runs.find(run.run)).toMatchObject({ state: 'done', counts: { ok: 2400 } });
  });

  it('counts a chunk once that two workers have done, with the outcomes that came first', async () => {
    const run = await load(['u1', 'u2', 'u3']);
    const slow = await queue.chunks.take(run, { holder: 'slow', leaseMs: 0 });
    await queue.chunks.record(run.run, [ok(2, 'failed')]);
    let chunk: typeof slow = null;
    const takeOver = async () => {
      await queue.chunks.reclaim(run.run);
      chunk = await queue.chunks.take(run, { holder: 'quick', leaseMs });
      return chunk?.open.map(({ line }) => line);
    };
    await expect.poll(takeOver).toEqual([3, 4]);
    if (slow === null || chunk === null) throw new Error('there is no chunk');
    expect(await queue.chunks.finish(run, chunk, [ok(3), ok(4)])).toBe('done');
    expect(await queue.chunks.finish(run, slow, [ok(2), ok(3, 'failed'), ok(4)])).toBe('done');
    const counts = { ok: 2, failed: 1, invalid: 0, unknown: 0 };
    expect(await queue.runs.find(run.run)).toMatchObject({ chunksDone: 1, counts });
    expect(await queue.runs.countOutcomes(run.run)).toEqual(counts);
  });

  it('takes nothing of an input that is not the one that was checked', async () => {
    const before = await queue.runs.list();
    const changed = new InputChangedError('rows.csv');
    await expect(load(['u1'], {}, changed)).rejects.toThrow('was changed after it was checked');
    expect(await queue.runs.list()).toEqual(before);
  });
});
