import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineSet } from '../../../../../src/cli/commands/bulk/files/run-state.js';

/** The last is of a forged journal: adding 1 does not change it. */
const numbers = [
  fc.integer({ min: 1, max: 40 }),
  fc.integer({ min: 1, max: 2 ** 31 }),
  fc.constant(2 ** 53),
];
const line = fc.oneof(...numbers);

describe('a line set', () => {
  it('has the elements of a Set', () => {
    const steps = fc.array(fc.tuple(fc.boolean(), line));
    fc.assert(
      fc.property(steps, (changes) => {
        const [ours, theirs] = [new LineSet(), new Set<number>()];
        for (const [add, one] of changes) {
          if (add) {
            ours.add(one);
            theirs.add(one);
          } else {
            ours.delete(one);
            theirs.delete(one);
          }
          expect(ours.has(one)).toBe(theirs.has(one));
          expect(ours.size).toBe(theirs.size);
        }
        expect(new Set(ours)).toEqual(theirs);
      }),
      { numRuns: 50 },
    );
  });
});
