import {
  closeSync,
  constants,
  fchmodSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import type { Writable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { InvalidInputError, UserInfoError } from '../../protocol/errors.js';
import { quoteName } from '../../protocol/text.js';

/** Where results lines go. */
export interface ResultsSink {
  append(text: string): void;
  /** Whether it has too much to take already; `onRoom` is called when it has not any more. */
  isFull(onRoom: () => void): boolean;
  /** Returns when all is on the disk, and is found there under its name. */
  syncWithName(): void;
  /** Throws a RunFileError where another program touched what was written. */
  requireUntouched(): void;
  close(): void;
}

/** Results for a stream, such as standard output, which is left open; `show` is what it gets of each text. */
export function streamSink(stream: Writable, show = (text: string) => text): ResultsSink {
  let isAwaited = false;
  return {
    append(text) {
      stream.write(show(text));
    },
    isFull(onRoom) {
      if (!stream.writableNeedDrain) return false;
      if (!isAwaited) {
        isAwaited = true;
        stream.once('drain', () => {
          isAwaited = false;
          onRoom();
        });
      }
      return true;
    },
    syncWithName() {},
    requireUntouched() {},
    close() {},
  };
}

/** A file of a run cannot be written any more: the disk is full, say. What it held before is still there. */
class RunFileError extends UserInfoError {
  readonly code = 'RUN_FILE';
}

/** Personal data may be in them. */
const mode = 0o600;

const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK } = constants;

/**
 * A file that grows at its end. It is written with calls that return when the system has it, so that what is in flight
 * at any instant is only what the service was asked and has not answered.
 */
export class AppendFile implements ResultsSink {
  /** As it was given, for messages. */
  readonly path: string;
  readonly #fd: number;
  #place: string;
  #size: number;
  #crc: number;

  private constructor(path: string, place: string, fd: number, { size, crc }: Contents) {
    this.path = path;
    this.#place = place;
    this.#fd = fd;
    this.#size = size;
    this.#crc = crc;
  }

  /**
   * Opens a file, or makes it, and keeps what it begins with, `kept`. It can be read by its owner alone from then on.
   *
   * @throws InvalidInputError where that cannot be done, or something else than a regular file is there
   */
  static open(path: string, kept: Contents = { size: 0, crc: 0 }): AppendFile {
    const place = placeOf(path);
    // What is put there meanwhile is neither followed nor waited for.
    const file = new AppendFile(
      path,
      place,
      open(path, place, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK),
      kept,
    );
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
   * Opens a draft of a file, empty, which `moveIntoPlace` makes that file.
   *
   * @throws InvalidInputError where that cannot be done
   */
  static draft(path: string): AppendFile {
    const place = draftOf(placeOf(path));
    // A run that was killed leaves its draft. What is no regular file is not ours, and makes the next call fail.
    if (lstatSync(place, { throwIfNoEntry: false })?.isFile()) rmSync(place, { force: true });
    const fd = open(draftOf(path), place, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW);
    return new AppendFile(path, place, fd, { size: 0, crc: 0 });
  }

  /** In bytes. */
  get size(): number {
    return this.#size;
  }

  /** CRC-32 of all that is in it. */
  get crc(): number {
    return this.#crc;
  }

  /** Appends all of the text, or nothing. Throws a RunFileError, too where another program cut or continued the file. */
  append(text: string): void {
    const bytes = Buffer.from(text);
    this.#requireSize(fstatSync(this.#fd).size);
    try {
      for (let at = 0; at < bytes.length; ) {
        at += writeSync(this.#fd, bytes, at, bytes.length - at, this.#size + at);
      }
    } catch (error) {
      this.#cutBack();
      throw fault(this.path, error);
    }
    this.#size += bytes.length;
    this.#crc = crc32(bytes, this.#crc);
  }

  isFull(): boolean {
    return false;
  }

  /** Returns when its contents are on the disk, whatever happens to the machine. Throws a RunFileError. */
  sync(): void {
    this.#do(() => fdatasyncSync(this.#fd));
  }

  /** As `sync`, and it is found under its name. Throws a RunFileError. */
  syncWithName(): void {
    this.#do(() => {
      fsyncSync(this.#fd);
      syncFolder(this.#place);
    });
  }

  /** Makes a draft the file that it is a draft of, on the disk. Throws a RunFileError. */
  moveIntoPlace(): void {
    const place = placeOf(this.path);
    this.#do(() => {
      fsyncSync(this.#fd);
      renameSync(this.#place, place);
      this.#place = place;
      syncFolder(place);
    });
  }

  /** Closes a draft, and removes it. */
  discard(): void {
    this.close();
    rmSync(this.#place, { force: true });
  }

  /** Throws a RunFileError where another program removed, replaced or wrote to the file. */
  requireUntouched(): void {
    const there = statSync(this.#place, { throwIfNoEntry: false });
    const ours = fstatSync(this.#fd);
    if (there?.ino !== ours.ino || there.dev !== ours.dev) throw this.#touched('removed or replaced');
    this.#requireSize(ours.size);
  }

  close(): void {
    closeSync(this.#fd);
  }

  #requireSize(size: number): void {
    if (size !== this.#size) throw this.#touched(size < this.#size ? 'cut' : 'written to');
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
      ftruncateSync(this.#fd, this.#size);
    } catch {
      // A reader passes over a line that is not whole.
    }
  }
}

/** What a file holds: how many bytes, and their CRC-32. */
export interface Contents {
  readonly size: number;
  readonly crc: number;
}

/**
 * Where a file of a run is, links followed.
 *
 * @throws InvalidInputError where something else than a regular file is there: a folder, a device, a pipe
 */
export function placeOf(path: string): string {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    const place = stat?.isSymbolicLink() ? realpathSync(path) : path;
    if (stat === undefined || lstatSync(place).isFile()) return place;
  } catch (error) {
    throw unwritable(path, error);
  }
  throw notRegular(path);
}

/** Throws where it cannot be done: a file of another user, who could read what is written. */
function makePrivate(fd: number, owner: number): void {
  try {
    fchmodSync(fd, mode);
  } catch (error) {
    // Some file systems know no modes.
    if (owner !== userInfo().uid) throw error;
  }
}

function draftOf(path: string): string {
  return `${path}.userinfo-draft`;
}

function open(path: string, place: string, flags: number): number {
  try {
    return openSync(place, flags, mode);
  } catch (error) {
    throw unwritable(path, error);
  }
}

/** A name is on the disk once its folder is. */
export function syncFolder(path: string): void {
  let fd: number | undefined;
  try {
    fd = openSync(dirname(path), 'r');
    fsyncSync(fd);
  } catch (error) {
    // Not every system and file system can.
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

function unwritable(path: string, error: unknown): InvalidInputError {
  const { code, message } = error as NodeJS.ErrnoException;
  return new InvalidInputError(`${quoteName(path)} cannot be written (${code ?? message})`, { cause: error });
}

function fault(path: string, error: unknown): RunFileError {
  const { code, message } = error as NodeJS.ErrnoException;
  const reason = code === 'ENOSPC' ? 'the disk is full' : (code ?? message);
  return new RunFileError(`${quoteName(path)} cannot be written: ${reason}`, {
    hint: `${code === 'ENOSPC' ? 'Free some space' : 'Correct that'}, then run the same command with --resume.`,
    cause: error,
  });
}
