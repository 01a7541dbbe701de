import { compileRecipe } from '../../src/core/signing/compile-recipe.js';
import { completeRecipe, type RecipeJson } from '../../src/core/signing/recipe.js';
import type { Param, SignableRequest } from '../../src/core/signing/request.js';
import { Secret } from '../../src/core/signing/secret.js';
import type { Signature } from '../../src/core/signing/signer.js';

export function requestOf(
  params: readonly Param[],
  rest: Partial<SignableRequest> = {},
): SignableRequest {
  return {
    method: 'GET',
    url: 'https://api.example.com:8443/v1/users',
    params,
    body: null,
    ...rest,
  };
}

/** Signs with the secret `s3cret`. */
export function signWith(recipe: RecipeJson, request: SignableRequest): Signature {
  return compileRecipe(completeRecipe(recipe)).sign(request, new Secret('s3cret'));
}

/** What a rule makes of the parameters. */
export function write(rule: RecipeJson['params'], params: readonly Param[]): string {
  const recipe = { params: rule ?? {}, message: ['$params'], steps: ['md5'] };
  return signWith(recipe, requestOf(params)).message;
}
