import type { RecipeJson } from './recipe.js';
import { readRecipe } from './recipe-json.js';
import { parseRecipeParts } from './recipe-parts.js';
import { signerOf } from './recipe-signer.js';
import type { Signer } from './signer.js';

/**
 * Checks a recipe, and compiles it to sign many requests. It may be untrusted JSON; `field` is its
 * path, for error messages.
 *
 * @throws RecipeError that names the first wrong field, token or step; the signer throws it for a
 * request without a header that the recipe signs, and for a secret that is not the key that the
 * recipe says
 * @example
 * const signer = compileRecipe({ message: ['$params', '&key=', '$secret'], steps: ['md5'] });
 * const { digest } = signer.sign(request, new Secret('s'));
 */
export function compileRecipe(recipe: RecipeJson, field = ''): Signer {
  return signerOf(parseRecipeParts(readRecipe(recipe, field), field));
}
