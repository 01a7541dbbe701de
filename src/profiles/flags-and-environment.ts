import { parseBaseUrl } from '../protocol/base-url.js';
import { InvalidInputError } from '../protocol/errors.js';
import type { EnvironmentVariables } from '../support/shell.js';
import { type Environment, parseEnvironment, parseIdentifier } from './profile.js';

/** The source of a value. `name` is the flag with its dashes, the environment variable, or the profile. */
export type Origin =
  | { readonly kind: 'flag'; readonly name: string }
  | { readonly kind: 'environment'; readonly name: string }
  | { readonly kind: 'profile'; readonly name: string }
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
  /** Without an environment variable: one that stays set would allow plain HTTP everywhere. */
  readonly allowHttp?: boolean | undefined;
}

/** The values of flags and environment variables; `null` for those not set. */
export interface GivenValues {
  readonly profile: Setting<string> | null;
  readonly environment: Setting<Environment> | null;
  readonly base_url: Setting<string> | null;
  readonly tenant_code: Setting<string> | null;
  readonly channel: Setting<string> | null;
  readonly app_key: Setting<string> | null;
  readonly ca_file: Setting<string> | null;
}

/** The name of each setting: in messages, as an option and as an environment variable. */
export const settingNames = {
  profile: { title: 'profile', option: 'profile', flag: '--profile', variable: 'USERINFO_PROFILE' },
  environment: {
    title: 'environment',
    option: 'environment',
    flag: '--environment',
    variable: 'USERINFO_ENVIRONMENT',
  },
  base_url: { title: 'base URL', option: 'baseUrl', flag: '--base-url', variable: 'USERINFO_BASE_URL' },
  tenant_code: {
    title: 'tenant code',
    option: 'tenantCode',
    flag: '--tenant-code',
    variable: 'USERINFO_TENANT_CODE',
  },
  channel: { title: 'channel', option: 'channel', flag: '--channel', variable: 'USERINFO_CHANNEL' },
  app_key: { title: 'app key', option: 'appKey', flag: '--app-key', variable: 'USERINFO_APP_KEY' },
  ca_file: { title: 'CA file', option: 'caFile', flag: '--ca-file', variable: 'USERINFO_CA_FILE' },
} as const;

/** The environment variable of the app secret, which has no flag. */
export const secretVariable = 'USERINFO_APP_SECRET';

/**
 * Reads flags and environment variables. A flag overrides a variable; an empty variable counts as not set.
 *
 * @throws InvalidInputError for an invalid value; the message names its flag or variable
 */
export function readGivenValues(flags: SettingFlags, env: EnvironmentVariables): GivenValues {
  const read = <T>(field: keyof typeof settingNames, parse: (text: string, label: string) => T) => {
    const { option, flag, variable } = settingNames[field];
    const given = flags[option];
    if (given !== undefined)
      return { value: parse(given, flag), origin: { kind: 'flag', name: flag } } as const;
    const text = env[variable];
    if (!text) return null;
    return { value: parse(text, variable), origin: { kind: 'environment', name: variable } } as const;
  };
  return {
    profile: read('profile', requireText),
    environment: read('environment', parseEnvironment),
    base_url: read('base_url', parseBaseUrl),
    tenant_code: read('tenant_code', parseIdentifier),
    channel: read('channel', parseIdentifier),
    app_key: read('app_key', parseIdentifier),
    ca_file: read('ca_file', requireText),
  };
}

/** The source of a value, for messages: `--base-url`, `USERINFO_BASE_URL`, `profile "shop"`. */
export function describeOrigin(origin: Origin): string {
  switch (origin.kind) {
    case 'flag':
    case 'environment':
      return origin.name;
    case 'profile':
      return `profile "${origin.name}"`;
    case 'default':
      return 'the default';
  }
}

function requireText(text: string, label: string): string {
  if (text === '') throw new InvalidInputError(`${label} is empty`);
  return text;
}
