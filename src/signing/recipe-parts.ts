import { checkIsOpen, compileSteps, type KeyedMessage, keyedMessage } from './digest-steps.js';
import { compileParams, type ParamsFormat } from './params.js';
import { checkLimit, fieldPath, type Recipe, RecipeError } from './recipe.js';
import { blockSources } from './recipe-language.js';
import { checkSecretFlow } from './secret-flow.js';
import { parseTemplates, type Token } from './template.js';

/** A recipe with its texts and steps parsed. */
export interface RecipeParts extends KeyedMessage {
  readonly recipe: Recipe;
  readonly params: ParamsFormat;
  readonly sub: KeyedMessage | null;
  /** The tokens that sign a request: those of `$sub` and of added values, too, where these are used. */
  readonly allTokens: readonly Token[];
}

/**
 * Parses the texts and steps of a recipe; `field` is its path, for error messages.
 *
 * @throws RecipeError for an unknown token or step, one in the wrong place, or a digest of a part of the secret
 */
export function partsOf(recipe: Recipe, field = ''): RecipeParts {
  const at = (name: string) => fieldPath(field, name);
  if (recipe.message.length === 0) throw new RecipeError(at('message'), 'is empty', 'Add $params.');
  const main = keyedMessage({
    message: parseTemplates(recipe.message, at('message'), recipe.join),
    steps: compileSteps(recipe.steps, recipe.output, at('steps')),
    key: parseTemplates(recipe.key.tokens, at('key.tokens')),
    decode: recipe.key.decode,
  });
  const sub =
    recipe.sub &&
    keyedMessage({
      message: parseTemplates(recipe.sub.message, at('sub.message')),
      steps: compileSteps(recipe.sub.steps, null, at('sub.steps')),
      key: recipe.sub.key ? parseTemplates(recipe.sub.key.tokens, at('sub.key.tokens')) : main.key,
      decode: (recipe.sub.key ?? recipe.key).decode,
    });
  if (!main.steps.some(({ kind }) => kind === 'digest')) checkIsOpen(main.message, at('message'));

  if (sub?.tokens.some(isSub)) throw new RecipeError(at('sub'), 'takes $sub, which is itself');
  if (sub === null && main.tokens.some(isSub)) {
    throw new RecipeError(at('sub'), 'is missing, and $sub is used', 'Add {"message": […], "steps": […]}.');
  }
  const params = compileParams(recipe.params, at('params'));
  const allTokens = allTokensOf(main, sub, params);
  checkLimit(
    allTokens.length,
    'tokens',
    at('message'),
    'tokens, with those of steps, key, sub and params.add',
  );
  checkSecretFlow(recipe, main, sub, params, field);
  return { ...main, recipe, params, sub, allTokens };
}

function allTokensOf(main: KeyedMessage, sub: KeyedMessage | null, { added }: ParamsFormat): Token[] {
  const all = [...main.tokens, ...(sub !== null && main.tokens.some(isSub) ? sub.tokens : [])];
  const usesBlock = all.some(({ source }) => blockSources.has(source));
  return usesBlock ? [...all, ...added.flatMap(({ value }) => value.tokens)] : all;
}

function isSub({ source }: Token): boolean {
  return source === 'sub';
}

/** Whether a token needs the query of the request. */
export function isQuery({ source }: Pick<Token, 'source'>): boolean {
  return source === 'query' || source === 'search';
}
