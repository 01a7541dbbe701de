import { shellRunner } from '../profiles/run-command.js';
import { resolveSigning, type SigningSettings } from '../profiles/settings.js';
import { recipesOf, type SigningSource } from '../profiles/signing-source.js';
import { compileRecipes } from '../signing/app-signatures.js';
import { compileRecipe } from '../signing/compile-recipe.js';
import { defaultRecipes } from '../signing/presets.js';
import type { Recipe, SigningRecipes } from '../signing/recipe.js';
import type { Secret } from '../signing/secret.js';
import type { SignerPair, SigningChoice } from '../signing/signing-choice.js';
import type { CliContext } from './context.js';
import type { CommonOptions } from './options.js';
import { readRecipes } from './read-recipes.js';
import { loadSigning, readSecretOf } from './resolve-service.js';

export interface RecipeOptions {
  /** A preset, or a file. */
  readonly recipe?: string;
}

/** What `--recipe` names, else the recipes of the profile in play, else the default ones. */
export async function signingInForce(
  context: CliContext,
  options: CommonOptions & RecipeOptions,
): Promise<SigningChoice> {
  if (options.recipe === undefined) {
    const { signing } = await settingsOf(context, options);
    return pairOf(context, signing);
  }
  return choiceOf(await readRecipes(context, options.recipe));
}

/** What signs by given recipes. */
export function choiceOf(given: Recipe | SigningRecipes): SigningChoice {
  if ('steps' in given) return { kind: 'one', signer: compileRecipe(given), recipe: given };
  return { kind: 'pair', signers: compileRecipes(given), recipes: given };
}

/** What signs for a profile; `null` stands for the default recipes. */
export async function pairOf(context: CliContext, source: SigningSource | null): Promise<SignerPair> {
  if (source === null) {
    return { kind: 'pair', signers: compileRecipes(defaultRecipes), recipes: defaultRecipes };
  }
  return { kind: 'pair', signers: await loadSigning(context, source), recipes: recipesOf(source) };
}

/** The secret that a sample holds itself, else the one that any command would use. */
export async function secretInForce(
  context: CliContext,
  options: CommonOptions,
  own: Secret | null = null,
): Promise<Secret> {
  if (own !== null) return own;
  const settings = await settingsOf(context, options);
  return readSecretOf(context, { secret: settings.secret() });
}

function settingsOf({ io, profiles }: CliContext, flags: CommonOptions): Promise<SigningSettings> {
  return resolveSigning({ flags, env: io.env, run: shellRunner(io.env), store: profiles });
}
