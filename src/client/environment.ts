import { InvalidInputError, quoteName } from '../core/contract/errors.js';
import { type Platform, type PlatformFile, parsePlatform } from '../core/platform/platform.js';
import {
  misnamedVariables,
  readExplicitValues,
  secretVariable,
  settingNames,
} from '../core/profiles/flags-and-environment.js';
import type { Settings } from '../core/profiles/settings.js';
import { Secret } from '../core/signing/secret.js';
import { decodeText, NotTextError } from '../core/support/byte-order-mark.js';
import { describeSystemError } from '../core/support/errors.js';
import { readInputFile } from '../core/support/input-file.js';
import { jsonValueOf } from '../core/support/json.js';
import type { EnvironmentVariables } from '../core/support/shell.js';
import { withoutUndefined } from '../core/support/without-undefined.js';
import type { UserInfoClientOptions } from './call/options.js';
import { proxyFor } from './call/proxy.js';

/** The options that a client needs, and the variables of them. */
const requiredVariables = {
  baseUrl: settingNames.base_url.variable,
  tenantCode: settingNames.tenant_code.variable,
  channel: settingNames.channel.variable,
  appKey: settingNames.app_key.variable,
  appSecret: secretVariable,
} as const;

type RequiredOptions = Pick<UserInfoClientOptions, keyof typeof requiredVariables>;

/**
 * The options of a client by the variables of the command line; `options` take precedence.
 *
 * @throws InvalidInputError that lists the variables that are missing, or names an invalid one
 */
export function optionsFromEnvironment(
  options: Partial<UserInfoClientOptions>,
  env: EnvironmentVariables,
): UserInfoClientOptions {
  const variables = readExplicitValues({}, env);
  if (variables.profile !== null) {
    throw new InvalidInputError(
      `${settingNames.profile.variable} is set, but fromEnv reads no profile`,
      { hint: 'Use fromProfile of userinfo-exchange/profiles, or unset the variable.' },
    );
  }
  const required = requireAll(
    withoutUndefined({
      baseUrl: options.baseUrl ?? variables.base_url?.value,
      tenantCode: options.tenantCode ?? variables.tenant_code?.value,
      channel: options.channel ?? variables.channel?.value,
      appKey: options.appKey ?? variables.app_key?.value,
      appSecret: options.appSecret ?? (env[secretVariable] || undefined),
    }),
    env,
  );
  const client = {
    ...withoutUndefined({ proxy: variables.proxy?.value }),
    ...options,
    ...required,
  };
  const route = routeOptions(client, variables, env);
  if (options.platform !== undefined || variables.platform === null) return { ...client, ...route };
  const platform = readPlatformFile(variables.platform.value).json;
  return { ...client, ...route, platform };
}

/** @throws InvalidInputError that lists the variables of the options that are missing */
function requireAll(options: Partial<RequiredOptions>, env: EnvironmentVariables): RequiredOptions {
  const missing = Object.entries(requiredVariables)
    .filter(([option]) => !(option in options))
    .map(([, variable]) => variable);
  if (missing.length === 0) return options as RequiredOptions;
  const advice = ['Set them, or give the options of UserInfoClient.', ...misnamedVariables(env)];
  throw new InvalidInputError(`the environment has no ${missing.join(', ')}`, {
    hint: advice.join(' '),
  });
}

/**
 * The options about the way to the service, by the settings of the command line: its files,
 * NODE_EXTRA_CA_CERTS, HTTPS_PROXY, HTTP_PROXY and NO_PROXY. `options` take precedence.
 *
 * @throws InvalidInputError for a file that cannot be read
 */
export function routeOptions(
  options: Pick<UserInfoClientOptions, 'baseUrl' | 'dispatcher' | RouteOption>,
  { ca_file, client_cert, client_key }: Pick<Settings, 'ca_file' | 'client_cert' | 'client_key'>,
  env: EnvironmentVariables,
): Pick<UserInfoClientOptions, RouteOption> {
  const { extraCa, cert, key, proxy, dispatcher } = options;
  // A dispatcher has its own way to the service.
  if (dispatcher !== undefined) return {};
  return withoutUndefined({
    extraCa: extraCa ?? authoritiesOf(ca_file, env),
    cert: cert ?? (client_cert === null ? undefined : readTextFile(client_cert.value)),
    key: key ?? (client_key === null ? undefined : new Secret(readTextFile(client_key.value))),
    proxy: proxy ?? proxyOfEnvironment(String(options.baseUrl), env),
  });
}

type RouteOption = 'extraCa' | 'cert' | 'key' | 'proxy';

/** The CA file, and that of NODE_EXTRA_CA_CERTS, which Node ignores besides it. */
function authoritiesOf(caFile: Settings['ca_file'], env: EnvironmentVariables): string | undefined {
  if (caFile === null) return undefined;
  const files = new Set([caFile.value, env.NODE_EXTRA_CA_CERTS || caFile.value]);
  return [...files].map(readTextFile).join('\n') || undefined;
}

function proxyOfEnvironment(baseUrl: string, env: EnvironmentVariables): string | undefined {
  if (!URL.canParse(baseUrl)) return undefined; // the client refuses it
  return proxyFor(baseUrl, env)?.address;
}

/** A platform file, as it is written and as it is used. */
interface ReadPlatform {
  readonly json: PlatformFile;
  readonly platform: Platform;
}

/**
 * Reads a platform file that a variable names.
 *
 * @throws InvalidInputError that names the file
 */
export function readPlatformFile(file: string): ReadPlatform {
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
