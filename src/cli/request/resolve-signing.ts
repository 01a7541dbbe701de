import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Command } from 'commander';
import { InvalidInputError, quoteName } from '../../core/contract/errors.js';
import { defaultPlatform, parsePlatform, refuseModule } from '../../core/platform/platform.js';
import { describeOrigin } from '../../core/profiles/flags-and-environment.js';
import { findProfile, updateProfile } from '../../core/profiles/profile-store.js';
import { resolveSigning, type SigningSettings } from '../../core/profiles/settings.js';
import { compileRecipes, type SigningChoice } from '../../core/signing/app-signatures.js';
import { compileRecipe } from '../../core/signing/compile-recipe.js';
import { defaultRecipes, findPreset, type Preset, presets } from '../../core/signing/presets.js';
import type { Recipe, SigningRecipes } from '../../core/signing/recipe.js';
import { parseObject, parseRecipe, parseSigningRecipes } from '../../core/signing/recipe-json.js';
import type { Secret } from '../../core/signing/secret.js';
import { isObject } from '../../core/support/json.js';
import { nearestName } from '../../core/support/nearest-name.js';
import type { CliContext } from '../command.js';
import type { CommonOptions } from '../command-line/options.js';
import { inputName, readJson } from '../input.js';
import { loadSigning, readSecretOf, settingSources } from './deployment.js';

export interface RecipeOptions {
  /** A preset, or a file. */
  readonly recipe?: string;
}

/** A signing rule, and where it comes from. */
interface SelectedRule {
  readonly signing: SigningChoice;
  /** Such as `the preset taobao`. */
  readonly from: string;
  /** The number of groups of rules that `sign solve` found; 1 where it did not find this one. */
  readonly fits: number;
}

/**
 * The signing of a command: `--recipe`, else that of the profile in use, else the default recipes.
 */
export async function selectRule(
  context: CliContext,
  options: CommonOptions & RecipeOptions,
): Promise<SelectedRule> {
  if (options.recipe !== undefined) return readRule(context, options.recipe);
  const settings = await settingsOf(context, options);
  const { platform, signing_module } = settings;
  const isDefault =
    signing_module === null && isDeepStrictEqual(platform.value.signing, defaultRecipes);
  const from = isDefault ? 'the default recipes' : `the ${describeOrigin(platform.origin)}`;
  return { signing: await loadSigning(context, settings), from, fits: 1 };
}

/** The signers of one recipe, which is that of a signature alone, or of a pair. */
function compileChoice(recipes: Recipe | SigningRecipes): SigningChoice {
  if ('steps' in recipes) return { kind: 'one', signer: compileRecipe(recipes), recipe: recipes };
  return { kind: 'pair', signers: compileRecipes(recipes), recipes };
}

/** `secretOfSample`, else the secret that every command uses. */
export async function selectSecret(
  context: CliContext,
  options: CommonOptions,
  secretOfSample: Secret | null = null,
): Promise<Secret> {
  if (secretOfSample !== null) return secretOfSample;
  const settings = await settingsOf(context, options);
  return readSecretOf(context, { profile: settings.profile, secret: settings.secret() });
}

/**
 * Stores recipes in a profile, in place of a module. The recipe of a signature that is not named
 * stays.
 */
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
 * Reads the recipe, or the pair of recipes, of `--recipe`: a preset, or a file: of recipes, of a
 * platform, or of what `sign solve --json` printed, where the first rule is taken.
 *
 * @throws InvalidInputError, or RecipeError that names the invalid field, token or step
 */
async function readRule(context: CliContext, source: string): Promise<SelectedRule> {
  const preset = findPreset(source);
  if (preset !== undefined)
    return { signing: compileChoice(preset.recipe), from: `the preset ${source}`, fits: 1 };
  const json = await readJson(context, source);
  if (isSolveReport(json)) return ruleOfReport(json);
  const from = source === '-' ? 'standard input' : `the file ${quoteName(basename(source))}`;
  return { signing: compileChoice(parseRecipes(json, inputName(source))), from, fits: 1 };
}

/** The recipe or the pair in JSON of the source `label`, which may be a whole platform file. */
function parseRecipes(json: unknown, label: string): Recipe | SigningRecipes {
  const isPlatform = isObject(json) && 'signing' in json;
  const signing = isPlatform ? parsePlatform(json, label).signing : json;
  refuseModule(signing, `${label}: `);
  const isPair = isObject(signing) && ('app_sign' in signing || 'sign' in signing);
  if (!isPair) return parseRecipe(signing);
  for (const [name, recipe] of Object.entries(signing)) refuseModule(recipe, `${label}: ${name}.`);
  return parseSigningRecipes(signing);
}

/** What `sign solve --json` printed: untrusted JSON. */
interface PrintedReport {
  readonly signing: unknown;
  /** The groups of rules that fit, by signature. */
  readonly groups: Readonly<Record<string, unknown>>;
}

function isSolveReport(json: unknown): json is PrintedReport {
  return isObject(json) && 'signing' in json && isObject(json.groups);
}

/** The likeliest rules of a report. */
function ruleOfReport({ signing, groups }: PrintedReport): SelectedRule {
  const rules = parseObject(signing, 'signing');
  if (rules.sign === undefined) throw new InvalidInputError('the search found no rule for sign');
  const counts = Object.values(groups).map((list) => (Array.isArray(list) ? list.length : 0));
  const origin = { from: 'a search by samples', fits: Math.max(1, ...counts) };
  if (rules.app_sign === undefined)
    return { ...origin, signing: compileChoice(parseRecipe(rules.sign, 'signing.sign')) };
  return { ...origin, signing: compileChoice(parseSigningRecipes(rules)) };
}

/** @throws InvalidInputError that suggests the most similar name */
export function requirePreset(name: string): Preset {
  const preset = findPreset(name);
  if (preset !== undefined) return preset;
  const nearest = nearestName(
    name,
    presets.map((other) => other.name),
  );
  const listed = 'They are listed by:';
  throw new InvalidInputError(`there is no preset ${quoteName(name)}`, {
    hint: nearest === null ? listed : `Did you mean ${quoteName(nearest)}? ${listed}`,
    commands: ['userinfo sign presets'],
  });
}

export function addRecipeOption(command: Command): Command {
  return command.option(
    '--recipe <name>',
    'preset, or file with one recipe, {app_sign, sign} or a report of "sign solve --json" (default: those of the profile)',
  );
}
