import { closeSync, existsSync, fsyncSync, lstatSync, openSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { notRegular, type OptionPath, unwritable } from './file-errors.js';

/** The path without links; that of the folder is enough where there is no file yet. */
export function realPath(path: string): string {
  const folder = dirname(path);
  if (existsSync(path)) return realpathSync(path);
  return existsSync(folder) ? join(realpathSync(folder), basename(path)) : path;
}

/**
 * The path of a file of a run, without links.
 *
 * @throws InvalidInputError if a folder, a device or a pipe is there
 */
export function realFilePath(file: OptionPath): string {
  try {
    const path = realPath(file.path);
    if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== false) return path;
  } catch (error) {
    throw unwritable(file, error);
  }
  throw notRegular(file.path);
}

/** The path of the lock of the file at a path without links. */
export function lockBeside(path: string): string {
  return `${path}.userinfo-lock`;
}

/** A name is on the disk once its folder is. */
export function syncFolder(path: string): void {
  let fd: number | undefined;
  try {
    fd = openSync(dirname(path), 'r');
    fsyncSync(fd);
  } catch (error) {
    // Not every system and file system supports it.
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!['EACCES', 'EINVAL', 'EISDIR', 'ENOTSUP', 'EPERM'].includes(code)) throw error;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
