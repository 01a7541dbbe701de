import { describe, expect, it } from 'vitest';
import { pauses, RoundRobin, Turns, turnMs } from '../../src/support/round-robin.js';

/** Keeps the thread busy for more than a turn. */
function spin(ms = turnMs + 1): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

it('takes one item of each flow after the other, those of a flow in their order', () => {
  const waiting = new RoundRobin<string>();
  for (const item of ['a1', 'a2', 'a3', 'a4']) waiting.add('a', item);
  waiting.add('b', 'b1');
  const taken = [waiting.take(), waiting.take()];
  for (const item of ['b2', 'c1']) waiting.add(item.slice(0, 1), item);
  while (!waiting.isEmpty) taken.push(waiting.take());
  expect(taken).toEqual(['a1', 'b1', 'a2', 'b2', 'c1', 'a3', 'a4']);
  expect(waiting.take()).toBeUndefined();
});

describe('turns', () => {
  it('let a flow begin behind one of another that has begun, and one that waits', async () => {
    const turns = new Turns();
    const begun: string[] = [];
    const begin = (flow: string) => turns.run(flow, async () => void begun.push(flow));
    await Promise.all([...'aaaa', 'b', 'c', 'b'].map(begin));
    expect(begun.join('')).toBe('aabcaba');
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
