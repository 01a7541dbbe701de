import { parseBaseUrl } from '../protocol/base-url.js';
import { InvalidInputError } from '../protocol/errors.js';
import type { EnvironmentVariables } from '../support/shell.js';
import { type Environment, parseEnvironment, parseIdentifier } from './profile.js';

/** Where a value comes from. `name` is the flag with its dashes, the variable, or the profile. */
export type Origin =
  | { readonly kind: 'flag'; readonly name: string }
  | { readonly kind: 'environment'; readonly name: string }
  | { readonly kind: 'profile'; readonly name: string }
  | { readonly kind: 'default' };

export interface Setting<T> {
  readonly value: T;
  readonly origin: Origin;
}

/** The options of a command line that choose where a request goes, and as whom. There is none for the secret. */
export interface SettingFlags {
  readonly profile?: string | undefined;
  readonly environment?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly tenantCode?: string | undefined;
  readonly channel?: string | undefined;
  readonly appKey?: string | undefined;
  readonly caFile?: string | undefined;
  /** It has no environment variable: one that is left set would allow it everywhere. */
  readonly allowHttp?: boolean | undefined;
}

/** What flags and environment variables say; `null` where they say nothing. */
export interface GivenValues {
  readonly profile: Setting<string> | null;
  readonly environment: Setting<Environment> | null;
  readonly base_url: Setting<string> | null;
  readonly tenant_code: Setting<string> | null;
  readonly channel: Setting<string> | null;
  readonly app_key: Setting<string> | null;
  readonly ca_file: Setting<string> | null;
}

/** What is called how, in words, on the command line and in the environment. */
export const settingNames = {
  profile: { words: 'profile', option: 'profile', flag: '--profile', variable: 'USERINFO_PROFILE' },
  environment: {
    words: 'environment',
    option: 'environment',
    flag: '--environment',
    variable: 'USERINFO_ENVIRONMENT',
  },
  base_url: { words: 'base URL', option: 'baseUrl', flag: '--base-url', variable: 'USERINFO_BASE_URL' },
  tenant_code: {
    words: 'tenant code',
    option: 'tenantCode',
    flag: '--tenant-code',
    variable: 'USERINFO_TENANT_CODE',
  },
  channel: { words: 'channel', option: 'channel', flag: '--channel', variable: 'USERINFO_CHANNEL' },
  app_key: { words: 'app key', option: 'appKey', flag: '--app-key', variable: 'USERINFO_APP_KEY' },
  ca_file: { words: 'CA file', option: 'caFile', flag: '--ca-file', variable: 'USERINFO_CA_FILE' },
} as const;

/** The environment variable of the app secret, which has no flag. */
export const secretVariable = 'USERINFO_APP_SECRET';

/**
 * A flag beats an environment variable; an empty variable counts as not set. Throws an InvalidInputError that names
 * the flag or variable whose value breaks a rule.
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

/** In words, for a person: `--base-url`, `USERINFO_BASE_URL`, `profile "shop"`. */
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
