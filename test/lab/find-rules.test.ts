import fc from 'fast-check';
import { expect, test } from 'vitest';
import { algorithms } from '../../src/core/signing/digest-algorithms.js';
import type { RecipeJson } from '../../src/core/signing/recipe.js';
import { findRules } from '../../src/lab/find-rules.js';
import { randomAppSignRule, randomSignRule } from '../support/random-rule.js';
import { laterSignatures, passback, read, readByNames, signed } from './signed-samples.js';

const few = { numRuns: 15, endOnFailure: true };

test('the groups of one read have the rule of the platform', async () => {
  await fc.assert(
    fc.asyncProperty(randomSignRule, async (rule) => {
      const { groups } = await findRules('sign', [signed('sign', rule, read)]);
      const later = laterSignatures('sign', rule).join();
      expect(groups.map(({ recipe }) => laterSignatures('sign', recipe).join())).toContain(later);
    }),
    few,
  );
});

test.each(algorithms)('%s is found, also as HMAC', async (algorithm) => {
  const rules: readonly RecipeJson[] = [
    { message: ['$params', '$secret'], steps: [algorithm] },
    { message: ['$params'], steps: [`hmac-${algorithm}`], key: { tokens: ['$secret'] } },
  ];
  for (const rule of rules) {
    const { groups } = await findRules('sign', [signed('sign', rule, read)]);
    const later = laterSignatures('sign', rule).join();
    const found = groups.map(({ recipe }) => laterSignatures('sign', recipe).join());
    expect(found).toContain(later);
  }
});

/** A short sample may show no character by which base64 and base64url differ. */
const inOneAlphabet = (rule: RecipeJson) =>
  laterSignatures('sign', rule, (kind) => !kind.endsWith('with special characters'))
    .join()
    .replaceAll('+', '-')
    .replaceAll('/', '_');

test('a read and a passback leave the rule, or others that differ only in how characters are encoded', async () => {
  await fc.assert(
    fc.asyncProperty(randomSignRule, async (rule) => {
      const samples = [signed('sign', rule, readByNames), signed('sign', rule, passback)];
      const { groups } = await findRules('sign', samples);
      const later = laterSignatures('sign', rule).join();
      const plain = groups.map(({ recipe }) => inOneAlphabet(recipe));
      expect(plain[0]).toBe(inOneAlphabet(rule));
      expect(groups.map(({ recipe }) => laterSignatures('sign', recipe).join())).toContain(later);
    }),
    few,
  );
});

test('app_sign is found, of a few names or of all', async () => {
  await fc.assert(
    fc.asyncProperty(randomAppSignRule, async (rule) => {
      const { groups } = await findRules('app_sign', [signed('app_sign', rule, read)]);
      const later = laterSignatures('app_sign', rule).join();
      expect(groups.map(({ recipe }) => laterSignatures('app_sign', recipe).join())).toContain(
        later,
      );
    }),
    few,
  );
});
