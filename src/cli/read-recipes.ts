import { nearestName } from '../profiles/nearest-name.js';
import { isSystemError } from '../profiles/system-error.js';
import { InvalidInputError } from '../protocol/errors.js';
import { quoteName } from '../protocol/text.js';
import { findPreset, type Preset, presets } from '../signing/presets.js';
import type { Recipe, SigningRecipes } from '../signing/recipe.js';
import { parseRecipe, parseSigningRecipes } from '../signing/recipe-json.js';
import type { CliContext } from './context.js';
import { readJson } from './read-json.js';

/**
 * The recipe, or the pair of them, that `--recipe` names: a preset, or a file. Throws an InvalidInputError, or a
 * RecipeError that names the field, token or step that is wrong.
 */
export async function readRecipes(context: CliContext, source: string): Promise<Recipe | SigningRecipes> {
  const preset = findPreset(source);
  if (preset !== undefined) return preset.recipe;
  const json = await readJson(context, source).catch((error: unknown) => {
    // A file that is not there, without a dot or a slash, looks more like a misspelt preset.
    if (isSystemError((error as Error).cause, 'ENOENT') && /^[\w-]+$/.test(source)) requirePreset(source);
    throw error;
  });
  return isPair(json) ? parseSigningRecipes(json) : parseRecipe(json);
}

/** Throws an InvalidInputError that tells the nearest name there is. */
export function requirePreset(name: string): Preset {
  const preset = findPreset(name);
  if (preset !== undefined) return preset;
  const names = presets.map((known) => known.name);
  const nearest = nearestName(name, names);
  throw new InvalidInputError(`there is no preset ${quoteName(name)}`, {
    hint: `${nearest === null ? '' : `Did you mean ${quoteName(nearest)}? `}"userinfo sign presets" lists them.`,
  });
}

function isPair(json: unknown): boolean {
  return typeof json === 'object' && json !== null && ('app_sign' in json || 'sign' in json);
}
