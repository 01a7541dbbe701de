import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FairQueue, pauses, Turns, turnMs } from '../../src/support/fair-queue.js';

let now = 0;
beforeEach(() => {
  vi.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => vi.restoreAllMocks());

/** Work that takes longer than a turn, by a clock that does not depend on how busy the machine is. */
function spin(): void {
  now += turnMs + 1;
}

it('serves the flow whose items took the least time, and those of a flow in their order', async () => {
  const queue = new FairQueue<string>();
  const served: string[] = [];
  const serve = () =>
    queue.serve(async (item) => {
      served.push(item);
      if (item.startsWith('a')) spin();
    });
  for (const item of ['a1', 'a2', 'a3']) queue.add('a', item);
  for (const item of ['b1', 'b2', 'b3']) queue.add('b', item);
  for (let count = 0; count < 4; count += 1) await serve();
  expect(served).toEqual(['a1', 'b1', 'b2', 'b3']);
  await serve();
  // A flow that comes back has not saved up time, nor lost its debt.
  for (const item of ['b4', 'c1']) queue.add(item.slice(0, 1), item);
  await serve();
  await serve();
  queue.add('d', 'd1');
  while (!queue.isEmpty) await serve();
  expect(served.slice(4, 5)).toEqual(['a2']);
  expect(served.slice(5).sort()).toEqual(['a3', 'b4', 'c1', 'd1']);
  expect(served.at(-1)).toBe('a3');
  await serve();
  expect(served).toHaveLength(9);
  for (const item of ['a4', 'b5']) queue.add(item.slice(0, 1), item);
  expect([queue.drain(), queue.isEmpty]).toEqual([['a4', 'b5'], true]);
});

/** The order of `items`: each is of the flow that its first letter names, and is added once `after` items are served. */
async function orderOf(items: readonly (readonly [item: string, after: number, isLong: boolean])[]) {
  const queue = new FairQueue<string>();
  const served: string[] = [];
  const isLong = new Map(items.map(([item, , long]) => [item, long]));
  while (served.length < items.length) {
    for (const [item, after] of items) if (after === served.length) queue.add(item.slice(0, 1), item);
    await queue.serve(async (item) => {
      served.push(item);
      if (isLong.get(item)) spin();
    });
  }
  return served.join(' ');
}

it('takes flows in turns though the clock is too coarse for their items', async () => {
  const items = ['a1', 'a2', 'a3', 'b1', 'b2', 'b3'].map((item) => [item, 0, false] as const);
  expect(await orderOf(items)).toBe('a1 b1 a2 b2 a3 b3');
});

it('remembers the debt of a flow that has nothing to do for a while', async () => {
  const others = ['b1', 'b2', 'b3'].map((item) => [item, 0, false] as const);
  expect(await orderOf([['a1', 0, true], ...others, ['a2', 2, false]])).toBe('a1 b1 b2 b3 a2');
});

it('gives a flow nothing for the time in which it had nothing to do', async () => {
  const others = ['b1', 'b2', 'b3'].map((item) => [item, 0, true] as const);
  const late = ['a2', 'a3'].map((item) => [item, 3, true] as const);
  expect(await orderOf([...others, ['a1', 1, false], ...late])).toBe('b1 a1 b2 a2 b3 a3');
});

describe('turns', () => {
  it('let the requests of a flow begin before further long ones of another', async () => {
    const turns = new Turns();
    const begun: string[] = [];
    const begin = (flow: string) =>
      turns.run(flow, async () => {
        begun.push(flow);
        if (flow === 'a') spin();
      });
    await Promise.all([...'aaaa', 'b', 'c', 'b'].map(begin));
    expect(begun.join('')).toMatch(/^aa?[bc]{3}a+$/);
  });

  it('let the event loop run after each long piece of work, and count what follows its first promise', async () => {
    const turns = new Turns();
    const begun: string[] = [];
    const begin = (flow: string) =>
      turns.run(flow, async () => {
        await Promise.resolve();
        await Promise.resolve();
        begun.push(flow);
        spin();
      });
    const all = Array.from({ length: 7 }, () => begin('a'));
    // It comes while the first ones are at work.
    const late = new Promise((resolve) => setImmediate(() => setImmediate(() => resolve(begin('b')))));
    await Promise.all([...all, late]);
    expect(begun.join('')).toMatch(/^a{1,4}ba+$/);
  });

  it('do less after a new connection, until the event loop has run', async () => {
    const turns = new Turns();
    const begun: number[] = [0];
    const all = Array.from({ length: 20 }, () =>
      turns.run('a', async () => {
        begun[0] = (begun[0] as number) + 1;
        now += turnMs / 4;
      }),
    );
    for (let turn = 0; turn < 6; turn += 1) {
      if (turn === 2) turns.shortenNext();
      await new Promise(setImmediate);
      begun.unshift(0);
    }
    await Promise.all(all);
    expect(begun.reverse().filter((count) => count > 0)).toEqual([4, 4, 1, 4, 4, 3]);
  });

  it('give the result or the error of the work, and go on after an error', async () => {
    const turns = new Turns();
    const failed = turns.run('a', async () => {
      throw new Error('no luck');
    });
    await expect(failed).rejects.toThrow('no luck');
    expect(await turns.run('a', async () => 7)).toBe(7);
  });
});

it('a pause lets the event loop run once the turn is over, and what waits for a promise before that', async () => {
  const pause = pauses();
  const seen: string[] = [];
  setImmediate(() => seen.push('event loop'));
  Promise.resolve()
    .then(() => {})
    .then(() => seen.push('promise'));
  await pause();
  expect(seen[0]).toBe('promise');
  spin();
  await pause();
  expect(seen).toEqual(['promise', 'event loop']);
});
