import { expect, it } from 'vitest';
import { choices, distinctBy } from '../../src/solve/candidates/cost.js';

it('of candidates that are the same, the cheapest is kept, and the cheapest of all comes first', () => {
  const found = distinctBy(choices([5, 'dear', 'both'], [2, 'BOTH'], [1, 'cheap']), ({ value }) =>
    value.toLowerCase(),
  );
  expect(found).toEqual(choices([1, 'cheap'], [2, 'BOTH'], [5, 'dear']));
});
