import { parseBaseUrl } from '../contract/base-url.js';
import { InvalidInputError } from '../contract/errors.js';
import type { EnvironmentVariables } from '../support/shell.js';
import { cutNote, parseEnvironment, parseIdentifier } from './profile.js';

/**
 * The source of a value. `name` is the flag with its dashes, the environment variable, or the
 * profile.
 */
export type Origin =
  | { readonly kind: 'flag' | 'environment' | 'profile'; readonly name: string }
  | { readonly kind: 'default' };

/** A value, and where it comes from. */
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

/** The settings that flags and environment variables have, by their names in the spec. */
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
  const warnings: string[] = [];
  for (const name of Object.keys(env)) {
    const similar = similarVariable(name);
    if (similar !== undefined)
      warnings.push(`nothing reads the variable ${name}: did you mean ${similar}?`);
  }
  return warnings;
}

/** The variable of a setting that a name is a part of, unless it is that of a setting. */
function similarVariable(name: string): string | undefined {
  if (!name.startsWith('USERINFO_') || settingVariables.includes(name)) return undefined;
  const letters = lettersOf(name);
  if (letters.length < 3) return undefined;
  return settingVariables.find((variable) => {
    const whole = lettersOf(variable);
    return whole.startsWith(letters) || whole.endsWith(letters);
  });
}

const settingVariables: readonly string[] = [
  ...Object.values(settingNames).map(({ variable }) => variable),
  secretVariable,
];

function lettersOf(variable: string): string {
  return variable.replace(/^USERINFO_/, '').replaceAll('_', '');
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
const isCut = (field: string) => cutSettings.some((cut) => cut === field);

/** What is said of the variables in use that had white space around them. */
export function cutNotes(explicit: ExplicitValues, env: EnvironmentVariables): string[] {
  return cutSettings
    .filter((field) => explicit[field]?.origin.kind === 'environment')
    .map((field) => settingNames[field].variable)
    .filter((variable) => env[variable] !== env[variable]?.trim())
    .map(cutNote);
}

/** The values of flags and environment variables; `null` for those not set. */
export type ExplicitValues = {
  readonly [Field in keyof SettingNames]: Setting<ReturnType<SettingNames[Field]['parse']>> | null;
};

/**
 * Reads flags and environment variables. A flag overrides a variable; an empty variable counts as
 * not set.
 *
 * @throws InvalidInputError for an invalid value; the message names its flag or variable
 */
export function readExplicitValues(flags: SettingFlags, env: EnvironmentVariables): ExplicitValues {
  const values = Object.entries(settingNames).map(([field, names]) => {
    const explicit = explicitText(names, flags, env);
    if (explicit === null) return [field, null];
    const { text, origin } = explicit;
    const value = names.parse(isCut(field) ? text.trim() : text, origin.name);
    return [field, { value, origin }];
  });
  return Object.fromEntries(values);
}

/** The text of a flag, else of its variable, as it was written; `null` if neither is set. */
function explicitText(
  { option, flag, variable }: SettingNames[keyof SettingNames],
  flags: SettingFlags,
  env: EnvironmentVariables,
) {
  const ofFlag = flags[option];
  if (ofFlag !== undefined) return { text: ofFlag, origin: { kind: 'flag', name: flag } } as const;
  const text = env[variable];
  if (!text) return null;
  return { text, origin: { kind: 'environment', name: variable } } as const;
}

/** The source of a value, for messages: `--base-url`, `USERINFO_BASE_URL`, `profile "shop"`. */
export function describeOrigin(origin: Origin): string {
  switch (origin.kind) {
    case 'default':
      return 'the default';
    case 'profile':
      return `profile "${origin.name}"`;
    default:
      return origin.name;
  }
}

function requireText(text: string, label: string): string {
  if (text === '') throw new InvalidInputError(`${label} is empty`);
  return text;
}
