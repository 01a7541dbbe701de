import { InvalidInputError } from '../protocol/errors.js';
import { quoteName, textFault } from '../protocol/text.js';
import { ProfileError } from './errors.js';
import { isProfileName } from './profile-name.js';
import type { SecretSource } from './secret.js';
import type { SigningSource } from './signing-source.js';

/** §1: the two deployments. */
export const environments = ['test', 'production'] as const;
export type Environment = (typeof environments)[number];

/** Everything that is needed to call one deployment as one application. The names are those of the spec. */
export interface Profile {
  readonly name: string;
  readonly environment: Environment;
  /** As `parseBaseUrl` returns it. */
  readonly base_url: string;
  readonly tenant_code: string;
  readonly channel: string;
  readonly app_key: string;
  readonly secret: SecretSource;
  /** Absent: the default recipes. */
  readonly signing?: SigningSource;
  /** §4.2 rule 6: what custom keys should begin with. */
  readonly key_prefix?: string;
  /** PEM file of authorities to trust beside Node's; an absolute path. */
  readonly ca_file?: string;
  /** Permission to reach the base URL by plain http, though it is on another machine. */
  readonly allow_http?: true;
}

/** What `ProfileStore.update` changes. `null` takes an optional field away. */
export type ProfilePatch = Partial<Omit<Profile, 'name' | OptionalField>> & {
  readonly [Field in OptionalField]?: Profile[Field] | null;
};
type OptionalField = 'signing' | 'key_prefix' | 'ca_file' | 'allow_http';

/** Throws a ProfileError for a name that no profile may have. */
export function checkProfileName(name: string): void {
  if (isProfileName(name)) return;
  throw new ProfileError(`${quoteName(name)} cannot be the name of a profile`, {
    hint: 'Use up to 64 letters, digits, ".", "_" and "-", a letter or digit first; not "constructor" or its like.',
  });
}

/** Throws an InvalidInputError that begins with `label`. */
export function parseEnvironment(text: string, label = 'the environment'): Environment {
  const environment = environments.find((known) => known === text);
  if (environment === undefined) throw new InvalidInputError(`${label} is neither test nor production`);
  return environment;
}

/** A tenant code, channel, app key or key prefix. Throws an InvalidInputError that begins with `label`. */
export function parseIdentifier(text: string, label: string): string {
  const fault = text.trim() === '' ? 'is empty' : textFault(text);
  if (fault !== null) throw new InvalidInputError(`${label} ${fault}`);
  return text;
}

/** A profile in a few words: its name, environment and host. */
export function describeProfile({ name, environment, base_url }: Profile): string {
  return `"${name}" (${environment}, ${new URL(base_url).host})`;
}
