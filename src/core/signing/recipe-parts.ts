import { compileSteps, type KeyedMessage, keyedMessage } from './digest-steps.js';
import { compileParams, type ParamsFormat } from './params.js';
import { checkLimit, fieldPath, type Recipe, RecipeError } from './recipe.js';
import { checkSecretFlow } from './secret-flow.js';
import { parseTemplates, type Token } from './template.js';

/** A recipe with its texts and steps parsed. */
export interface RecipeParts extends KeyedMessage {
  readonly recipe: Recipe;
  readonly params: ParamsFormat;
  /** The tokens that sign a request: those of added values, too, where these are used. */
  readonly allTokens: readonly Token[];
}

/**
 * Parses the texts and steps of a recipe; `field` is its path, for error messages.
 *
 * @throws RecipeError for an unknown token or step, one in the wrong place, or a digest of a part
 * of the secret
 */
export function parseRecipeParts(recipe: Recipe, field = ''): RecipeParts {
  const parts = parseUncheckedParts(recipe, field);
  const tokens = 'tokens, with those of steps, key and params.add';
  checkLimit(parts.allTokens.length, 'tokens', fieldPath(field, 'message'), tokens);
  checkSecretFlow(parts, parts.params, field);
  return parts;
}

/**
 * Parses without a check of how many tokens there are, and of what the recipe gives away.
 *
 * @throws RecipeError for an unknown token or step, or one in the wrong place
 */
function parseUncheckedParts(recipe: Recipe, field = ''): RecipeParts {
  const pathOf = (name: string) => fieldPath(field, name);
  if (recipe.message.length === 0)
    throw new RecipeError(pathOf('message'), 'is empty', 'Add $params.');
  const main = keyedMessage({
    message: parseTemplates(recipe.message, pathOf('message'), recipe.join),
    steps: compileSteps(recipe.steps, recipe.output, pathOf('steps')),
    key: parseTemplates(recipe.key.tokens, pathOf('key.tokens')),
    decode: recipe.key.decode,
  });
  const { tokens } = main.message;
  if (main.steps.length === 0 && tokens.length > 0)
    throw new RecipeError(
      pathOf('steps'),
      'is empty, but the message has tokens',
      'A signature that the operator issued is a text. For any other, add a digest, such as md5.',
    );
  const params = compileParams(recipe.params, pathOf('params'));
  const allTokens = [...main.tokens];
  const usesBlock = main.tokens.some(({ source }) => source === 'params');
  if (usesBlock) for (const { value } of params.added) allTokens.push(...value.tokens);
  return { ...main, recipe, params, allTokens };
}
