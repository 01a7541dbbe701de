import { isAbsolute } from 'node:path';
import { formatPlatform, parsePlatform } from '../platform/platform.js';
import { parseBaseUrl } from '../protocol/base-url.js';
import { InvalidInputError } from '../protocol/errors.js';
import { checkFields, isObject } from '../protocol/fields.js';
import { quoteName } from '../protocol/unsafe-text.js';
import { Secret } from '../signing/secret.js';
import { checkProfileName, type Profile, parseEnvironment, parseIdentifier } from './profile.js';
import { keychainCommand, type SecretSource } from './secret.js';

/** The content of the file. (A type, not an interface: conf needs an index signature.) */
export type ProfileFileJson = {
  readonly active?: string | null;
  readonly profiles?: Readonly<Record<string, JsonObject>>;
  readonly __internal__?: { readonly migrations?: { readonly version?: unknown } };
};

export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Parses a value of untrusted JSON.
 *
 * @throws InvalidInputError that begins with `label`
 */
type Parse<T> = (json: unknown, label: string) => T;

const parseText: Parse<string> = (json, label) => {
  if (typeof json !== 'string') throw new InvalidInputError(`${label} is not text`);
  if (json === '') throw new InvalidInputError(`${label} is empty`);
  return json;
};

type Parsers<T> = { readonly [Field in keyof T]-?: Parse<NonNullable<T[Field]> | Extract<T[Field], null>> };

/** A text that a further rule parses, or checks. */
function textBy<T>(parse: (text: string, label: string) => T): Parse<T> {
  return (json, label) => parse(parseText(json, label), label);
}

function textMatching(isRight: (text: string) => boolean, problem: string, hint?: string): Parse<string> {
  return textBy((text, label) => {
    if (isRight(text)) return text;
    throw new InvalidInputError(`${label} ${problem}`, { hint });
  });
}

/** The name of an environment variable, without the $ that a shell writes before it. */
export const parseVariableName = textMatching(
  (name) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name),
  'is not the name of an environment variable',
  'Letters, digits and "_", such as SHOP_APP_SECRET: the variable\'s name, not the secret itself.',
);

/** The account becomes part of a command: no shell metacharacters. */
const parseAccount = textMatching(
  (name) => /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name),
  'is not the name of an entry: letters, digits, ".", "_", "-"',
);

const parseSecret: Parse<SecretSource> = (json, label) => {
  const { kind, ...rest } = checkFields(json, label);
  const parse = <T extends object>(parsers: Parsers<T>) => parseFields(parsers, rest, label);
  switch (kind) {
    case 'file':
      return { kind, ...parse<{ value: Secret }>({ value: textBy((value) => new Secret(value)) }) };
    case 'environment':
      return { kind, ...parse({ name: parseVariableName }) };
    case 'command':
      return { kind, ...parse({ command: parseText }) };
    case 'keychain': {
      const { keychain, account } = parse({ keychain: parseText, account: parseAccount });
      return keychainCommand(keychain, account);
    }
    default:
      throw new InvalidInputError(`${label}.kind is none of file, environment, command, keychain`, {
        hint: newer,
      });
  }
};

/** The fields of a profile, with the only parser of each. */
const profileFields: Parsers<Omit<Profile, 'name'>> = {
  environment: textBy(parseEnvironment),
  base_url: textBy(parseBaseUrl),
  tenant_code: textBy(parseIdentifier),
  channel: textBy(parseIdentifier),
  app_key: textBy(parseIdentifier),
  secret: parseSecret,
  platform: parsePlatform,
  key_prefix: textBy(parseIdentifier),
  ca_file: textMatching(isAbsolute, 'is not an absolute path'),
  proxy: textBy(parseIdentifier),
  allow_http: (json, label) => {
    if (json === true) return true;
    throw new InvalidInputError(`${label} is not true`, { hint: 'Omit it for false.' });
  },
};
const requiredFields = ['environment', 'base_url', 'tenant_code', 'channel', 'app_key', 'secret'];

/** The schema of the file for conf. `rule` names one of `schemaRules`. */
export const fileSchema = {
  type: 'object',
  properties: {
    active: { type: ['string', 'null'] },
    profiles: {
      type: 'object',
      propertyNames: { rule: 'name' },
      additionalProperties: {
        type: 'object',
        properties: Object.fromEntries(Object.keys(profileFields).map((field) => [field, { rule: field }])),
        required: requiredFields,
        additionalProperties: false,
      },
    },
    /** conf stores the format version here. */
    __internal__: { type: 'object' },
  },
  additionalProperties: false,
} as const;

/** The rules of `fileSchema`, by the value of the keyword `rule`. */
export const schemaRules: Readonly<Record<string, Parse<unknown>>> = {
  name: textBy(checkProfileName),
  ...profileFields,
};

const newer = 'A newer userinfo may have written it: upgrade, or correct it by hand.';

/** Parses an object that has the `required` fields, by default all, and no others than `parsers`. */
function parseFields<T extends object>(
  parsers: Parsers<T>,
  json: unknown,
  label: string,
  required: readonly string[] = Object.keys(parsers),
): T {
  const object = checkFields(json, label, Object.keys(parsers), newer);
  const parsed: Record<string, unknown> = {};
  for (const [name, parse] of Object.entries<Parse<unknown>>(parsers)) {
    const field = label.startsWith('the ') ? name : `${label}.${name}`;
    if (Object.hasOwn(object, name)) parsed[name] = parse(object[name], field);
    else if (required.includes(name)) throw new InvalidInputError(`${field} is missing`);
  }
  return parsed as T;
}

/** Begins the message of an invalid input with a label. */
function withLabel<T>(label: string, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    if (!(cause instanceof InvalidInputError)) throw cause;
    const { message, hint, commands } = cause;
    throw new InvalidInputError(`${label}: ${message}`, { hint, commands, cause });
  }
}

/** @throws InvalidInputError for an invalid field */
export function parseProfile(name: string, json: unknown): Profile {
  const fields = upgradeProfile(json);
  return {
    name,
    ...parseFields<Omit<Profile, 'name'>>(profileFields, fields, 'the profile', requiredFields),
  };
}

/** The fields of a platform file that a profile of format 1 has for itself. */
const movedFields = ['signing', 'result_codes'];

/** The profiles of a file of format 1; what is no profile stays, and is refused as in any file. */
export function upgradeProfiles(json: unknown): unknown {
  if (!isObject(json)) return json;
  return Object.fromEntries(Object.entries(json).map(([name, profile]) => [name, upgradeProfile(profile)]));
}

/** A profile as this format has it: the recipes and result codes of format 1 are fields of its platform. */
function upgradeProfile(json: unknown): unknown {
  if (!isObject(json) || !movedFields.some((field) => Object.hasOwn(json, field))) return json;
  const entries = Object.entries(json);
  const isMoved = ([field]: readonly [string, unknown]) => movedFields.includes(field);
  const given = isObject(json.platform) ? json.platform : {};
  const platform = { ...Object.fromEntries(entries.filter(isMoved)), ...given };
  return { ...Object.fromEntries(entries.filter((entry) => !isMoved(entry))), platform };
}

/** A snapshot of the profile file. */
export interface ProfileList {
  /** The name of the profile that is used by default. It may not exist if the file was edited by hand. */
  readonly active: string | null;
  /** By name, in the order of the file. */
  readonly profiles: ReadonlyMap<string, Profile>;
}

export const noProfiles: ProfileList = { active: null, profiles: new Map() };

/**
 * Parses the content of the file.
 *
 * @throws InvalidInputError or ProfileError
 */
export function parseProfileList(json: unknown): ProfileList {
  const { active = null, profiles = {} } = parseFields<ProfileFileJson>(
    {
      active: (value, label) => (value === null || value === '' ? null : parseText(value, label)),
      profiles: checkFields as Parse<Readonly<Record<string, JsonObject>>>,
      __internal__: (value, label) => checkFields(value, label),
    },
    json,
    'the file',
    [],
  );
  const entries = Object.entries(profiles).map(([name, fields]): [string, Profile] => {
    checkProfileName(name);
    return [name, withLabel(`profile ${quoteName(name)}`, () => parseProfile(name, fields))];
  });
  return { active, profiles: new Map(entries) };
}

/** The content of the file, with the secrets that it stores in plain text. */
export function formatProfileList({ active, profiles }: ProfileList): Omit<ProfileFileJson, '__internal__'> {
  const entries = [...profiles].map(([name, profile]) => [name, formatProfile(profile)] as const);
  return { active, profiles: Object.fromEntries(entries) };
}

/** The profile as the file stores it; a secret that is kept there is in plain text. */
export function formatProfile({ name: _, secret, platform, ...fields }: Profile): JsonObject {
  const given = platform && formatPlatform(platform);
  return {
    ...fields,
    ...(given === undefined || Object.keys(given).length === 0 ? {} : { platform: given }),
    secret: secret.kind === 'file' ? { kind: secret.kind, value: secret.value.reveal() } : { ...secret },
  };
}

/**
 * The profile for another user: with its name, without its secret and without the values of headers. A variable or a
 * command is named.
 */
export function exportProfile({ platform, ...profile }: Profile): JsonObject {
  const { name, secret } = profile;
  const source = secret.kind === 'file' ? { kind: secret.kind } : secret;
  const headers = Object.entries(platform?.headers ?? {}).filter(([, value]) => typeof value !== 'string');
  const shown = platform && { platform: { ...platform, headers: Object.fromEntries(headers) } };
  return { name, ...formatProfile({ ...profile, ...shown }), secret: source };
}

/**
 * Validates a profile, and returns it as it will be read back.
 *
 * @throws InvalidInputError for an invalid field
 */
export function checkProfile(profile: Profile): Profile {
  return parseProfile(profile.name, formatProfile(profile));
}
