import type { JsonObject } from './json-fields.js';
import { formatOpenFields } from './parse-profile.js';
import type { Profile } from './profile.js';

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
