import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import envPaths from 'env-paths';
import type { EnvironmentVariables } from './shell.js';

const paths = () => envPaths('userinfo', { suffix: '' });

/**
 * The folder of the profile file: USERINFO_CONFIG_DIR, else the system's configuration folder (or
 * XDG_CONFIG_HOME).
 */
export function configFolder(env: EnvironmentVariables): string {
  return env.USERINFO_CONFIG_DIR ? resolve(env.USERINFO_CONFIG_DIR) : paths().config;
}

/** The default folder of the service's database: the system's data folder (or XDG_DATA_HOME). */
export function dataFolder(): string {
  return paths().data;
}

/**
 * Creates a folder with mode 0700, and those above it; returns whether it was missing. Level by level: a recursive
 * `mkdir` of Node 20 never returns where no folder can be created, as below /proc.
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
