import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Command } from 'commander';
import { defaultPlatform, parsePlatform, refuseModule } from '../../platform/platform.js';
import { describeOrigin } from '../../profiles/flags-and-environment.js';
import { findProfile, updateProfile } from '../../profiles/profile-store.js';
import { resolveSigning, type SigningSettings } from '../../profiles/settings.js';
import { InvalidInputError } from '../../protocol/errors.js';
import { isObject } from '../../protocol/fields.js';
import { quoteName } from '../../protocol/unsafe-text.js';
import { compileRecipes, type SigningChoice } from '../../signing/app-signatures.js';
import { compileRecipe } from '../../signing/compile-recipe.js';
import { defaultRecipes, findPreset, type Preset, presets } from '../../signing/presets.js';
import type { Recipe, SigningRecipes } from '../../signing/recipe.js';
import { parseRecipe, parseSigningRecipes } from '../../signing/recipe-json.js';
import type { Secret } from '../../signing/secret.js';
import { isSystemError } from '../../support/errors.js';
import { nearestName } from '../../support/nearest-name.js';
import type { CommonOptions } from '../command-line/options.js';
import type { CliContext } from '../context.js';
import { inputName, readJson } from '../input.js';
import { loadSigning, readSecretOf } from './client-options.js';
import { settingSources } from './deployment.js';

export interface RecipeOptions {
  /** A preset, or a file. */
  readonly recipe?: string;
}

/** A signing rule, and where it comes from. */
interface SelectedRule {
  readonly signing: SigningChoice;
  /** Such as `the preset taobao`. */
  readonly from: string;
}

/** The signing of a command: `--recipe`, else that of the profile in use, else the default recipes. */
export async function selectRule(
  context: CliContext,
  options: CommonOptions & RecipeOptions,
): Promise<SelectedRule> {
  if (options.recipe === undefined) {
    const settings = await settingsOf(context, options);
    const { platform, signing_module } = settings;
    const isUsual = signing_module === null && isDeepStrictEqual(platform.value.signing, defaultRecipes);
    const from = isUsual ? 'the default recipes' : `the ${describeOrigin(platform.origin)}`;
    return { signing: await loadSigning(context, settings), from };
  }
  const { recipes, from } = await readRecipes(context, options.recipe);
  return { signing: choiceOf(recipes), from };
}

/** The signers of given recipes. */
function choiceOf(given: Recipe | SigningRecipes): SigningChoice {
  if ('steps' in given) return { kind: 'one', signer: compileRecipe(given), recipe: given };
  return { kind: 'pair', signers: compileRecipes(given), recipes: given };
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

/** Stores recipes in a profile, in place of a module. The recipe of a signature that is not named stays. */
export async function saveSigners(
  { profiles }: CliContext,
  name: string,
  signers: Partial<SigningRecipes>,
): Promise<void> {
  await profiles.change((list) => {
    const platform = findProfile(list, name).platform ?? defaultPlatform;
    const signing = { ...platform.signing, ...signers };
    return updateProfile(list, name, { platform: { ...platform, signing }, signing_module: null });
  });
}

function settingsOf(context: CliContext, flags: CommonOptions): Promise<SigningSettings> {
  return resolveSigning(settingSources(context, flags));
}

/**
 * Reads the recipe, or the pair of recipes, of `--recipe`: a preset, or a file of recipes or of a platform.
 *
 * @throws InvalidInputError, or RecipeError that names the invalid field, token or step
 */
async function readRecipes(
  context: CliContext,
  source: string,
): Promise<{ readonly recipes: Recipe | SigningRecipes; readonly from: string }> {
  const preset = findPreset(source);
  if (preset !== undefined) return { recipes: preset.recipe, from: `the preset ${source}` };
  const json = await readJson(context, source).catch((error: unknown) => {
    // A missing file without a dot or a slash in its name is more likely a misspelt preset.
    if (isSystemError((error as Error).cause, 'ENOENT') && /^[\w-]+$/.test(source)) requirePreset(source);
    throw error;
  });
  const signing = isObject(json) && 'signing' in json ? parsePlatform(json, inputName(source)).signing : json;
  const from = source === '-' ? 'standard input' : `the file ${quoteName(basename(source))}`;
  refuseModule(signing, `${inputName(source)}: `);
  if (!isPair(signing)) return { recipes: parseRecipe(signing), from };
  for (const [name, recipe] of Object.entries(signing))
    refuseModule(recipe, `${inputName(source)}: ${name}.`);
  return { recipes: parseSigningRecipes(signing), from };
}

/** @throws InvalidInputError that suggests the most similar name */
export function requirePreset(name: string): Preset {
  const preset = findPreset(name);
  if (preset !== undefined) return preset;
  const names = presets.map((known) => known.name);
  const nearest = nearestName(name, names);
  throw new InvalidInputError(`there is no preset ${quoteName(name)}`, {
    hint: `${nearest === null ? '' : `Did you mean ${quoteName(nearest)}? `}They are listed by:`,
    commands: ['userinfo sign presets'],
  });
}

function isPair(json: unknown): json is object {
  return isObject(json) && ('app_sign' in json || 'sign' in json);
}

export function addRecipeOption(command: Command): Command {
  return command.option(
    '--recipe <name>',
    'preset, or file with one recipe or {app_sign, sign} (default: those of the profile)',
  );
}
