import { expect, it } from 'vitest';
import { compileRecipe } from '../../../src/core/signing/compile-recipe.js';
import { completeRecipe, type RecipeJson } from '../../../src/core/signing/recipe.js';
import { Secret } from '../../../src/core/signing/secret.js';
import { probesFor } from '../../../src/lab/solve/probes.js';
import { requestOf } from '../../support/signing-requests.js';

const request = requestOf([
  ['code', 'c-77'],
  ['time', '1795283538'],
]);

it.each<[string, RecipeJson['params'], RecipeJson['params']]>([
  [
    'a fixed order that is the one of the sample',
    { order: ['code', 'time'], joinRepeated: ',' },
    { include: ['code', 'time'], joinRepeated: ',' },
  ],
  ['the order as sent', { order: 'sent' }, { order: 'name' }],
  ['the order by value', { order: 'value' }, { order: 'sent' }],
  ['letter case in the order', { order: 'name-nocase' }, { order: 'name' }],
  ['the order by pairs', { order: 'pair' }, { order: 'name' }],
  ['empty values', { empty: 'drop' }, { empty: 'keep' }],
  ['encodings of a space', { encode: 'form' }, { encode: 'rfc3986' }],
  ['repeated parameters', { joinRepeated: ',' }, { joinRepeated: null }],
  ['the case of names', { nameCase: 'lower' }, { nameCase: 'none' }],
  ['an excluded parameter', { exclude: ['time'] }, {}],
])('tell recipes apart by %s', (_, one, other) => {
  const answers = (params: RecipeJson['params']) => {
    const order = { order: 'sent' as const, ...params };
    const recipe = completeRecipe({
      params: order,
      message: ['$params', '$secret'],
      steps: ['md5'],
    });
    return probesFor(request).map(
      (probe) => compileRecipe(recipe).sign(probe, new Secret('s')).digest,
    );
  };
  expect(answers(one)).not.toEqual(answers(other));
});
