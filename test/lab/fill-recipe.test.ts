import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RecipeError, type RecipeJson } from '../../src/core/signing/recipe.js';
import { fillRecipe } from '../../src/lab/fill-recipe.js';
import { randomSignRule } from '../support/random-rule.js';
import { laterSignatures, passback, read, signed } from './signed-samples.js';

type Json = Record<string, unknown>;

/** The ways to leave something of a rule open. */
const openings: readonly ((rule: RecipeJson) => Json)[] = [
  (rule) => ({ ...rule, steps: '?' }),
  (rule) => ({ ...rule, steps: rule.steps.with(0, '?') }),
  ({ output: _, ...rule }) => ({ ...rule, params: { ...rule.params, order: '?' } }),
  (rule) => ({ ...rule, params: { ...rule.params, from: '?', empty: '?', exclude: '?' } }),
  (rule) => ({ ...rule, params: { ...rule.params, encode: '?' } }),
  (rule) => ({ ...rule, params: { ...rule.params, kvSep: '?', pairSep: '?' } }),
  (rule) => ({ ...rule, message: rule.message.with(-1, '?') }),
  (rule) => ({ ...rule, message: rule.message.with(0, '?') }),
];

test('a rule of which anything is left open is filled in by a read and a passback', async () => {
  await fc.assert(
    fc.asyncProperty(randomSignRule, fc.constantFrom(...openings), async (rule, open) => {
      const samples = [signed('sign', rule, read), signed('sign', rule, passback)];
      const partial = open(rule);
      const { groups } = await fillRecipe('sign', partial, samples);
      const truth = laterSignatures('sign', rule).join();
      const found = groups.map(({ recipe }) => laterSignatures('sign', recipe).join());
      expect(found, JSON.stringify(partial)).toContain(truth);
    }),
    { numRuns: 40, endOnFailure: true },
  );
});

test('a text that no usual rule has is kept, and a wrong one is not found', async () => {
  const rule: RecipeJson = { message: ['acme/v1', '$params', '$secret'], steps: ['md5'] };
  const samples = [signed('sign', rule, read)];
  const fill = (message: string[]) => fillRecipe('sign', { message, steps: '?' }, samples);
  const { groups, tried } = await fill(['acme/v1', '$params', '?']);
  expect(groups[0]?.recipe.message).toEqual(rule.message);
  expect(tried).toBeLessThan(2000);
  expect((await fill(['acme/v2', '$params', '?'])).groups).toEqual([]);
});

test('what the samples have different rules for is divided, not found', async () => {
  const samples = [
    signed('sign', { message: ['$params', '$secret'], steps: ['md5'] }, read),
    signed('sign', { message: ['$secret', '$params'], steps: ['md5'] }, passback),
  ];
  const partial = { message: ['$params', '?'], steps: ['md5'] };
  expect(await fillRecipe('sign', partial, samples)).toMatchObject({ groups: [], isDivided: true });
});

test.each([
  [{ message: ['$params'], steps: ['md5'], join: '?', key: { decode: 'rot13' } }, 'key.decode'],
  [{ message: ['$parms', '?'], steps: '?' }, 'message[0]'],
  [{ message: ['$params'], steps: ['md5'], '?': '?' }, '?'],
])('a recipe that is wrong however it is filled is an error: %j', async (partial, field) => {
  const filling = fillRecipe('sign', partial, [
    signed('sign', { message: ['$params'], steps: ['md5'] }, read),
  ]);
  await expect(filling).rejects.toThrow(RecipeError);
  await expect(filling).rejects.toMatchObject({ field });
});
