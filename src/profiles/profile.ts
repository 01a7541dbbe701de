import type { SigningSource } from '../platform/signing-source.js';
import { InvalidInputError } from '../protocol/errors.js';
import type { PlatformResultCodes } from '../protocol/result-code-table.js';
import { quoteName, textFault } from '../protocol/unsafe-text.js';
import { ProfileError } from './errors.js';
import { isProfileName } from './profile-name.js';
import type { SecretSource } from './secret.js';

/** The two deployments (§1). */
export const environments = ['test', 'production'] as const;
export type Environment = (typeof environments)[number];

/** Everything needed to call one deployment as one application. The field names are those of the spec. */
export interface Profile {
  readonly name: string;
  readonly environment: Environment;
  /** Normalized by `parseBaseUrl`. */
  readonly base_url: string;
  readonly tenant_code: string;
  readonly channel: string;
  readonly app_key: string;
  readonly secret: SecretSource;
  /** Absent: the default recipes. */
  readonly signing?: SigningSource;
  /** The prefix that custom keys should have (§4.2 rule 6). */
  readonly key_prefix?: string;
  /** PEM file of certificate authorities to trust in addition to Node's; an absolute path. */
  readonly ca_file?: string;
  /** The result codes of the platform (§7.2). Absent: those of this project. */
  readonly result_codes?: PlatformResultCodes;
  /** Whether the base URL may be plain HTTP on another machine. */
  readonly allow_http?: true;
}

/** The changes of `updateProfile`. `null` removes an optional field. */
export type ProfilePatch = Partial<Omit<Profile, 'name' | OptionalField>> & {
  readonly [Field in OptionalField]?: Profile[Field] | null;
};
type OptionalField = 'signing' | 'key_prefix' | 'ca_file' | 'result_codes' | 'allow_http';

/** @throws ProfileError for an invalid name */
export function checkProfileName(name: string): void {
  if (isProfileName(name)) return;
  throw new ProfileError(`${quoteName(name)} is not a valid profile name`, {
    hint: 'Use up to 64 letters, digits, ".", "_" and "-", with a letter or digit first. Names such as "constructor" are reserved.',
  });
}

/** @throws InvalidInputError that begins with `label` */
export function parseEnvironment(text: string, label = 'the environment'): Environment {
  const environment = environments.find((known) => known === text);
  if (environment === undefined) throw new InvalidInputError(`${label} is neither test nor production`);
  return environment;
}

/**
 * Validates a tenant code, channel, app key or key prefix.
 *
 * @throws InvalidInputError that begins with `label`
 */
export function parseIdentifier(text: string, label: string): string {
  const fault = text.trim() === '' ? 'is empty' : textFault(text);
  if (fault !== null) throw new InvalidInputError(`${label} ${fault}`);
  return text;
}

/** The name, environment and host of a profile, for messages. */
export function describeProfile({ name, environment, base_url }: Profile): string {
  return `"${name}" (${environment}, ${new URL(base_url).host})`;
}
