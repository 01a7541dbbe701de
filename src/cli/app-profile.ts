import type { Profile } from '../profiles/profile.js';
import { InvalidInputError } from '../protocol/errors.js';
import type { AppCredentials } from '../service/index.js';
import type { CliContext } from './context.js';

/**
 * The profile of that name that an app of the service at hand may be written into; undefined where there is none yet.
 * Throws an InvalidInputError for a production profile.
 */
export async function writableProfile({ profiles }: CliContext, name: string): Promise<Profile | undefined> {
  const existing = (await profiles.load()).profiles.get(name);
  if (existing?.environment !== 'production') return existing;
  throw new InvalidInputError(`profile "${name}" is a production profile: it is not overwritten`, {
    hint: 'Name another profile for the app of this service.',
  });
}

/** Writes what an app signs with into a profile, which is made where there is none: the secret goes nowhere else. */
export async function writeAppProfile(
  { profiles }: CliContext,
  name: string,
  { app_secret, ...app }: AppCredentials,
  settings: Pick<Profile, 'base_url' | 'signing'>,
): Promise<void> {
  const values = { ...app, ...settings, secret: { kind: 'file', value: app_secret } } as const;
  const { profiles: existing } = await profiles.load();
  if (existing.has(name)) await profiles.update(name, values);
  else await profiles.add({ name, environment: 'test', ...values });
}
