import { parseBaseUrl } from '../contract/base-url.js';
import { InvalidInputError } from '../contract/errors.js';
import { cutNote } from '../contract/unsafe-text.js';
import type { EnvironmentVariables } from '../support/shell.js';
import { parseEnvironment, parseIdentifier } from './profile.js';

/**
 * The source of a value. `name` is the flag with its dashes, the environment variable, or the
 * profile.
 */
export type Origin =
  | { readonly kind: 'flag' | 'environment' | 'profile'; readonly name: string }
  | { readonly kind: 'default' };

export interface Setting<T> {
  readonly value: T;
  readonly origin: Origin;
}

/** A name of the spec as an option: `baseUrl`. */
type Camel<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Name;

/**
 * A setting: how its text is parsed, and its name in messages, as an option, as a flag and as an
 * environment variable.
 */
function setting<Name extends string, T>(
  name: Name,
  parse: (text: string, label: string) => T,
  title = name.replaceAll('_', ' '),
) {
  const option = name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()) as Camel<Name>;
  const flag = `--${name.replaceAll('_', '-')}`;
  return { title, option, flag, variable: `USERINFO_${name.toUpperCase()}`, parse };
}

export const settingNames = {
  profile: setting('profile', requireText),
  environment: setting('environment', parseEnvironment),
  base_url: setting('base_url', parseBaseUrl, 'base URL'),
  tenant_code: setting('tenant_code', parseIdentifier),
  channel: setting('channel', parseIdentifier),
  app_key: setting('app_key', parseIdentifier),
  ca_file: setting('ca_file', requireText, 'CA file'),
  client_cert: setting('client_cert', requireText, 'client certificate'),
  client_key: setting('client_key', requireText),
  proxy: setting('proxy', requireText),
  /** A platform file; empty for the defaults. */
  platform: setting('platform', String),
};

type SettingNames = typeof settingNames;

/**
 * The command-line options that select the deployment and the application. There is none for the
 * secret.
 */
export type SettingFlags = {
  readonly [Field in keyof SettingNames as SettingNames[Field]['option']]?: string | undefined;
} & {
  /** Without an environment variable: one that stays set would allow plain HTTP everywhere. */
  readonly allowHttp?: boolean | undefined;
};

/** The environment variable of the app secret, which has no flag. */
export const secretVariable = 'USERINFO_APP_SECRET';

/** A complaint about each variable whose name is a part of that of a setting: nothing reads it. */
export function misnamedVariables(env: EnvironmentVariables): string[] {
  const known = [...Object.values(settingNames).map(({ variable }) => variable), secretVariable];
  const words = (name: string) => name.replace(/^USERINFO_/, '').replaceAll('_', '');
  return Object.keys(env).flatMap((name) => {
    const rest = words(name);
    if (!name.startsWith('USERINFO_') || known.includes(name) || rest.length < 3) return [];
    const meant = known.find((one) => words(one).startsWith(rest) || words(one).endsWith(rest));
    return meant === undefined
      ? []
      : [`nothing reads the variable ${name}: did you mean ${meant}?`];
  });
}

/**
 * The settings whose variables are cut: nobody means the white space around them. That of a file
 * name may be meant.
 */
const cutSettings = [
  'profile',
  'environment',
  'base_url',
  'tenant_code',
  'channel',
  'app_key',
] as const;
const isCut = (field: string) => cutSettings.some((known) => known === field);

/** What is said of the variables in use that had white space around them. */
export function cutNotes(given: GivenValues, env: EnvironmentVariables): string[] {
  return cutSettings
    .filter((field) => given[field]?.origin.kind === 'environment')
    .map((field) => settingNames[field].variable)
    .filter((variable) => env[variable] !== env[variable]?.trim())
    .map(cutNote);
}

/** The values of flags and environment variables; `null` for those not set. */
export type GivenValues = {
  readonly [Field in keyof SettingNames]: Setting<ReturnType<SettingNames[Field]['parse']>> | null;
};

/**
 * Reads flags and environment variables. A flag overrides a variable; an empty variable counts as
 * not set.
 *
 * @throws InvalidInputError for an invalid value; the message names its flag or variable
 */
export function readGivenValues(flags: SettingFlags, env: EnvironmentVariables): GivenValues {
  const values = Object.entries(settingNames).map(([field, { option, flag, variable, parse }]) => {
    const [given, kind, name] =
      flags[option] === undefined
        ? ([env[variable] || undefined, 'environment', variable] as const)
        : ([flags[option], 'flag', flag] as const);
    if (given === undefined) return [field, null];
    const text = isCut(field) ? given.trim() : given;
    return [field, { value: parse(text, name), origin: { kind, name } }];
  });
  return Object.fromEntries(values);
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
