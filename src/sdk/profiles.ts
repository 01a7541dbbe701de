import { dirname, join } from 'node:path';
import type { UserInfoClientOptions } from '../client/options.js';
import { parsePlatform } from '../platform/platform.js';
import { usesModule } from '../platform/signing-source.js';
import { loadSigners } from '../profiles/load-signers.js';
import { readProfileFile } from '../profiles/profile-file.js';
import { profileFileName } from '../profiles/profile-name.js';
import { refuseUnsafeFile } from '../profiles/profile-store.js';
import { readHeaders } from '../profiles/secret.js';
import { resolveSettings } from '../profiles/settings.js';
import { configFolder } from '../support/folders.js';
import { UserInfoClient } from './client.js';
import { platformOf, readTextFile } from './environment.js';

export { CredentialError, ProfileError, ProfileFileError, SigningModuleError } from '../profiles/errors.js';

/**
 * A client with the settings that `userinfo -p NAME` uses: those of the profile, and the variables of the command line,
 * which take precedence. All is read once: the file, the app secret, the CA file; a signing module of the profile is
 * loaded, and its commands are run. A profile of production needs no confirmation here. `options` take precedence over
 * both.
 *
 * @throws ProfileError for an unknown profile, ProfileFileError for a profile file that cannot be read
 * @throws CredentialError for a value that is missing, or a secret that cannot be read
 * @throws SigningModuleError for a module that cannot be loaded; InvalidInputError for an invalid variable or option
 * @example
 * import { fromProfile } from 'userinfo-cli/profiles';
 *
 * await using client = await fromProfile('shop', { timeoutMs: 2_000 });
 */
export async function fromProfile(
  name: string,
  options: Partial<UserInfoClientOptions> = {},
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<UserInfoClient> {
  const path = join(configFolder(env), profileFileName);
  let headers: UserInfoClientOptions['headers'] = {};
  const settings = await resolveSettings({
    flags: { profile: name },
    env,
    store: { load: () => readProfileFile(path), refuseUnsafeFile: () => refuseUnsafeFile(path) },
    async readPlatform(file) {
      const found = platformOf(file, {}, env);
      headers = found.headers;
      return parsePlatform(found.platform, 'the platform');
    },
  });
  for (const warning of settings.warnings) {
    process.emitWarning(warning, { type: 'UserInfoProfileWarning', code: 'USERINFO_PROFILE' });
  }
  const { signing, ...platform } = settings.platform.value;
  const isOfProfile = settings.platform.origin.kind === 'profile';
  if (isOfProfile && usesModule(signing)) refuseUnsafeFile(path);
  if (isOfProfile) headers = await readHeaders(platform.headers, env, () => refuseUnsafeFile(path));
  const client: UserInfoClientOptions = {
    baseUrl: settings.base_url.value,
    tenantCode: settings.tenant_code.value,
    channel: settings.channel.value,
    appKey: settings.app_key.value,
    appSecret: options.appSecret ?? (await settings.secret.read()),
    allowHttp: settings.allow_http !== null,
    ...(options.platform === undefined
      ? { platform, signing: await loadSigners(signing, dirname(path)) }
      : {}),
    ...(settings.ca_file === null ? {} : { extraCa: readTextFile(settings.ca_file.value) }),
  };
  return new UserInfoClient({ ...client, ...options, headers: { ...headers, ...options.headers } });
}
