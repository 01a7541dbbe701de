import { chmodSync, mkdirSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describeSystemError, isSystemError } from '../support/errors.js';
import { lockFile } from '../support/file-lock.js';
import { findUnsafePath } from '../support/trusted-path.js';
import { ProfileFileError } from './errors.js';
import type { Profile, ProfilePatch } from './profile.js';
import { readProfileFile } from './profile-file.js';
import {
  activateProfile,
  addProfile,
  findProfile,
  type ProfileList,
  removeProfile,
  renameProfile,
  updateProfile,
} from './profile-list.js';
import { profileFileName } from './profile-name.js';

/** Longer than any write takes, in milliseconds: an older lock was left behind, perhaps on another host. */
const takeOverMs = 5_000;

/**
 * The profiles, in one file of mode 0600. Reading creates nothing and takes no lock. Each writing method locks the
 * file, reads it again, changes it, replaces it atomically, and returns the profiles after the change.
 *
 * All methods throw ProfileFileError if the file cannot be read, parsed or written; it is then unchanged.
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
    const unsafe = findUnsafePath(this.path);
    if (unsafe === null) return;
    const { reason, hint } = unsafe;
    throw new ProfileFileError(`${reason}: commands and modules of profiles are not run`, { hint });
  }

  async list(): Promise<Profile[]> {
    return [...(await this.load()).profiles.values()];
  }

  /** @throws ProfileError for an unknown name */
  async get(name: string): Promise<Profile> {
    return findProfile(await this.load(), name);
  }

  /**
   * Adds a profile; the first one becomes active.
   *
   * @throws ProfileError for an invalid or existing name, InvalidInputError for an invalid field
   */
  add(profile: Profile): Promise<ProfileList> {
    return this.#change((list) => addProfile(list, profile));
  }

  /**
   * Makes a profile the active one.
   *
   * @throws ProfileError for an unknown name
   */
  use(name: string): Promise<ProfileList> {
    return this.#change((list) => activateProfile(list, name));
  }

  /** @throws ProfileError for an unknown name, InvalidInputError for an invalid field */
  update(name: string, patch: ProfilePatch): Promise<ProfileList> {
    return this.#change((list) => updateProfile(list, name, patch));
  }

  /** @throws ProfileError for an unknown name, or a new name that is invalid or exists */
  rename(from: string, to: string): Promise<ProfileList> {
    return this.#change((list) => renameProfile(list, from, to));
  }

  /**
   * Removes a profile. If it was the active one, none is active.
   *
   * @throws ProfileError for an unknown name
   */
  remove(name: string): Promise<ProfileList> {
    return this.#change((list) => removeProfile(list, name));
  }

  async #change(change: (list: ProfileList) => ProfileList): Promise<ProfileList> {
    const { changeProfileFile, loadConf } = await import('./conf-store.js');
    const openConf = await loadConf();
    try {
      prepareFolder(this.#folder);
      const file = followLinks(this.path);
      const lock = await lockFile(`${file}.lock`, takeOverMs);
      try {
        return await changeProfileFile(file, openConf, lock, change);
      } finally {
        lock.release();
      }
    } catch (cause) {
      if (!isSystemError(cause)) throw cause;
      throw new ProfileFileError(`${this.path}: cannot be written: ${describeSystemError(cause)}`, {
        hint: 'Set USERINFO_CONFIG_DIR to use another folder.',
        cause,
      });
    }
  }
}

/** Creates the folder. An existing folder is made private only if it contains nothing but our files. */
function prepareFolder(folder: string): void {
  if (mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined) return;
  const isOpen = (statSync(folder).mode & 0o077) !== 0;
  if (!isOpen || !readdirSync(folder).every((name) => name.startsWith(profileFileName))) return;
  try {
    chmodSync(folder, 0o700);
  } catch (error) {
    // Owned by another user, or on a file system without modes.
    if (!isSystemError(error, 'EPERM')) throw error;
  }
}

/** The target if `path` is a symbolic link, for example into a dotfiles folder: the link stays. */
function followLinks(path: string): string {
  return statSync(path, { throwIfNoEntry: false }) ? realpathSync(path) : path;
}
