import { isAbsolute } from 'node:path';
import { parseBaseUrl } from '../contract/base-url.js';
import { InvalidInputError, quoteName } from '../contract/errors.js';
import { checkFields } from '../contract/members.js';
import { defaultPlatform, formatPlatform, parsePlatform } from '../platform/platform.js';
import { Secret } from '../signing/secret.js';
import { withoutUndefined } from '../support/without-undefined.js';
import { parseHeaderSources } from './header-source.js';
import {
  checkProfileName,
  cutIdentifiers,
  type Profile,
  parseEnvironment,
  parseIdentifier,
  requestFields,
} from './profile.js';
import type { SecretSource } from './secret-source.js';

/** An object of a JSON file, whose values are not checked. */
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

/** A text that a further rule parses, or checks. */
function textBy<T>(parse: (text: string, label: string) => T): Parse<T> {
  return (json, label) => parse(parseText(json, label), label);
}

/** The name of an environment variable, without the $ that a shell writes before it. */
export const parseVariableName = textBy((name, label) => {
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return name;
  throw new InvalidInputError(`${label} is not the name of an environment variable`, {
    hint: 'Letters, digits and "_", such as SHOP_APP_SECRET: the variable\'s name, not the secret itself.',
  });
});

/**
 * An identifier in the file, as it is: `cutIdentifiers` cuts that of a profile which is used or
 * changed.
 */
const parseStored = textBy((text, label) => {
  parseIdentifier(text, label);
  return text;
});

const parsePath = textBy((path, label) => {
  if (isAbsolute(path)) return path;
  throw new InvalidInputError(`${label} is not an absolute path`);
});

const parseSecret: Parse<SecretSource> = (json, label) => {
  const { kind, value, name, command } = checkFields(json, label, [
    'kind',
    'value',
    'name',
    'command',
  ]);
  switch (kind) {
    case 'file':
      return { kind, value: new Secret(parseText(value, `${label}.value`)) };
    case 'environment':
      return { kind, name: parseVariableName(name, `${label}.name`) };
    case 'command':
      return { kind, command: parseText(command, `${label}.command`) };
    default:
      throw new InvalidInputError(`${label}.kind must be file, environment or command`);
  }
};

/** The fields of a profile, with the only parser of each. */
const profileFields: {
  readonly [Field in keyof Omit<Profile, 'name'>]-?: Parse<NonNullable<Profile[Field]>>;
} = {
  environment: textBy(parseEnvironment),
  base_url: textBy(parseBaseUrl),
  tenant_code: parseStored,
  channel: parseStored,
  app_key: parseStored,
  secret: parseSecret,
  platform: parsePlatform,
  headers: parseHeaderSources,
  signing_module: parsePath,
  key_prefix: parseStored,
  ca_file: parsePath,
  client_cert: parsePath,
  client_key: parsePath,
  proxy: parseStored,
  allow_http: (json, label) => {
    if (json === true) return true;
    throw new InvalidInputError(`${label} is not true`, { hint: 'Omit it for false.' });
  },
};
const requiredFields = ['environment', ...requestFields, 'secret'];

/**
 * @throws InvalidInputError that begins with `label`, for an invalid field, and for one that is
 * unknown unless `isRead`
 */
export function parseProfile(name: string, json: unknown, label = '', isRead = false): Profile {
  const names = isRead ? undefined : Object.keys(profileFields);
  const fields = checkFields(json, `${label}the profile`, names);
  const parsed: Record<string, unknown> = { name };
  for (const [field, parse] of Object.entries<Parse<unknown>>(profileFields)) {
    if (Object.hasOwn(fields, field)) parsed[field] = parse(fields[field], label + field);
    else if (requiredFields.includes(field))
      throw new InvalidInputError(`${label}${field} is missing`);
  }
  return parsed as unknown as Profile;
}

/** A snapshot of the profile file. */
export interface ProfileList {
  /**
   * The name of the profile that is used by default. It may not exist if the file was edited by
   * hand.
   */
  readonly active: string | null;
  /** By name, in the order of the file. */
  readonly profiles: ReadonlyMap<string, Profile>;
}

/** The profiles of a missing file. */
export const noProfiles: ProfileList = { active: null, profiles: new Map() };

/**
 * Parses the content of the file: `isRead`, or to be changed, which would lose what is unknown, as
 * of a later version.
 *
 * @throws InvalidInputError or ProfileError
 */
export function parseProfileList(json: unknown, isRead: boolean): ProfileList {
  const names = isRead ? undefined : ['active', 'profiles'];
  const { active = null, profiles = {} } = checkFields(json, 'the file', names);
  const parsed = new Map<string, Profile>();
  for (const [name, fields] of Object.entries(checkFields(profiles, 'profiles'))) {
    checkProfileName(name);
    parsed.set(name, parseProfile(name, fields, `profile ${quoteName(name)}: `, isRead));
  }
  if (active === null || active === '') return { active: null, profiles: parsed };
  return { active: parseText(active, 'active'), profiles: parsed };
}

/** The content of the file, with the secrets that it stores in plain text. */
export function formatProfileList({ active, profiles }: ProfileList): {
  active: string | null;
  profiles: Readonly<Record<string, JsonObject>>;
} {
  const entries = [...profiles].map(([name, profile]) => [name, formatProfile(profile)] as const);
  return { active, profiles: Object.fromEntries(entries) };
}

/** The profile as the file stores it; a secret that is kept there is in plain text. */
export function formatProfile({ name: _, secret, platform, ...fields }: Profile): JsonObject {
  const platformFile = formatPlatform(platform ?? defaultPlatform);
  const hasPlatform = Object.keys(platformFile).length > 0;
  return withoutUndefined({
    ...fields,
    platform: hasPlatform ? platformFile : undefined,
    secret: formatSecret(secret),
  });
}

function formatSecret(secret: SecretSource): JsonObject {
  if (secret.kind === 'file') return { kind: secret.kind, value: secret.value.reveal() };
  return { ...secret };
}

/** The members of a profile that is handed over: data about the deployment. */
export const sharedFields = ['environment', ...requestFields, 'key_prefix', 'platform'] as const;

/** The profile for another user: without its secret, and of its headers only the names. */
export function exportProfile(profile: Profile): JsonObject {
  const { name, platform = defaultPlatform, headers = {} } = profile;
  const names = [...platform.headers, ...Object.keys(headers)];
  const needed = new Map(names.map((header) => [header.toLowerCase(), header]));
  const whole = formatProfile({
    ...profile,
    platform: { ...platform, headers: [...needed.values()] },
  });
  const shared = sharedFields.filter((field) => whole[field] !== undefined);
  return { name, ...Object.fromEntries(shared.map((field) => [field, whole[field]])) };
}

/**
 * Validates a profile, and returns it as it will be read back.
 *
 * @throws InvalidInputError for an invalid field
 */
export function checkProfile(profile: Profile): Profile {
  return parseProfile(profile.name, formatProfile(cutIdentifiers(profile).profile));
}
