import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  realpathSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isSystemError } from '../../support/errors.js';
import { unreadable } from '../source/input.js';
import { notRegular, unwritable } from './file-errors.js';

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
export function placeOf(path: string): string {
  try {
    const place = realPath(path);
    if (lstatSync(place, { throwIfNoEntry: false })?.isFile() !== false) return place;
  } catch (error) {
    throw unwritable(path, error);
  }
  throw notRegular(path);
}

/** The path of the lock of the file at a path without links. */
export function lockBeside(place: string): string {
  return `${place}.userinfo-lock`;
}

/**
 * Opens the regular file at a path without links; `null` if there is none. A link or pipe that is put there meanwhile
 * is neither followed nor waited for.
 */
export function openRegular(path: string, place: string, flags: number): number | null {
  let fd: number;
  try {
    fd = openSync(place, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return null;
    throw flags === constants.O_RDONLY ? unreadable(path, error) : unwritable(path, error);
  }
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  throw notRegular(path);
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
