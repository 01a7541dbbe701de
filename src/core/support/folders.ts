import { mkdirSync, statSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { env, platform } from 'node:process';
import type { EnvironmentVariables } from './shell.js';

/**
 * The folders of a system, as `conf` names them: a variable for those above it, else where they are
 * in the home folder.
 */
const systemFolders: {
  readonly [System in 'darwin' | 'win32' | 'linux']: Readonly<Record<FolderKind, SystemFolder>>;
} = {
  darwin: {
    config: { inHome: 'Library/Preferences', name: 'userinfo' },
    data: { inHome: 'Library/Application Support', name: 'userinfo' },
  },
  win32: {
    config: { variable: 'APPDATA', inHome: 'AppData/Roaming', name: 'userinfo/Config' },
    data: { variable: 'LOCALAPPDATA', inHome: 'AppData/Local', name: 'userinfo/Data' },
  },
  linux: {
    config: { variable: 'XDG_CONFIG_HOME', inHome: '.config', name: 'userinfo' },
    data: { variable: 'XDG_DATA_HOME', inHome: '.local/share', name: 'userinfo' },
  },
};

type FolderKind = 'config' | 'data';

/** Where a system keeps the folders of programs, and what ours is called there. */
interface SystemFolder {
  /** The environment variable of the folder above ours, if the system has one. */
  readonly variable?: string;
  /** The folder above ours, in the home folder. */
  readonly inHome: string;
  readonly name: string;
}

/**
 * A path that is not absolute counts as not set: whoever hands over a folder could put a profile
 * file into it.
 */
function systemFolder(kind: FolderKind): string {
  const system = platform === 'darwin' || platform === 'win32' ? platform : 'linux';
  const { variable = '', inHome, name } = systemFolders[system][kind];
  const above = env[variable] ?? '';
  if (isAbsolute(above)) return join(above, name);
  return join(home(), inHome, name);
}

/** HOME, else the home folder of the account, else the root: a container may have neither. */
function home(): string {
  for (const find of [homedir, () => userInfo().homedir]) {
    try {
      if (isAbsolute(find())) return find();
    } catch {
      // The user has no account.
    }
  }
  return resolve('/');
}

/**
 * The folder of the profile file: USERINFO_CONFIG_DIR, else the system's configuration folder (or
 * XDG_CONFIG_HOME).
 */
export function configFolder(variables: EnvironmentVariables): string {
  const { USERINFO_CONFIG_DIR: folder } = variables;
  return folder ? resolve(folder) : systemFolder('config');
}

/** The default folder of the service's database: the system's data folder (or XDG_DATA_HOME). */
export function dataFolder(): string {
  return systemFolder('data');
}

/**
 * Creates a folder with mode 0700, and those above it; returns whether it was missing. Level by
 * level: a recursive `mkdir` of Node 20 never returns where no folder can be created, as below
 * /proc.
 *
 * @throws system errors
 */
export function createFolder(path: string): boolean {
  const isThere = () => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  if (isThere()) return false;
  if (dirname(path) !== path) createFolder(dirname(path));
  try {
    mkdirSync(path, 0o700);
  } catch (error) {
    if (!isThere()) throw error; // another process may have created it
  }
  return true;
}
