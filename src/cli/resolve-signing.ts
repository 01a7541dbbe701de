import type { Command } from 'commander';
import { resolveSigning, type SigningSettings } from '../profiles/settings.js';
import { recipesOf, type SigningSource } from '../profiles/signing-source.js';
import { InvalidInputError } from '../protocol/errors.js';
import { type PlatformResultCodes, parseResultCodes } from '../protocol/result-code-table.js';
import { quoteName } from '../protocol/unsafe-text.js';
import { compileRecipes, type SignerPair, type SigningChoice } from '../signing/app-signatures.js';
import { compileRecipe } from '../signing/compile-recipe.js';
import { defaultRecipes, findPreset, type Preset, presets } from '../signing/presets.js';
import type { Recipe, SigningRecipes } from '../signing/recipe.js';
import { parseRecipe, parseSigningRecipes } from '../signing/recipe-json.js';
import type { Secret } from '../signing/secret.js';
import { isSystemError } from '../support/errors.js';
import { nearestName } from '../support/nearest-name.js';
import { loadSigning, readSecretOf } from './client-options.js';
import type { CliContext } from './context.js';
import { settingSources } from './deployment.js';
import { readJson } from './input.js';
import type { CommonOptions } from './options.js';

export interface RecipeOptions {
  /** A preset, or a file. */
  readonly recipe?: string;
}

/** The signing of a command: `--recipe`, else that of the profile in use, else the default recipes. */
export async function selectSigning(
  context: CliContext,
  options: CommonOptions & RecipeOptions,
): Promise<SigningChoice> {
  if (options.recipe === undefined) {
    const { signing } = await settingsOf(context, options);
    return profileSigning(context, signing);
  }
  return choiceOf(await readRecipes(context, options.recipe));
}

/** The signers of given recipes. */
export function choiceOf(given: Recipe | SigningRecipes): SigningChoice {
  if ('steps' in given) return { kind: 'one', signer: compileRecipe(given), recipe: given };
  return { kind: 'pair', signers: compileRecipes(given), recipes: given };
}

/** The signers of a profile; `null` stands for the default recipes. */
export async function profileSigning(context: CliContext, source: SigningSource | null): Promise<SignerPair> {
  if (source === null) {
    return { kind: 'pair', signers: compileRecipes(defaultRecipes), recipes: defaultRecipes };
  }
  return { kind: 'pair', signers: await loadSigning(context, source), recipes: recipesOf(source) };
}

/** The secret in a sample, else the one that every command uses. */
export async function selectSecret(
  context: CliContext,
  options: CommonOptions,
  own: Secret | null = null,
): Promise<Secret> {
  if (own !== null) return own;
  const settings = await settingsOf(context, options);
  return readSecretOf(context, { profile: settings.profile, secret: settings.secret() });
}

function settingsOf(context: CliContext, flags: CommonOptions): Promise<SigningSettings> {
  return resolveSigning(settingSources(context, flags));
}

/**
 * Reads the recipe, or the pair of recipes, of `--recipe`: a preset or a file.
 *
 * @throws InvalidInputError, or RecipeError that names the invalid field, token or step
 */
async function readRecipes(context: CliContext, source: string): Promise<Recipe | SigningRecipes> {
  const preset = findPreset(source);
  if (preset !== undefined) return preset.recipe;
  const { signing } = await readSigningFile(context, source).catch((error: unknown) => {
    // A missing file without a dot or a slash in its name is more likely a misspelt preset.
    if (isSystemError((error as Error).cause, 'ENOENT') && /^[\w-]+$/.test(source)) requirePreset(source);
    throw error;
  });
  return isPair(signing) ? parseSigningRecipes(signing) : parseRecipe(signing);
}

/** A file of recipes, which may also have the `result_codes` of the platform. */
interface SigningFile {
  /** Untrusted JSON. */
  readonly signing: unknown;
  readonly resultCodes?: PlatformResultCodes;
}

/** @throws InvalidInputError for a file that cannot be read, or result codes that are not valid */
export async function readSigningFile(context: CliContext, file: string): Promise<SigningFile> {
  const json = await readJson(context, file);
  if (typeof json !== 'object' || json === null || !('result_codes' in json)) return { signing: json };
  const { result_codes, ...signing } = json;
  parseResultCodes(result_codes, `${quoteName(file)}: result_codes`);
  return { signing, resultCodes: result_codes as PlatformResultCodes };
}

/** @throws InvalidInputError that suggests the most similar name */
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

export function addRecipeOption(command: Command): Command {
  return command.option(
    '--recipe <name>',
    'preset, or file with one recipe or {app_sign, sign} (default: those of the profile)',
  );
}
