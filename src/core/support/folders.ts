import { mkdirSync, statSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { env, platform } from 'node:process';
import type { EnvironmentVariables } from './shell.js';

/**
 * The folders of a system, as `conf` names them: a variable for those above it, else where they are
 * in the home folder.
 */
const known = {
  darwin: { config: ['', 'Library/Preferences'], data: ['', 'Library/Application Support'] },
  win32: { config: ['APPDATA', 'AppData/Roaming'], data: ['LOCALAPPDATA', 'AppData/Local'] },
  linux: { config: ['XDG_CONFIG_HOME', '.config'], data: ['XDG_DATA_HOME', '.local/share'] },
} as const;

/**
 * A path that is not absolute counts as not set: whoever hands over a folder could put a profile
 * file into it.
 */
function systemFolder(kind: 'config' | 'data'): string {
  const [variable, inHome] =
    known[platform === 'darwin' || platform === 'win32' ? platform : 'linux'][kind];
  const above = env[variable] ?? '';
  const folder = join(isAbsolute(above) ? above : join(home(), inHome), 'userinfo');
  return platform === 'win32' ? join(folder, kind === 'config' ? 'Config' : 'Data') : folder;
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
  return variables.USERINFO_CONFIG_DIR
    ? resolve(variables.USERINFO_CONFIG_DIR)
    : systemFolder('config');
}

/** The default folder of the service's database: the system's data folder (or XDG_DATA_HOME). */
export function dataFolder(): string {
  return systemFolder('data');
}

/**
 * Creates a folder with mode 0700, and those above it; returns whether it was missing. Level by
 * level: a recursive `mkdir` of Node 20 never returns where no folder can be created, as below
 * /proc.
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
