import { parseBaseUrl } from '../contract/base-url.js';
import { InvalidInputError, quoteName } from '../contract/errors.js';
import { textFault } from '../contract/unsafe-text.js';
import type { Platform } from '../platform/platform.js';
import { ProfileError } from './errors.js';
import type { HeaderSources } from './header-source.js';
import { isProfileName } from './profile-name.js';
import type { SecretSource } from './secret-source.js';

/** The two deployments (§1). */
export const environments = ['test', 'production'] as const;
/** A deployment (§1): test or production. */
export type Environment = (typeof environments)[number];

/** The fields of every request, or of its address. */
export const requestFields = ['base_url', 'tenant_code', 'channel', 'app_key'] as const;

/**
 * Everything needed to call one deployment as one application. The field names are those of the
 * spec.
 */
export interface Profile {
  readonly name: string;
  readonly environment: Environment;
  /** Normalized by `parseBaseUrl`. */
  readonly base_url: string;
  readonly tenant_code: string;
  readonly channel: string;
  readonly app_key: string;
  readonly secret: SecretSource;
  /** What the spec leaves open, as this deployment does it. Absent: the defaults. */
  readonly platform?: Platform;
  /** Headers of every request, and where their values are. */
  readonly headers?: HeaderSources;
  /** JavaScript module that signs in place of the recipes; an absolute path. */
  readonly signing_module?: string;
  /** The prefix that custom keys should have (§4.2 rule 6). */
  readonly key_prefix?: string;
  /** PEM file of certificate authorities to trust in addition to Node's; an absolute path. */
  readonly ca_file?: string;
  /** PEM files of the certificate of this client and of its private key; absolute paths. */
  readonly client_cert?: string;
  readonly client_key?: string;
  /** Address of an http proxy, without a password. */
  readonly proxy?: string;
  /** Whether the base URL may be plain HTTP on another machine. */
  readonly allow_http?: true;
}

/** The changes of `updateProfile`. `null` removes an optional field. */
export type ProfilePatch = Partial<Omit<Profile, 'name' | OptionalField>> & {
  readonly [Field in OptionalField]?: Profile[Field] | null;
};
type OptionalField = {
  [Field in keyof Profile]-?: object extends Pick<Profile, Field> ? Field : never;
}[keyof Profile];

/** @throws ProfileError for an invalid name */
export function checkProfileName(name: string): void {
  if (isProfileName(name)) return;
  throw new ProfileError(`${quoteName(name)} is not a valid profile name`, {
    hint: 'Use up to 64 letters, digits, ".", "_" and "-", with a letter or digit first. Names such as "constructor" are reserved.',
  });
}

/** @throws InvalidInputError that begins with `label` */
export function parseEnvironment(text: string, label = 'the environment'): Environment {
  const environment = environments.find((name) => name === text);
  if (environment === undefined)
    throw new InvalidInputError(`${label} is neither test nor production`);
  return environment;
}

/**
 * Parses a tenant code, channel, app key or key prefix: the white space around it is cut off.
 *
 * @throws InvalidInputError that begins with `label`, for one that is empty or cannot be sent
 */
export function parseIdentifier(text: string, label: string): string {
  const identifier = text.trim();
  if (identifier === '') throw new InvalidInputError(`${label} is empty`);
  const fault = textFault(identifier);
  if (fault !== null) throw new InvalidInputError(`${label} ${fault}`);
  return identifier;
}

const identifierFields = ['tenant_code', 'channel', 'app_key', 'key_prefix'] as const;

/**
 * A profile without white space around its identifiers, as somebody may have written it, and what
 * is said of it.
 */
export function cutIdentifiers(profile: Profile): {
  readonly profile: Profile;
  readonly notes: string[];
} {
  const identifiers: Partial<Record<(typeof identifierFields)[number], string>> = {};
  const notes: string[] = [];
  for (const field of identifierFields) {
    const text = profile[field];
    if (text === undefined || text === text.trim()) continue;
    identifiers[field] = text.trim();
    notes.push(cutNote(`${field} of profile ${quoteName(profile.name)}`));
  }
  return { profile: { ...profile, ...identifiers }, notes };
}

/** What is said of a text, called `what`, without the white space that was around it. */
export function cutNote(what: string): string {
  return `${what} has white space around it, which is cut off`;
}

/** The name, environment and host of a profile, for messages. */
export function describeProfile({ name, environment, base_url }: Profile): string {
  return `"${name}" (${environment}, ${new URL(parseBaseUrl(base_url)).host})`;
}
