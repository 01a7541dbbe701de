import { isModule, type SignerSources, type SigningSource } from '../../../profiles/signing-source.js';
import { defaultRecipes } from '../../../signing/presets.js';
import type { Recipe } from '../../../signing/recipe.js';
import type { CliContext } from '../../context.js';
import { say } from '../../io.js';

/** A profile that takes recipes. */
export interface SaveTarget {
  readonly name: string;
  /** How it signs now. */
  readonly sources: SignerSources;
}

/** What was found, by signature. */
export type FoundRecipes = { readonly [Name in keyof SignerSources]?: Recipe };

/** Throws a ProfileError where there is no such profile: before anything is searched. */
export async function prepareSaving({ profiles }: CliContext, name: string): Promise<SaveTarget> {
  const { signing } = await profiles.get(name);
  return { name, sources: sourcesOf(signing ?? defaultRecipes) };
}

/** Writes what was found into the profile; the rest stays as it was. */
export async function saveSigning(
  { io, profiles }: CliContext,
  { name, sources }: SaveTarget,
  found: FoundRecipes,
): Promise<void> {
  const names = Object.keys(found);
  if (names.length === 0) return;
  await profiles.update(name, { signing: { ...sources, ...found } });
  await say(io, `saved in profile "${name}": ${names.join(' and ')}`);
}

function sourcesOf(signing: SigningSource): SignerSources {
  return isModule(signing) ? { app_sign: signing, sign: signing } : signing;
}
