import { isAbsolute } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../protocol/fields.js';
import { defaultRecipes, presets } from '../signing/presets.js';
import { type Recipe, RecipeError, type SigningRecipes } from '../signing/recipe.js';
import { fields, formatRecipe, type Parse, parseRecipe, parseText } from '../signing/recipe-json.js';

/**
 * A JavaScript module, for a signature that no recipe can describe. Its path is relative to the folder of the
 * profile file.
 *
 * @example
 * const source: ModuleSource = { module: './sign.mjs' };
 */
export interface ModuleSource {
  readonly module: string;
}

/** The source of one signature. */
export type SignerSource = Recipe | ModuleSource;

/** The signing of a profile: a recipe or a module for each signature, or one module for both. */
export type SigningSource = SignerSources | ModuleSource;

export interface SignerSources {
  readonly app_sign: SignerSource;
  readonly sign: SignerSource;
}

/** Used until the operator's rules are known. */
export const defaultSigning: SigningSource = defaultRecipes;

const parseModule = fields<ModuleSource>({ module: parseModulePath });

const parseSignerSource: Parse<SignerSource> = (json, field) =>
  (isModuleJson(json) ? parseModule : parseRecipe)(json, field);

/** A signature that is not given has its default recipe. */
const parseSources = fields<SignerSources>(
  { app_sign: parseSignerSource, sign: parseSignerSource },
  defaultRecipes,
);

/**
 * Parses untrusted JSON.
 *
 * @throws RecipeError that names the first invalid field, token or step
 */
export function parseSigningSource(json: unknown, field = ''): SigningSource {
  return isModuleJson(json) ? parseModule(json, field) : parseSources(json, field);
}

/** Only a local file: a package or a URL would load code from elsewhere. */
function parseModulePath(value: unknown, field: string): string {
  const path = parseText(value, field);
  if (/^\.\.?[/\\]/.test(path) || isAbsolute(path)) return path;
  throw new RecipeError(
    field,
    'is not the path of a file',
    'Begin it with ./ or ../ (relative to the folder of the profile file) or with /. Packages and URLs are not loaded.',
  );
}

/** As files have it: recipes in their short form, without those that are the default. */
export function formatSigningSource(source: SigningSource): Readonly<Record<string, unknown>> {
  if (isModule(source)) return { ...source };
  const names = (['app_sign', 'sign'] as const).filter(
    (name) => !isDeepStrictEqual(source[name], defaultRecipes[name]),
  );
  return Object.fromEntries(names.map((name) => [name, formatSignerSource(source[name])]));
}

function formatSignerSource(source: SignerSource): object {
  return isModule(source) ? source : formatRecipe(source);
}

/** The recipes of a source; `null` if a module signs. */
export function onlyRecipes(source: SigningSource): SigningRecipes | null {
  const { app_sign, sign } = recipesOf(source);
  return app_sign && sign && { app_sign, sign };
}

/** The signing of a profile, for messages. */
export function describeSigningSource(source: SigningSource): string {
  if (isDeepStrictEqual(source, defaultSigning)) return 'the default recipes';
  if (isModule(source)) return describeSigner(source);
  return `app_sign by ${describeSigner(source.app_sign)}, sign by ${describeSigner(source.sign)}`;
}

function describeSigner(source: SignerSource): string {
  if (isModule(source)) return `the module ${source.module}`;
  const preset = presets.find(({ recipe }) => isDeepStrictEqual(recipe, source));
  return preset === undefined ? 'a custom recipe' : `the preset ${preset.name}`;
}

/** The recipes of a source; `null` where a module signs. */
export function recipesOf(source: SigningSource) {
  const { app_sign, sign } = isModule(source) ? { app_sign: source, sign: source } : source;
  const recipeOf = (signer: SignerSource): Recipe | null => (isModule(signer) ? null : signer);
  return { app_sign: recipeOf(app_sign), sign: recipeOf(sign) };
}

/** Whether it runs a module. */
export function usesModule(source: SigningSource): boolean {
  return isModule(source) || isModule(source.app_sign) || isModule(source.sign);
}

export function isModule(source: SigningSource | SignerSource): source is ModuleSource {
  return 'module' in source;
}

function isModuleJson(json: unknown): boolean {
  return isObject(json) && 'module' in json;
}
