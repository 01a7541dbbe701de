import fc from 'fast-check';
import { expect, test } from 'vitest';
import { doubtsOf } from '../../src/lab/doubts.js';
import { findRules } from '../../src/lab/find-rules.js';
import { laterRequests } from '../../src/lab/later-requests.js';
import { randomSignRule } from '../support/random-rule.js';
import { laterSignatures, read, signed } from './signed-samples.js';

const few = { numRuns: 15, endOnFailure: true };
/** Words of the doubts that a read, or a passback, settles. */
const ofReads = ['reads', 'info_name', 'scope'];
const ofPassbacks = ['passbacks', 'primary_key'];

test('where the likeliest rule is not the right one, a doubt says so, and what settles it', async () => {
  await fc.assert(
    fc.asyncProperty(randomSignRule, async (rule) => {
      const { groups } = await findRules('sign', [signed('sign', rule, read)]);
      const truth = laterSignatures('sign', rule).join();
      const right = groups.find(({ recipe }) => laterSignatures('sign', recipe).join() === truth);
      const doubts = doubtsOf(groups);
      const sum = doubts.reduce((all, { weight }) => all + weight, 0);
      expect(sum).toBeLessThanOrEqual(1 - (groups[0]?.weight ?? 0) + 1e-9);
      // A group below this weight is no doubt.
      if (right === undefined || right === groups[0] || right.weight < 0.001) return;
      const kinds = [...right.differsIn].map((kind) => kind.split(' ')[0]);
      const told = doubts.map(({ about }) => about);
      const expected = kinds.includes('read') ? [...ofReads, 'encoding'] : ['encoding'];
      const all = kinds.includes('passback') ? [...expected, ...ofPassbacks] : expected;
      expect(told.some((about) => all.includes(about))).toBe(true);
    }),
    few,
  );
});

test('the requests that userinfo sends leave no doubt', async () => {
  await fc.assert(
    fc.asyncProperty(randomSignRule, async (rule) => {
      const later = laterRequests('sign', read);
      const samples = later.map(({ request }) => signed('sign', rule, request));
      const { groups } = await findRules('sign', samples);
      expect(doubtsOf(groups)).toEqual([]);
      expect(laterSignatures('sign', groups[0]?.recipe ?? { message: [], steps: [] })).toEqual(
        laterSignatures('sign', rule),
      );
    }),
    few,
  );
});
