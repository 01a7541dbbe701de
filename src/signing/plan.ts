import { compileSteps, compileSubSteps } from './digest-chain.js';
import { encoders } from './encodings.js';
import type { TextChange } from './ink.js';
import { compileParams, type ParamsFormat } from './params.js';
import type { EncodeRule, Recipe } from './recipe.js';
import { fieldPath, RecipeError } from './recipe-error.js';
import type { Step } from './steps.js';
import { parseTemplates, type Template, tokensOf } from './template.js';
import type { Token } from './tokens.js';

/** A recipe with its tokens and steps read, ready to sign with. */
export interface Plan extends MessagePlan {
  readonly recipe: Recipe;
  readonly params: ParamsFormat;
  readonly key: Template;
  readonly sub: MessagePlan | null;
  /** `encode.block`, for `$params`. */
  readonly encodeBlock: TextChange;
  /** `encode.message` and `encode.lower`, for the whole message. */
  readonly encodeMessage: (text: string) => string;
  /** Every token of the recipe. */
  readonly tokens: readonly Token[];
}

export interface MessagePlan {
  readonly message: Template;
  readonly steps: readonly Step[];
}

/**
 * Reads a recipe; `field` is where it stands, for the errors.
 *
 * @throws RecipeError for a token or step that there is not, or that cannot stand where it does
 */
export function compilePlan(recipe: Recipe, field = ''): Plan {
  const at = (name: string) => fieldPath(field, name);
  if (recipe.message.length === 0) throw new RecipeError(at('message'), 'is empty', 'Add $params.');
  const main: MessagePlan = {
    message: parseTemplates(recipe.message, at('message'), recipe.join),
    steps: compileSteps(recipe.steps, recipe.output, at('steps')),
  };
  const sub: MessagePlan | null = recipe.sub && {
    message: parseTemplates(recipe.sub.message, at('sub.message')),
    steps: compileSubSteps(recipe.sub.steps, at('sub.steps')),
  };
  const key = parseTemplates(recipe.key.tokens, at('key.tokens'));

  const subNeeds = sub === null ? [] : [...planTokens(sub), ...(usesKey(sub) ? tokensOf(key) : [])];
  if (subNeeds.some(isSub)) throw new RecipeError(at('sub'), 'takes $sub, which is itself');
  const tokens = [...planTokens(main), ...tokensOf(key), ...subNeeds];
  if (sub === null && tokens.some(isSub)) {
    throw new RecipeError(at('sub'), 'is missing, and $sub is used', 'Add {"message": […], "steps": […]}.');
  }
  return {
    ...main,
    recipe,
    params: compileParams(recipe.params, at('params')),
    key,
    sub,
    encodeBlock: { apply: encoders[recipe.encode.block], local: recipe.encode.block !== 'base64' },
    encodeMessage: compileMessageEncoding(recipe.encode),
    tokens,
  };
}

function compileMessageEncoding({ message, lower }: EncodeRule): (text: string) => string {
  const encode = encoders[message];
  return lower ? (text) => encode(text).toLowerCase() : encode;
}

function usesKey({ steps }: MessagePlan): boolean {
  return steps.some((step) => step.kind === 'digest' && step.hmac);
}

function planTokens({ message, steps }: MessagePlan): Token[] {
  return [
    ...tokensOf(message),
    ...steps.flatMap((step) => ('template' in step ? tokensOf(step.template) : [])),
  ];
}

function isSub({ source }: Token): boolean {
  return source === 'sub';
}
