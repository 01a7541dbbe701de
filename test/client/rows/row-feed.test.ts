import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { RowFeed } from '../../../src/client/rows/row-feed.js';

const taken = 100;

/** How many rows of an endless source are read beyond those that are taken. */
async function rowsAhead(batchRows: number, size: number): Promise<number> {
  let read = 0;
  async function* batches() {
    for (;;) {
      read += batchRows;
      yield Array.from({ length: batchRows }, () => ({ size }));
    }
  }
  const feed = new RowFeed(batches(), () => {});
  for (let count = 0; count < taken; ) {
    if (feed.take() === undefined) await nextTurn();
    else count += 1;
  }
  await nextTurn();
  await feed.close();
  return read - taken;
}

it.each([
  ['rows of a program that awaits each', 1, 0, 64],
  ['rows of a program, in batches', 32, 0, 64],
  ['short rows of a file', 70, 150, 140],
  ['rows of 1 MiB', 1, 1024 * 1024, 1],
])('%s are read ahead, but not many', async (_, batchRows, size, most) => {
  const ahead = await rowsAhead(batchRows, size);
  expect(ahead).toBeGreaterThan(0);
  expect(ahead).toBeLessThanOrEqual(most);
});
