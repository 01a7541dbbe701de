import { parseBaseUrl } from '../protocol/base-url.js';
import { InvalidInputError } from '../protocol/errors.js';
import type { EnvironmentVariables } from '../support/shell.js';
import { parseEnvironment, parseIdentifier } from './profile.js';

/** The source of a value. `name` is the flag with its dashes, the environment variable, or the profile. */
export type Origin =
  | { readonly kind: 'flag' | 'environment' | 'profile'; readonly name: string }
  | { readonly kind: 'default' };

export interface Setting<T> {
  readonly value: T;
  readonly origin: Origin;
}

/** The command-line options that select the deployment and the application. There is none for the secret. */
export interface SettingFlags {
  readonly profile?: string | undefined;
  readonly environment?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly tenantCode?: string | undefined;
  readonly channel?: string | undefined;
  readonly appKey?: string | undefined;
  readonly caFile?: string | undefined;
  readonly clientCert?: string | undefined;
  readonly clientKey?: string | undefined;
  readonly proxy?: string | undefined;
  /** A platform file; empty for the defaults. */
  readonly platform?: string | undefined;
  /** Without an environment variable: one that stays set would allow plain HTTP everywhere. */
  readonly allowHttp?: boolean | undefined;
}

/** The names of a setting: in messages, as an option, as a flag and as an environment variable. */
function names<Option extends keyof SettingFlags>(
  title: string,
  option: Option,
  flag: string,
  variable: string,
) {
  return { title, option, flag, variable };
}

export const settingNames = {
  profile: names('profile', 'profile', '--profile', 'USERINFO_PROFILE'),
  environment: names('environment', 'environment', '--environment', 'USERINFO_ENVIRONMENT'),
  base_url: names('base URL', 'baseUrl', '--base-url', 'USERINFO_BASE_URL'),
  tenant_code: names('tenant code', 'tenantCode', '--tenant-code', 'USERINFO_TENANT_CODE'),
  channel: names('channel', 'channel', '--channel', 'USERINFO_CHANNEL'),
  app_key: names('app key', 'appKey', '--app-key', 'USERINFO_APP_KEY'),
  ca_file: names('CA file', 'caFile', '--ca-file', 'USERINFO_CA_FILE'),
  client_cert: names('client certificate', 'clientCert', '--client-cert', 'USERINFO_CLIENT_CERT'),
  client_key: names('client key', 'clientKey', '--client-key', 'USERINFO_CLIENT_KEY'),
  proxy: names('proxy', 'proxy', '--proxy', 'USERINFO_PROXY'),
  platform: names('platform', 'platform', '--platform', 'USERINFO_PLATFORM'),
};

/** The environment variable of the app secret, which has no flag. */
export const secretVariable = 'USERINFO_APP_SECRET';

/** A warning for each variable whose name is a part of that of a setting: nothing reads it. */
export function misnamedVariables(env: EnvironmentVariables): string[] {
  const known = [...Object.values(settingNames).map(({ variable }) => variable), secretVariable];
  const words = (name: string) => name.replace(/^USERINFO_/, '').replaceAll('_', '');
  return Object.keys(env).flatMap((name) => {
    const rest = words(name);
    if (!name.startsWith('USERINFO_') || known.includes(name) || rest.length < 3) return [];
    const meant = known.find((one) => words(one).startsWith(rest) || words(one).endsWith(rest));
    return meant === undefined ? [] : [`nothing reads the variable ${name}: did you mean ${meant}?`];
  });
}

/** The values of flags and environment variables; `null` for those not set. */
export type GivenValues = ReturnType<typeof readGivenValues>;

/**
 * Reads flags and environment variables. A flag overrides a variable; an empty variable counts as not set.
 *
 * @throws InvalidInputError for an invalid value; the message names its flag or variable
 */
export function readGivenValues(flags: SettingFlags, env: EnvironmentVariables) {
  const read = <T>(
    field: keyof typeof settingNames,
    parse: (text: string, label: string) => T,
  ): Setting<T> | null => {
    const { option, flag, variable } = settingNames[field];
    const given = flags[option];
    if (given !== undefined) return { value: parse(given, flag), origin: { kind: 'flag', name: flag } };
    const text = env[variable];
    if (!text) return null;
    return { value: parse(text, variable), origin: { kind: 'environment', name: variable } };
  };
  return {
    profile: read('profile', requireText),
    environment: read('environment', parseEnvironment),
    base_url: read('base_url', parseBaseUrl),
    tenant_code: read('tenant_code', parseIdentifier),
    channel: read('channel', parseIdentifier),
    app_key: read('app_key', parseIdentifier),
    ca_file: read('ca_file', requireText),
    client_cert: read('client_cert', requireText),
    client_key: read('client_key', requireText),
    proxy: read('proxy', requireText),
    platform: read('platform', String),
  };
}

/** The source of a value, for messages: `--base-url`, `USERINFO_BASE_URL`, `profile "shop"`. */
export function describeOrigin(origin: Origin): string {
  if (origin.kind === 'default') return 'the default';
  return origin.kind === 'profile' ? `profile "${origin.name}"` : origin.name;
}

function requireText(text: string, label: string): string {
  if (text === '') throw new InvalidInputError(`${label} is empty`);
  return text;
}
