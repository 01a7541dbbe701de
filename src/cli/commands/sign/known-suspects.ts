import type { Profile } from '../../../profiles/profile.js';
import type { SecretSource } from '../../../profiles/secret.js';
import { isModule, type SignerSource } from '../../../profiles/signing-source.js';
import { endpoints } from '../../../protocol/endpoints.js';
import { UserInfoError } from '../../../protocol/errors.js';
import { unsentParameters } from '../../../protocol/parameters.js';
import type { Recipe } from '../../../signing/recipe.js';
import type { Param, Sample } from '../../../signing/request.js';
import { Secret } from '../../../signing/secret.js';
import { namedPresets } from '../../../signing/verify/recipe-suspects.js';
import type { Named } from '../../../signing/verify/suspect.js';
import type { CliContext } from '../../context.js';

/** What a wrong signature may have been made with, as far as this machine knows. */
export interface KnownSuspects {
  readonly otherSecrets: readonly Named<Secret>[];
  readonly otherRecipes: readonly Named<Recipe>[];
  readonly unsent: readonly Param[];
}

/** The secrets, app keys and recipes of all profiles, the presets, and what the operation could have been sent. */
export async function knownSuspects({ io, profiles }: CliContext, sample: Sample): Promise<KnownSuspects> {
  const known = await profiles.list().catch((error: unknown) => {
    if (error instanceof UserInfoError) return []; // a damaged file: it is not what this is about
    throw error;
  });
  return {
    otherSecrets: known.flatMap((profile) => secretsOf(profile, io.env)),
    otherRecipes: [...known.flatMap(recipesOf), ...namedPresets],
    unsent: unsentParams(sample),
  };
}

function secretsOf({ name, secret, app_key }: Profile, env: CliContext['io']['env']): Named<Secret>[] {
  const value = secretAtHand(secret, env);
  return [
    ...(value === null ? [] : [{ name: `the secret of profile "${name}"`, value }]),
    { name: `the app key of profile "${name}" in place of the secret`, value: new Secret(app_key) },
  ];
}

/** A command is not run for this: it may ask the user for a password. */
function secretAtHand(source: SecretSource, env: CliContext['io']['env']): Secret | null {
  if (source.kind === 'file') return source.value;
  const text = source.kind === 'environment' ? env[source.name] : undefined;
  return text ? new Secret(text) : null;
}

function recipesOf({ name, signing }: Profile): Named<Recipe>[] {
  if (signing === undefined || isModule(signing)) return [];
  const named = (signature: 'app_sign' | 'sign', source: SignerSource) =>
    isModule(source) ? [] : [{ name: `the ${signature} recipe of profile "${name}"`, value: source }];
  return [...named('app_sign', signing.app_sign), ...named('sign', signing.sign)];
}

/** What could have been signed of the operation, and was not sent. */
function unsentParams({ url, params }: Sample): Param[] {
  const endpoint = endpoints.find(({ path }) => url.endsWith(path));
  return endpoint === undefined ? [] : unsentParameters(endpoint, new Map(params));
}
