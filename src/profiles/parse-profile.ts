import { parseBaseUrl } from '../protocol/base-url.js';
import { Secret } from '../signing/secret.js';
import type { Profile } from './profile.js';
import { checkSchema, type JsonObject, profileSchema } from './profile-schema.js';
import type { SecretSource } from './secret-source.js';
import { formatSigningSource, parseSigningSource } from './signing-source.js';

/** A profile of the file, which `profileSchema` allows. */
interface ProfileJson extends Omit<Profile, 'name' | 'secret' | 'signing'> {
  readonly secret:
    | Exclude<SecretSource, { readonly kind: 'file' }>
    | { readonly kind: 'file'; readonly value: string };
  readonly signing?: JsonObject;
}

/** A profile of the file, which was checked by `profileSchema`; its name is kept beside it. */
export function parseProfile(name: string, json: unknown): Profile {
  const { secret, signing, ...fields } = json as ProfileJson;
  return {
    name,
    ...fields,
    base_url: parseBaseUrl(fields.base_url),
    secret: secret.kind === 'file' ? { kind: 'file', value: new Secret(secret.value) } : secret,
    ...(signing !== undefined && { signing: parseSigningSource(signing) }),
  };
}

/** The profile as the profile file holds it, the secret in clear where it is kept there. */
export function formatProfile(profile: Profile): JsonObject {
  const { secret } = profile;
  return {
    ...formatOpenFields(profile),
    secret: secret.kind === 'file' ? { kind: secret.kind, value: secret.value.reveal() } : { ...secret },
  };
}

/**
 * The profile as it may be handed on: its name with it, its secret left out. Where the secret is elsewhere (an
 * environment variable, a command's output), the place is named; an entry of a keychain means nothing elsewhere.
 */
export function exportProfile(profile: Profile): JsonObject {
  const { name, secret } = profile;
  return {
    name,
    ...formatOpenFields(profile),
    secret: secret.kind === 'file' || secret.kind === 'keychain' ? { kind: secret.kind } : { ...secret },
  };
}

/** All but the name and the secret. */
function formatOpenFields({ name: _, secret: __, signing, ...fields }: Profile): JsonObject {
  if (signing === undefined) return fields;
  return { ...fields, signing: formatSigningSource(signing) };
}

/** The profile as reading it back will give it. Throws an InvalidInputError for a field that breaks its rule. */
export function checkProfile(profile: Profile): Profile {
  const json = formatProfile(profile);
  checkSchema(profileSchema, json, 'the profile');
  return parseProfile(profile.name, json);
}
