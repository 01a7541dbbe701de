import { chmodSync, closeSync, openSync, type Stats, statSync } from 'node:fs';
import { StartError } from '../errors.js';

/**
 * Makes the file of a database for its owner alone, where there is none and `create` says so. A file that is there is
 * never opened beside SQLite: to close any descriptor of it drops every lock that this process holds on it
 * (https://www.sqlite.org/howtocorrupt.html, 2.2). Throws where something else is there, a StartError where nothing is.
 */
export function makeSqliteFile(path: string, create: boolean): void {
  const stats = statsOf(path);
  // To open a pipe would wait for its other end, and nothing could end that.
  if (stats?.isFile() === false) throw new Error('it is not a file');
  if (stats !== undefined) return;
  if (!create) {
    throw new StartError('CANNOT_OPEN_DATABASE', `there is no database at ${path}`, {
      hint: 'Name the one of the service with --database, or start the service first.',
    });
  }
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    // Another process made it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Gives a database and its -wal and -shm files mode 0600: they hold app secrets. */
export function keepFromOthers(path: string): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    if (((statsOf(file)?.mode ?? 0) & 0o077) === 0) continue;
    try {
      chmodSync(file, 0o600);
    } catch {
      // Only its owner can, on a file system that has modes.
    }
  }
}

/** Tells one file from another that takes its place; `null` where there is none. */
export function fileIdentity(path: string): string | null {
  const stats = statsOf(path);
  return stats === undefined ? null : `${stats.dev}:${stats.ino}`;
}

function statsOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}
