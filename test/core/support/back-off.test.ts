import { expect, it } from 'vitest';
import { backOffMs } from '../../../src/core/support/back-off.js';

it.each([
  [0, [50, 100]],
  [1, [100, 200]],
  [3, [400, 800]],
  [6, [2_500, 5_000]],
  [99, [2_500, 5_000]],
])('after %i pauses, the next one is from half to the whole of %j ms', (before, range) => {
  expect([0, 1].map((random) => backOffMs(before, () => random))).toEqual(range);
});

it('has another maximum if it is given one', () => {
  expect([0, 1].map((random) => backOffMs(9, () => random, 1_000))).toEqual([500, 1_000]);
});
