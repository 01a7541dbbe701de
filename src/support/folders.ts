import { resolve } from 'node:path';
import envPaths from 'env-paths';
import type { EnvironmentVariables } from './shell.js';

const paths = envPaths('userinfo', { suffix: '' });

/** Where the profile file is: USERINFO_CONFIG_DIR, else where the system keeps settings (XDG_CONFIG_HOME counts). */
export function configFolder(env: EnvironmentVariables): string {
  return env.USERINFO_CONFIG_DIR ? resolve(env.USERINFO_CONFIG_DIR) : paths.config;
}

/** Where the service's database is by default: where the system keeps data (XDG_DATA_HOME counts). */
export function dataFolder(): string {
  return paths.data;
}

/** Where the system keeps what can be had again (XDG_CACHE_HOME counts). */
export function cacheFolder(): string {
  return paths.cache;
}
