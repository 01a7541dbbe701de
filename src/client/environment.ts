import { InvalidInputError, quoteName } from '../core/contract/errors.js';
import { type Platform, type PlatformFile, parsePlatform } from '../core/platform/platform.js';
import {
  misnamedVariables,
  readGivenValues,
  secretVariable,
  settingNames,
} from '../core/profiles/flags-and-environment.js';
import type { Settings } from '../core/profiles/settings.js';
import { Secret } from '../core/signing/secret.js';
import { decodeText, NotTextError } from '../core/support/byte-order-mark.js';
import { describeSystemError } from '../core/support/errors.js';
import { readInputFile } from '../core/support/input-file.js';
import { jsonValueOf } from '../core/support/json-value.js';
import type { EnvironmentVariables } from '../core/support/shell.js';
import type { UserInfoClientOptions } from './call/options.js';
import { proxyFor } from './call/proxy.js';

/**
 * The options of a client by the variables of the command line; `options` take precedence.
 *
 * @throws InvalidInputError that lists the variables that are missing, or names an invalid one
 */
export function optionsFromEnvironment(
  options: Partial<UserInfoClientOptions>,
  env: EnvironmentVariables,
): UserInfoClientOptions {
  const given = readGivenValues({}, env);
  if (given.profile !== null) {
    throw new InvalidInputError(
      `${settingNames.profile.variable} is set, but fromEnv reads no profile`,
      {
        hint: 'Use fromProfile of userinfo-exchange/profiles, or unset the variable.',
      },
    );
  }
  const found = {
    baseUrl: [settingNames.base_url.variable, options.baseUrl ?? given.base_url?.value],
    tenantCode: [settingNames.tenant_code.variable, options.tenantCode ?? given.tenant_code?.value],
    channel: [settingNames.channel.variable, options.channel ?? given.channel?.value],
    appKey: [settingNames.app_key.variable, options.appKey ?? given.app_key?.value],
    appSecret: [secretVariable, options.appSecret ?? (env[secretVariable] || undefined)],
  } as const;
  const missing = Object.values(found).flatMap(([name, value]) =>
    value === undefined ? [name] : [],
  );
  if (missing.length > 0) {
    const advice = ['Set them, or give the options of UserInfoClient.', ...misnamedVariables(env)];
    throw new InvalidInputError(`the environment has no ${missing.join(', ')}`, {
      hint: advice.join(' '),
    });
  }
  const required = Object.fromEntries(
    Object.entries(found).map(([name, [, value]]) => [name, value]),
  );
  const proxy = given.proxy === null ? {} : { proxy: given.proxy.value };
  const client = {
    ...proxy,
    ...options,
    ...(required as Pick<UserInfoClientOptions, keyof typeof found>),
  };
  const file = options.platform === undefined ? given.platform?.value : undefined;
  return {
    ...client,
    ...routeOptions(client, given, env),
    ...(file === undefined ? {} : { platform: readPlatformFile(file).json }),
  };
}

/**
 * Network settings of the command line: its files, NODE_EXTRA_CA_CERTS, HTTPS_PROXY, HTTP_PROXY and
 * NO_PROXY.
 */
export function routeOptions(
  options: UserInfoClientOptions,
  { ca_file, client_cert, client_key }: Pick<Settings, 'ca_file' | 'client_cert' | 'client_key'>,
  env: EnvironmentVariables,
): Partial<UserInfoClientOptions> {
  const { baseUrl, extraCa, cert, key, proxy, dispatcher } = options;
  // A dispatcher has its own.
  if (dispatcher !== undefined) return {};
  const caFile = ca_file?.value;
  const files = caFile === undefined ? [] : [caFile, env.NODE_EXTRA_CA_CERTS || caFile];
  const authorities = extraCa ?? [...new Set(files)].map(readTextFile).join('\n');
  const address =
    proxy ?? (URL.canParse(String(baseUrl)) ? proxyFor(String(baseUrl), env)?.address : undefined);
  return {
    ...(authorities === '' ? {} : { extraCa: authorities }),
    ...(cert === undefined && client_cert !== null
      ? { cert: readTextFile(client_cert.value) }
      : {}),
    ...(key === undefined && client_key !== null
      ? { key: new Secret(readTextFile(client_key.value)) }
      : {}),
    ...(address === undefined ? {} : { proxy: address }),
  };
}

/**
 * Reads a platform file that a variable names.
 *
 * @throws InvalidInputError that names the file
 */
export function readPlatformFile(file: string): {
  readonly json: PlatformFile;
  readonly platform: Platform;
} {
  const label = `the file ${quoteName(file)}`;
  const json = jsonValueOf(readTextFile(file));
  if (json === undefined) throw new InvalidInputError(`${label}: invalid JSON`);
  return { json: json as PlatformFile, platform: parsePlatform(json, label) };
}

/** @throws InvalidInputError that names the file */
function readTextFile(path: string): string {
  try {
    return decodeText(readInputFile(path));
  } catch (cause) {
    if (cause instanceof NotTextError)
      throw new InvalidInputError(`the file ${quoteName(path)} ${cause.message}`, { cause });
    const fault = describeSystemError(cause);
    throw new InvalidInputError(`the file ${quoteName(path)} cannot be read: ${fault}`, { cause });
  }
}
