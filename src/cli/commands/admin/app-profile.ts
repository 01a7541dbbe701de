import { checkProfileName, type Profile } from '../../../profiles/profile.js';
import { addProfile, updateProfile } from '../../../profiles/profile-store.js';
import { sameDeployment } from '../../../protocol/base-url.js';
import { InvalidInputError } from '../../../protocol/errors.js';
import { quoteName } from '../../../protocol/unsafe-text.js';
import type { AdminOperations, AppCredentials } from '../../../service/index.js';
import type { CliContext } from '../../context.js';

/**
 * The profile of that name, if it may be overwritten; `undefined` if there is none.
 *
 * @throws ProfileError for an invalid name, InvalidInputError for a production profile
 */
export async function writableProfile({ profiles }: CliContext, name: string): Promise<Profile | undefined> {
  checkProfileName(name);
  const existing = (await profiles.load()).profiles.get(name);
  if (existing?.environment !== 'production') return existing;
  throw notOverwritten(name, 'is a production profile');
}

/**
 * The profile of that name, if credentials of an app of the service at `baseUrl` may be written to it; `undefined`
 * if there is none. Call `checkKnownApp` next: overwriting would lose the secret of another app.
 *
 * @throws as `writableProfile`, and InvalidInputError for a profile of another service
 */
export async function profileOfService(
  context: CliContext,
  name: string,
  baseUrl: string,
): Promise<Profile | undefined> {
  const existing = await writableProfile(context, name);
  if (existing === undefined || sameDeployment(existing.base_url, baseUrl)) return existing;
  throw notOverwritten(name, `is for another service, ${new URL(existing.base_url).host}`);
}

/** @throws InvalidInputError for a profile whose app is not in the database */
export async function checkKnownApp({ name, app_key }: Profile, admin: AdminOperations): Promise<void> {
  for await (const app of admin.listApps()) if (app.app_key === app_key) return;
  throw notOverwritten(name, `holds app key ${quoteName(app_key)}, which is not in this database`);
}

export function notOverwritten(name: string, why: string): InvalidInputError {
  return new InvalidInputError(`profile "${name}" ${why}: it is not overwritten`, {
    hint: 'Rename it, or remove it:',
    commands: [`userinfo profile rename ${name} ${name}-old`, `userinfo profile delete ${name}`],
  });
}

/**
 * Writes the credentials of an app to a profile; the secret is written nowhere else. With `isNew`, the profile
 * must not exist.
 *
 * @throws ProfileError with `isNew` if the profile was created in the meantime
 */
export async function writeAppProfile(
  { profiles }: CliContext,
  name: string,
  { app_secret, ...app }: AppCredentials,
  { base_url, platform }: Pick<Profile, 'base_url' | 'platform'>,
  isNew: boolean,
): Promise<void> {
  const values = { ...app, base_url, secret: { kind: 'file', value: app_secret } } as const;
  if (isNew)
    await profiles.change((list) =>
      addProfile(list, { name, environment: 'test', ...values, ...(platform && { platform }) }),
    );
  else await profiles.change((list) => updateProfile(list, name, { ...values, platform: platform ?? null }));
}
