import type { Profile } from '../../../profiles/profile.js';

/** A profile in a few words: its name, environment and host. */
export function describeProfile({ name, environment, base_url }: Profile): string {
  return `"${name}" (${environment}, ${new URL(base_url).host})`;
}
