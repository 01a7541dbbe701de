/**
 * Clients by the profiles of the command line.
 *
 * @module userinfo-exchange/profiles
 */

import { join } from 'node:path';
import { readHeaders } from '../core/profiles/header-source.js';
import { loadSigners } from '../core/profiles/load-signers.js';
import { readProfileFile } from '../core/profiles/profile-file.js';
import { profileFileName } from '../core/profiles/profile-name.js';
import { refuseUnsafeFile } from '../core/profiles/profile-store.js';
import { needsSafeFile, resolveSettings, type Settings } from '../core/profiles/settings.js';
import { configFolder } from '../core/support/folders.js';
import { withoutUndefined } from '../core/support/without-undefined.js';
import type { UserInfoClientOptions } from './call/options.js';
import { UserInfoClient } from './client.js';
import { readPlatformFile, routeOptions } from './environment.js';

/**
 * A client with the settings that `userinfo -p NAME` uses: those of the profile, and the variables
 * of the command line, which take precedence. All is read once: the file, the app secret, the CA
 * file; a signing module of the profile is loaded, and its commands are run. A profile of
 * production needs no confirmation here. `options` take precedence over both.
 *
 * @throws UserInfoError with the code `PROFILE` for an unknown profile, `PROFILE_FILE` for a
 * profile file that cannot be read, `CREDENTIALS` for a value that is missing or a secret that
 * cannot be read, `SIGNING_MODULE` for a module that cannot be loaded
 * @throws InvalidInputError for an invalid variable or option
 * @example
 * import { fromProfile } from 'userinfo-exchange/profiles';
 *
 * await using client = await fromProfile('shop', { timeoutMs: 2_000 });
 */
export async function fromProfile(
  name: string,
  options: Partial<UserInfoClientOptions> = {},
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<UserInfoClient> {
  const path = join(configFolder(env), profileFileName);
  const store = {
    load: () => readProfileFile(path),
    refuseUnsafeFile: () => refuseUnsafeFile(path),
  };
  const settings = await resolveSettings({
    flags: { profile: name },
    env,
    store,
    readPlatform: async (file) => readPlatformFile(file).platform,
  });
  const { appSecret = await settings.secret.read() } = options;
  const code = 'USERINFO_PROFILE';
  for (const warning of settings.warnings) {
    if (options.logger !== undefined) options.logger.warn({ code }, warning);
    else process.emitWarning(warning, { type: 'UserInfoProfileWarning', code });
  }
  // The permission and the headers are for the base URL of the profile.
  const isItsUrl = options.baseUrl === undefined;
  const client: UserInfoClientOptions = {
    baseUrl: settings.base_url.value,
    tenantCode: settings.tenant_code.value,
    channel: settings.channel.value,
    appKey: settings.app_key.value,
    allowHttp: isItsUrl && settings.allow_http !== null,
    ...withoutUndefined({ proxy: settings.proxy?.value }),
    ...options,
    appSecret,
  };
  if (needsSafeFile(settings)) refuseUnsafeFile(path);
  const rules = options.platform === undefined ? await rulesOf(settings) : {};
  const headers = isItsUrl ? await readHeaders(settings.headers, env) : {};
  return new UserInfoClient({
    ...client,
    ...routeOptions(client, settings, env),
    ...rules,
    ...withoutUndefined({ signing: options.signing }),
    headers: { ...headers, ...options.headers },
  });
}

/**
 * What the spec leaves open, as the profile says; this loads a signing module.
 *
 * @throws SigningModuleError, RecipeError
 */
async function rulesOf({
  platform,
  signing_module,
}: Settings): Promise<Pick<UserInfoClientOptions, 'platform' | 'signing'>> {
  const { signing, ...platformFile } = platform.value;
  const { signers } = await loadSigners(signing, signing_module);
  return { platform: platformFile, signing: signers };
}
