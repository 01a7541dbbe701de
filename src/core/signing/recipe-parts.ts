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
  readonly subs: ReadonlyMap<string, KeyedMessage>;
  /**
   * The tokens that sign a request: those of subs and of added values, too, where these are used.
   */
  readonly allTokens: readonly Token[];
}

/**
 * Parses the texts and steps of a recipe; `field` is its path, for error messages.
 *
 * @throws RecipeError for an unknown token or step, one in the wrong place, or a digest of a part
 * of the secret
 */
export function partsOf(recipe: Recipe, field = ''): RecipeParts {
  const parts = parseParts(recipe, field);
  const tokens = 'tokens, with those of steps, key, sub and params.add';
  checkLimit(parts.allTokens.length, 'tokens', fieldPath(field, 'message'), tokens);
  checkSecretFlow(recipe, parts, parts.subs, parts.params, field);
  return parts;
}

/**
 * As `partsOf`, without a check of how many tokens there are, and of what the recipe gives away.
 */
export function parseParts(recipe: Recipe, field = ''): RecipeParts {
  const at = (name: string) => fieldPath(field, name);
  if (recipe.message.length === 0) throw new RecipeError(at('message'), 'is empty', 'Add $params.');
  const main = keyedMessage({
    message: parseTemplates(recipe.message, at('message'), recipe.join),
    steps: compileSteps(recipe.steps, recipe.output, at('steps')),
    key: parseTemplates(recipe.key.tokens, at('key.tokens')),
    decode: recipe.key.decode,
  });
  if (!main.steps.some(({ kind }) => kind === 'digest')) checkIsOpen(main.message, at('message'));

  const subs = new Map<string, KeyedMessage>();
  for (const [name, { message, steps, key }] of Object.entries(recipe.sub)) {
    const path = at(`sub.${name}`);
    const sub = keyedMessage({
      message: parseTemplates(message, `${path}.message`),
      steps: compileSteps(steps, null, `${path}.steps`),
      key: key ? parseTemplates(key.tokens, `${path}.key.tokens`) : main.key,
      decode: (key ?? recipe.key).decode,
    });
    if (!/^[a-z]\w*$/i.test(name))
      throw new RecipeError(
        path,
        'is not a name',
        'A name is letters, digits and _, a letter first.',
      );
    checkSubs(sub.tokens, subs, path);
    subs.set(name, sub);
  }
  checkSubs(main.tokens, subs, at('sub'));
  const params = compileParams(recipe.params, at('params'));
  return { ...main, recipe, params, subs, allTokens: allTokensOf(main, subs, params) };
}

/** A digest takes those before it: none can be a part of itself. */
function checkSubs(tokens: readonly Token[], known: RecipeParts['subs'], field: string): void {
  const unknown = tokens.find(({ source, name }) => source === 'sub' && !known.has(name));
  if (unknown === undefined) return;
  throw new RecipeError(
    field,
    `takes $sub:${unknown.name}, which is not described before it`,
    `Add {"${unknown.name}": {"message": […], "steps": […]}} to sub.`,
  );
}

function allTokensOf(
  main: KeyedMessage,
  subs: RecipeParts['subs'],
  { added }: Pick<ParamsFormat, 'added'>,
): Token[] {
  const all = [...main.tokens];
  for (const [name, sub] of [...subs].reverse())
    if (all.some((token) => token.source === 'sub' && token.name === name)) all.push(...sub.tokens);
  const usesBlock = all.some(({ source }) => blockSources.has(source));
  return usesBlock ? [...all, ...added.flatMap(({ value }) => value.tokens)] : all;
}
