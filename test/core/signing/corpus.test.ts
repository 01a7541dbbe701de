import { expect, test } from 'vitest';
import { compileRecipe } from '../../../src/core/signing/compile-recipe.js';
import { parseRecipe } from '../../../src/core/signing/recipe-json.js';
import { Secret } from '../../../src/core/signing/secret.js';
import { vectors } from '../../support/signing-corpus.js';

test.each(vectors)(
  '$name signs as its platform documents',
  ({ recipe, request, secret, ...stages }) => {
    const signature = compileRecipe(parseRecipe(recipe)).sign(request, new Secret(secret));
    expect(signature.params).toBe(stages.params);
    expect(signature.message).toBe(stages.message);
    expect(signature.digest).toBe(stages.digest);
  },
);
