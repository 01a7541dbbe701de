import { isDeepStrictEqual } from 'node:util';
import { type Recipe, type RecipeJson, recipeDefaults } from './recipe.js';

/** The short form of a recipe, for people and files: what is as by default is left out. */
export function formatRecipe(recipe: Recipe): RecipeJson {
  return omitDefaults(recipe, recipeDefaults) as RecipeJson;
}

function omitDefaults(given: object, defaults: object): object {
  const usual = new Map<string, unknown>(Object.entries(defaults));
  const kept = Object.entries(given).filter(([name, value]) => !isDeepStrictEqual(value, usual.get(name)));
  return Object.fromEntries(kept.map(([name, value]) => [name, shorten(value, usual.get(name))]));
}

function shorten(value: unknown, usual: unknown): unknown {
  return isRecord(value) && isRecord(usual) ? omitDefaults(value, usual) : value;
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
