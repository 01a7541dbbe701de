import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { quoteName } from '../contract/errors.js';
import { describeSystemError, isSystemError, UnsuitableFileError } from '../support/errors.js';
import { createFolder } from '../support/folders.js';
import { nearestName } from '../support/nearest-name.js';
import { findUnsafePath } from '../support/trusted-path.js';
import { ProfileError, ProfileFileError } from './errors.js';
import { checkProfileName, type Profile, type ProfilePatch } from './profile.js';
import { readProfileFile } from './profile-file.js';
import { checkProfile, type ProfileList } from './profile-json.js';
import { profileFileName } from './profile-name.js';

/** @throws ProfileFileError if another user could have changed the profile file */
export function refuseUnsafeFile(path: string): void {
  const unsafe = findUnsafePath(path);
  if (unsafe === null) return;
  const { reason, ...advice } = unsafe;
  throw new ProfileFileError(
    `${reason}: what the profile runs, loads or sends in headers is not used`,
    advice,
  );
}

/**
 * The profiles, in one file of mode 0600. Reading creates nothing and takes no lock. `change` locks
 * the file, reads it again, and has conf replace it.
 *
 * All methods throw ProfileFileError if the file cannot be read, parsed or written; it is then
 * unchanged.
 */
export class ProfileStore {
  /** The profile file; it may not exist. */
  readonly path: string;
  readonly #folder: string;

  /** `folder` may not exist: the first write creates it with mode 0700. */
  constructor(folder: string) {
    this.#folder = resolve(folder);
    this.path = join(this.#folder, profileFileName);
  }

  /** Reads the whole file once. */
  load(): Promise<ProfileList> {
    return readProfileFile(this.path);
  }

  /**
   * Call it before running a command or loading a signing module that the file names.
   *
   * @throws ProfileFileError if another user could have changed the file
   */
  refuseUnsafeFile(): void {
    refuseUnsafeFile(this.path);
  }

  /**
   * The mode of the file where other users of the machine can read it, such as `0644`; else `null`.
   */
  sharedMode(): string | null {
    const file = statSync(this.path, { throwIfNoEntry: false });
    if (file === undefined || process.platform === 'win32' || (file.mode & 0o077) === 0)
      return null;
    return (file.mode & 0o7777).toString(8).padStart(4, '0');
  }

  /** The profiles in the order of the file. */
  async list(): Promise<Profile[]> {
    return [...(await this.load()).profiles.values()];
  }

  /** @throws ProfileError for an unknown name */
  async get(name: string): Promise<Profile> {
    return findProfile(await this.load(), name);
  }

  /**
   * Changes the profiles, and returns them after the change.
   *
   * @throws what `change` throws
   */
  async change(change: (list: ProfileList) => ProfileList): Promise<ProfileList> {
    // Loads conf, which takes 100 ms of CPU.
    const { changeProfileFile } = await import('./conf-store.late.js');
    try {
      createFolder(this.#folder);
      return await changeProfileFile(this.path, change);
    } catch (cause) {
      if (!isSystemError(cause) && !(cause instanceof UnsuitableFileError)) throw cause;
      const isFull = isSystemError(cause, 'ENOSPC');
      throw new ProfileFileError(`${this.path}: cannot be written: ${describeSystemError(cause)}`, {
        hint: isFull
          ? 'Free disk space, or set USERINFO_CONFIG_DIR to use another folder.'
          : 'Set USERINFO_CONFIG_DIR to use another folder.',
        cause,
      });
    }
  }
}

/**
 * Finds a profile by name. `askedBy` names the source of the name, such as a variable.
 *
 * @throws ProfileError that suggests the most similar name
 */
export function findProfile(list: ProfileList, name: string, askedBy?: string): Profile {
  const profile = list.profiles.get(name);
  if (profile !== undefined) return profile;
  const fault = `there is no profile ${quoteName(name)}`;
  const message = askedBy === undefined ? fault : `${fault}, which ${askedBy} names`;
  if (list.profiles.size === 0) {
    throw new ProfileError(message, {
      hint: 'There are no profiles yet. Add one:',
      commands: ['userinfo profile add shop'],
    });
  }
  const nearest = nearestName(name, list.profiles.keys());
  const hints = ['The profiles are listed by:'];
  if (nearest !== null) hints.unshift(`Did you mean ${quoteName(nearest)}?`);
  throw new ProfileError(message, { hint: hints.join(' '), commands: ['userinfo profile list'] });
}

/**
 * The profile that is used by default.
 *
 * @throws ProfileError if it does not exist
 */
export function activeProfile(list: ProfileList): Profile | null {
  const { active, profiles } = list;
  if (active === null) return null;
  const profile = profiles.get(active);
  if (profile !== undefined) return profile;
  throw new ProfileError(`the active profile ${quoteName(active)} does not exist`, {
    hint: 'Select one with -p, or for all commands:',
    ...selecting(list),
  });
}

/** The commands that select a profile: one for each if there are few. */
export function selecting({ profiles }: ProfileList): { readonly commands: readonly string[] } {
  const names = [...profiles.keys()];
  if (names.length === 0) return { commands: ['userinfo profile add shop'] };
  if (names.length > maxSelecting) return { commands: ['userinfo profile list'] };
  return { commands: names.map((name) => `userinfo profile use ${name}`) };
}

const maxSelecting = 3;

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
  const renamed = [...list.profiles.values()].map((profile) =>
    profile.name === from ? { ...profile, name: to } : profile,
  );
  return {
    active: list.active === from ? to : list.active,
    profiles: new Map(renamed.map((profile) => [profile.name, profile])),
  };
}

/**
 * Removes a profile. If it was the active one, none is active: the next one in the file may be
 * production.
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
    hint: 'Choose another name, or change the profile. The options are listed by:',
    commands: ['userinfo profile set --help'],
  });
}
