import type { UserInfoClientOptions } from '../client/options.js';
import { type PlatformFile, parsePlatform } from '../platform/platform.js';
import { readGivenValues, secretVariable, settingNames } from '../profiles/flags-and-environment.js';
import { InvalidInputError } from '../protocol/errors.js';
import { quoteName } from '../protocol/unsafe-text.js';
import { Secret } from '../signing/secret.js';
import { describeSystemError } from '../support/errors.js';
import { readInputFile } from '../support/input-file.js';

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * The options of a client by the variables of the command line; `options` take precedence.
 *
 * @throws InvalidInputError that lists the variables that are missing, or names an invalid one
 */
export function optionsFromEnvironment(
  options: Partial<UserInfoClientOptions>,
  env: Variables,
): UserInfoClientOptions {
  const given = readGivenValues({}, env);
  if (given.profile !== null) {
    throw new InvalidInputError('USERINFO_PROFILE is set, but fromEnv reads no profile', {
      hint: 'Use fromProfile of userinfo-cli/profiles, or unset the variable.',
    });
  }
  const values = {
    baseUrl: options.baseUrl ?? given.base_url?.value,
    tenantCode: options.tenantCode ?? given.tenant_code?.value,
    channel: options.channel ?? given.channel?.value,
    appKey: options.appKey ?? given.app_key?.value,
    appSecret: options.appSecret ?? (env[secretVariable] || undefined),
  };
  const variables = {
    baseUrl: settingNames.base_url.variable,
    tenantCode: settingNames.tenant_code.variable,
    channel: settingNames.channel.variable,
    appKey: settingNames.app_key.variable,
    appSecret: secretVariable,
  };
  const missing = Object.entries(values).filter(([, value]) => value === undefined);
  if (missing.length > 0) {
    const names = missing.map(([name]) => variables[name as keyof typeof variables]);
    throw new InvalidInputError(`the environment lacks ${names.join(', ')}`, {
      hint: 'Set the variables, or give the options of UserInfoClient.',
    });
  }
  const extraCa = options.extraCa ?? (given.ca_file === null ? undefined : readTextFile(given.ca_file.value));
  const file = options.platform === undefined ? given.platform?.value : undefined;
  return {
    ...(extraCa === undefined ? {} : { extraCa }),
    ...options,
    ...(values as Pick<UserInfoClientOptions, keyof typeof values>),
    ...(file === undefined || file === '' ? {} : platformOf(file, options.headers, env)),
  };
}

/** The platform of a file, and those of its headers whose values are in the environment. */
export function platformOf(
  file: string,
  given: UserInfoClientOptions['headers'],
  env: Variables,
): Pick<UserInfoClientOptions, 'platform' | 'headers'> {
  const label = `the file ${quoteName(file)}`;
  const platform = parseJson(readTextFile(file), label);
  const headers: Record<string, Secret | string> = {};
  for (const [name, source] of Object.entries(parsePlatform(platform, label).headers)) {
    if (typeof source !== 'object' || !('env' in source)) continue;
    const value = env[source.env];
    if (!value) {
      throw new InvalidInputError(
        `the environment variable ${source.env}, which should hold the header ${name}, is not set`,
      );
    }
    headers[name] = new Secret(value);
  }
  return { platform: platform as PlatformFile, headers: { ...headers, ...given } };
}

function parseJson(text: string, label: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidInputError(`${label}: invalid JSON`);
  }
}

/** @throws InvalidInputError that names the file */
export function readTextFile(path: string): string {
  try {
    return readInputFile(path).toString();
  } catch (cause) {
    const fault = describeSystemError(cause);
    throw new InvalidInputError(`the file ${quoteName(path)} cannot be read: ${fault}`, { cause });
  }
}
