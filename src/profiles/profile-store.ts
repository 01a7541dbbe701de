import { chmodSync, mkdirSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describeSystemError, isSystemError } from '../support/errors.js';
import { lockFile } from '../support/file-lock.js';
import { findDistrust } from '../support/trusted-path.js';
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

/** No write takes this long, in milliseconds: a lock that is older was left behind, on another host perhaps. */
const takeOverMs = 5_000;

/**
 * The profiles, kept in one file of mode 0600. Reading makes nothing and takes no lock; each writing method reads
 * the file anew under a lock, changes it, puts it in place as a whole, and returns what is in it then. All methods
 * throw a ProfileFileError where the file cannot be read, understood or written; it then stays as it was.
 */
export class ProfileStore {
  /** The profile file; it need not exist. */
  readonly path: string;
  readonly #folder: string;

  /** `folder` need not exist: the first write makes it, mode 0700. */
  constructor(folder: string) {
    this.#folder = resolve(folder);
    this.path = join(this.#folder, profileFileName);
  }

  /** Everything in the file, read once. */
  load(): Promise<ProfileList> {
    return readProfileFile(this.path);
  }

  /**
   * To be called before a program that the file names is run, a command or a signing module. Throws a ProfileFileError
   * where other users could have put it there.
   */
  refuseShared(): void {
    const distrust = findDistrust(this.path);
    if (distrust === null) return;
    const { reason, hint } = distrust;
    throw new ProfileFileError(`${reason}: no program that the profiles name is run`, { hint });
  }

  async list(): Promise<Profile[]> {
    return [...(await this.load()).profiles.values()];
  }

  /** Throws a ProfileError for an unknown name. */
  async get(name: string): Promise<Profile> {
    return findProfile(await this.load(), name);
  }

  /**
   * The first profile of all becomes the active one. Throws a ProfileError for a name that is bad or taken, an
   * InvalidInputError for a field that breaks its rule.
   */
  add(profile: Profile): Promise<ProfileList> {
    return this.#change((list) => addProfile(list, profile));
  }

  /** Makes it the active one. Throws a ProfileError for an unknown name. */
  use(name: string): Promise<ProfileList> {
    return this.#change((list) => activateProfile(list, name));
  }

  /** Throws a ProfileError for an unknown name, an InvalidInputError for a field that breaks its rule. */
  update(name: string, patch: ProfilePatch): Promise<ProfileList> {
    return this.#change((list) => updateProfile(list, name, patch));
  }

  /** Throws a ProfileError for an unknown name, or a new one that is bad or taken. */
  rename(from: string, to: string): Promise<ProfileList> {
    return this.#change((list) => renameProfile(list, from, to));
  }

  /** Removing the active profile leaves none active. Throws a ProfileError for an unknown name. */
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
        hint: 'USERINFO_CONFIG_DIR can name another folder for it.',
        cause,
      });
    }
  }
}

/** Makes the folder, or closes it to others where nothing but our file is in it. Any other is its owner's affair. */
function prepareFolder(folder: string): void {
  if (mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined) return;
  const isOpen = (statSync(folder).mode & 0o077) !== 0;
  if (!isOpen || !readdirSync(folder).every((name) => name.startsWith(profileFileName))) return;
  try {
    chmodSync(folder, 0o700);
  } catch (error) {
    // Another user's folder, or a file system without modes.
    if (!isSystemError(error, 'EPERM')) throw error;
  }
}

/** The file itself, where `path` is a symbolic link, say into a folder of dot files: the link is to stay. */
function followLinks(path: string): string {
  return statSync(path, { throwIfNoEntry: false }) ? realpathSync(path) : path;
}
