import presetList from './presets.json' with { type: 'json' };
import { completeRecipe, type Recipe, type RecipeJson, type SigningRecipes } from './recipe.js';

/** A recipe in common use. */
export interface Preset {
  /** The name of the preset, such as `sorted-md5`. */
  readonly name: string;
  /** One line: what is signed, and how. */
  readonly description: string;
  /** The recipe, complete. */
  readonly recipe: Recipe;
}

const named = new Map(
  presetList.map(({ name, description, recipe }): [string, Preset] => [
    name,
    { name, description, recipe: completeRecipe(recipe as RecipeJson) },
  ]),
);

/**
 * Used until the operator's recipes are known (§5.5, §5.6).
 *
 * @example
 * const recipes: SigningRecipes = { ...defaultRecipes, sign: { ...defaultRecipes.sign, output: 'HEX' } };
 */
export const defaultRecipes: SigningRecipes = {
  app_sign: recipeOf('app-proof-md5'),
  sign: recipeOf('sorted-md5'),
};

function recipeOf(name: string): Recipe {
  const preset = named.get(name);
  if (preset === undefined) throw new Error(`there is no preset ${name}`);
  return preset.recipe;
}

/**
 * The rules that public platforms document most often.
 *
 * @example
 * for (const { name, description } of presets) console.log(name, description);
 */
export const presets: readonly Preset[] = [...named.values()];

/** The preset of this name; undefined if there is none. */
export function findPreset(name: string): Preset | undefined {
  return named.get(name);
}
