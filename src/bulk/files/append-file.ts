import {
  closeSync,
  constants,
  createReadStream,
  existsSync,
  fchmodSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { InvalidInputError, UserInfoError } from '../../protocol/errors.js';
import { quoteName } from '../../protocol/unsafe-text.js';
import { describeSystemError, isSystemError } from '../../support/errors.js';

/** A file of a run can no longer be written, as when the disk is full. Its contents are intact. */
export class RunFileError extends UserInfoError {
  readonly code = 'RUN_FILE';
}

/** The contents of a file: how many bytes, and their CRC-32. */
export interface Contents {
  readonly size: number;
  readonly crc: number;
}

export const noContents: Contents = { size: 0, crc: 0 };

/** Maximum size of one read, in bytes. */
const chunkBytes = 65_536;

/** The contents of a file up to `end`, or to its own end; those up to `start` are known. */
export function readContents(fd: number, start: Contents, end = Number.POSITIVE_INFINITY): Contents {
  const chunk = Buffer.alloc(chunkBytes);
  let { size, crc } = start;
  while (size < end) {
    const read = readSync(fd, chunk, 0, Math.min(chunk.length, end - size), size);
    if (read === 0) break;
    size += read;
    crc = crc32(chunk.subarray(0, read), crc);
  }
  return { size, crc };
}

/** They may hold personal data. */
const mode = 0o600;

const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK } = constants;

/**
 * A file that grows at its end. Writes are synchronous, so that a kill at any instant loses only what the service
 * was asked and has not answered.
 */
export class AppendFile implements Contents {
  /** As the user wrote it, for messages. */
  readonly path: string;
  readonly #fd: number;
  #place: string;
  #isDraft: boolean;
  #isOpen = true;
  /** In bytes. */
  size: number;
  crc: number;

  private constructor(path: string, place: string, isDraft: boolean, { size, crc }: Contents) {
    this.path = path;
    this.#place = place;
    this.#isDraft = isDraft;
    this.size = size;
    this.crc = crc;
    try {
      // A link or pipe that is put there meanwhile is neither followed nor waited for.
      this.#fd = openSync(place, O_RDWR | O_CREAT | O_NOFOLLOW | (isDraft ? O_EXCL : O_NONBLOCK), mode);
    } catch (error) {
      throw unwritable(isDraft ? draftOf(path) : path, error);
    }
  }

  /**
   * Opens or creates a file, and keeps its first bytes, `kept`. From then on only its owner can read it.
   *
   * @throws InvalidInputError if that fails, or the path is not a regular file
   */
  static open(path: string, kept = noContents): AppendFile {
    const file = new AppendFile(path, placeOf(path), false, kept);
    try {
      const stat = fstatSync(file.#fd);
      if (!stat.isFile()) throw notRegular(path);
      if ((stat.mode & 0o077) !== 0) makePrivate(file.#fd, stat.uid);
      ftruncateSync(file.#fd, kept.size);
      return file;
    } catch (error) {
      file.close();
      throw error instanceof InvalidInputError ? error : unwritable(path, error);
    }
  }

  /**
   * Opens an empty draft of a file; `moveIntoPlace` makes it that file.
   *
   * @throws InvalidInputError if that fails
   */
  static draft(path: string): AppendFile {
    const place = draftOf(placeOf(path));
    const left = lstatSync(place, { throwIfNoEntry: false });
    if (left !== undefined && !left.isFile()) throw notRegular(draftOf(path));
    // A killed run leaves its draft behind.
    rmSync(place, { force: true });
    return new AppendFile(path, place, true, noContents);
  }

  /**
   * Appends all of the text, or nothing.
   *
   * @throws RunFileError, also if another program truncated or extended the file
   */
  append(text: string): void {
    const bytes = Buffer.from(text);
    this.#requireSize(fstatSync(this.#fd).size);
    try {
      for (let at = 0; at < bytes.length; ) {
        at += writeSync(this.#fd, bytes, at, bytes.length - at, this.size + at);
      }
    } catch (error) {
      this.#cutBack();
      throw fault(this.path, error);
    }
    this.size += bytes.length;
    this.crc = crc32(bytes, this.crc);
  }

  /** Its bytes from `start` to before `end`, one at least. No other descriptor is opened: there may be none left. */
  read(start: number, end = Number.POSITIVE_INFINITY): AsyncIterable<Buffer> {
    return createReadStream('', { fd: this.#fd, autoClose: false, start, end: end - 1 });
  }

  isFull = () => false;

  /**
   * Returns when the contents are on the disk, and survive a crash of the machine.
   *
   * @throws RunFileError
   */
  sync(): void {
    this.#do(() => fdatasyncSync(this.#fd));
  }

  /**
   * As `sync`, and the file can be found under its name.
   *
   * @throws RunFileError
   */
  syncWithName(): void {
    this.#do(() => {
      fsyncSync(this.#fd);
      syncFolder(this.#place);
    });
  }

  /**
   * Moves a draft to the path of its file, on the disk.
   *
   * @throws RunFileError
   */
  moveIntoPlace(): void {
    const place = placeOf(this.path);
    this.#do(() => {
      fsyncSync(this.#fd);
      renameSync(this.#place, place);
      this.#place = place;
      this.#isDraft = false;
      syncFolder(place);
    });
  }

  /** @throws RunFileError if another program removed, replaced or wrote to the file */
  requireUntouched(): void {
    const there = statSync(this.#place, { throwIfNoEntry: false });
    const ours = fstatSync(this.#fd);
    if (there?.ino !== ours.ino || there.dev !== ours.dev) throw this.#touched('removed or replaced');
    this.#requireSize(ours.size);
  }

  /** Removes a draft that was not moved into place. May be called twice. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    closeSync(this.#fd);
    if (this.#isDraft) rmSync(this.#place, { force: true });
  }

  #requireSize(size: number): void {
    if (size !== this.size) throw this.#touched(size < this.size ? 'cut' : 'written to');
  }

  #touched(how: string): RunFileError {
    return new RunFileError(`${quoteName(this.path)} was ${how} by another program while the run wrote it`, {
      hint: 'Put it back and run the same command with --resume; --restart sends every row again.',
    });
  }

  #do(work: () => void): void {
    try {
      work();
    } catch (error) {
      throw fault(this.path, error);
    }
  }

  #cutBack(): void {
    try {
      ftruncateSync(this.#fd, this.size);
    } catch {
      // Readers skip an incomplete line.
    }
  }
}

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

/** @throws an error of the system if the file belongs to another user, who could read what is written */
function makePrivate(fd: number, owner: number): void {
  try {
    fchmodSync(fd, mode);
  } catch (error) {
    // Some file systems have no modes.
    if (owner !== userInfo().uid) throw error;
  }
}

function draftOf(path: string): string {
  return `${path}.userinfo-draft`;
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

function notRegular(path: string): InvalidInputError {
  return new InvalidInputError(`${quoteName(path)} is there already, and is no regular file`, {
    hint: 'Name a path where there is nothing yet.',
  });
}

/** A file of a run cannot be opened. */
export function unwritable(path: string, error: unknown): InvalidInputError {
  return new InvalidInputError(`${quoteName(path)} cannot be written: ${describeSystemError(error)}`, {
    hint: isSystemError(error, 'ENOENT')
      ? 'Create its folder first.'
      : 'Name files in another folder with --results and --journal.',
    cause: error,
  });
}

function fault(path: string, error: unknown): RunFileError {
  return new RunFileError(`${quoteName(path)} cannot be written: ${describeSystemError(error)}`, {
    hint: 'Correct that, then run the same command with --resume.',
    cause: error,
  });
}
