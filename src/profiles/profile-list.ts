import { quoteName } from '../protocol/text.js';
import { nearestName } from '../support/nearest-name.js';
import { ProfileError } from './errors.js';
import { checkProfileName, type Profile, type ProfilePatch } from './profile.js';
import { checkProfile } from './profile-json.js';

/** A snapshot of the profile file. */
export interface ProfileList {
  /** The name of the profile that is used by default. It may not exist if the file was edited by hand. */
  readonly active: string | null;
  /** By name, in the order of the file. */
  readonly profiles: ReadonlyMap<string, Profile>;
}

export const noProfiles: ProfileList = { active: null, profiles: new Map() };

/**
 * Finds a profile by name. `askedBy` names the source of the name, such as a variable.
 *
 * @throws ProfileError that suggests the most similar name
 */
export function findProfile(list: ProfileList, name: string, askedBy?: string): Profile {
  const profile = list.profiles.get(name);
  if (profile !== undefined) return profile;
  const nearest = nearestName(name, list.profiles.keys());
  const asked = askedBy === undefined ? '' : `, which ${askedBy} names`;
  throw new ProfileError(`there is no profile ${quoteName(name)}${asked}`, { hint: hintFor(list, nearest) });
}

function hintFor(list: ProfileList, nearest: string | null): string {
  if (list.profiles.size === 0)
    return 'There are no profiles yet: add one with "userinfo profile add <name>".';
  return nearest === null
    ? '"userinfo profile list" lists the profiles.'
    : `Did you mean ${quoteName(nearest)}? "userinfo profile list" lists the profiles.`;
}

/**
 * The profile that is used by default.
 *
 * @throws ProfileError if it does not exist
 */
export function activeProfile({ active, profiles }: ProfileList): Profile | null {
  if (active === null) return null;
  const profile = profiles.get(active);
  if (profile !== undefined) return profile;
  throw new ProfileError(`the active profile ${quoteName(active)} does not exist`, {
    hint: 'Select one with "userinfo profile use <name>", or for this command only with -p <name>.',
  });
}

/**
 * Adds a profile; the first one becomes active.
 *
 * @throws ProfileError for an invalid or existing name, InvalidInputError for an invalid field
 */
export function addProfile(list: ProfileList, profile: Profile): ProfileList {
  checkNewName(list, profile.name);
  const active = list.profiles.size === 0 ? profile.name : list.active;
  return { active, profiles: new Map(list.profiles).set(profile.name, checkProfile(profile)) };
}

/** @throws ProfileError for an unknown name */
export function activateProfile(list: ProfileList, name: string): ProfileList {
  return { ...list, active: findProfile(list, name).name };
}

/** @throws ProfileError for an unknown name, InvalidInputError for an invalid field */
export function updateProfile(list: ProfileList, name: string, patch: ProfilePatch): ProfileList {
  const changes = Object.entries(patch).filter(([, value]) => value !== undefined);
  const fields = Object.entries({ ...findProfile(list, name), ...Object.fromEntries(changes) });
  const left = fields.filter(([, value]) => value !== null);
  const profile = checkProfile(Object.fromEntries(left) as unknown as Profile);
  return { ...list, profiles: new Map(list.profiles).set(name, profile) };
}

/**
 * Renames a profile. It keeps its position, and stays active if it was.
 *
 * @throws ProfileError for an unknown name, or a new name that is invalid or exists
 */
export function renameProfile(list: ProfileList, from: string, to: string): ProfileList {
  findProfile(list, from);
  if (from === to) return list;
  checkNewName(list, to);
  const entries = [...list.profiles].map(([name, profile]): [string, Profile] =>
    name === from ? [to, { ...profile, name: to }] : [name, profile],
  );
  return { active: list.active === from ? to : list.active, profiles: new Map(entries) };
}

/**
 * Removes a profile. If it was the active one, none is active: the next one in the file may be production.
 *
 * @throws ProfileError for an unknown name
 */
export function removeProfile(list: ProfileList, name: string): ProfileList {
  findProfile(list, name);
  const profiles = new Map(list.profiles);
  profiles.delete(name);
  return { active: list.active === name ? null : list.active, profiles };
}

/** @throws ProfileError for an invalid or existing name */
export function checkNewName(list: ProfileList, name: string): void {
  checkProfileName(name);
  if (!list.profiles.has(name)) return;
  throw new ProfileError(`there is a profile ${quoteName(name)} already`, {
    hint: 'Choose another name, or change the profile with "userinfo profile set".',
  });
}
