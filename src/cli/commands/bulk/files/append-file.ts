import {
  type BigIntStats,
  closeSync,
  constants,
  fchmodSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  openSync,
  read,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { quoteName } from '../../../../core/contract/errors.js';
import { isSystemError } from '../../../../core/support/errors.js';
import { unreadable } from '../source/input.js';
import {
  changedEarly,
  notRegular,
  type OptionPath,
  ofAnother,
  RunFileError,
  unwritable,
  writeFailed,
} from './file-errors.js';
import { lockBeside, realFilePath, syncFolder } from './real-path.js';

const readAsync = promisify(read);

/** What a file holds, as far as two files are compared: its size in bytes, and its CRC-32. */
export interface Contents {
  readonly size: number;
  readonly crc: number;
}

export const noContents: Contents = { size: 0, crc: 0 };

/** Whether two files have the same contents. */
export function isSame(a: Contents, b: Contents): boolean {
  return a.size === b.size && a.crc === b.crc;
}

/** Size from which text that waits is appended, in characters. */
export const chunkLength = 65_536;

/** Maximum size of one read, in bytes. */
const chunkBytes = 65_536;

/** They may hold personal data. */
const mode = 0o600;

/**
 * A file that grows at its end. Writes are synchronous, so that a kill at any instant loses only
 * what the service was asked and has not answered. It is identified by its descriptor, so a check
 * and the write after it concern the same file, whatever others put at its path meanwhile.
 */
export class AppendFile implements Contents, OptionPath {
  readonly path: string;
  readonly option: OptionPath['option'];
  /** The path without links. */
  readonly realPath: string;
  readonly #fd: number;
  /** The status of the file when it was opened. */
  readonly #statusAtOpen: BigIntStats;
  #isOpen = true;
  /** The part that stays, in bytes. */
  size = 0;
  crc = 0;

  private constructor({ path, option }: OptionPath, realPath: string, fd: number) {
    this.path = path;
    this.option = option;
    this.realPath = realPath;
    this.#fd = fd;
    this.#statusAtOpen = fstatSync(fd, { bigint: true });
  }

  /**
   * Opens the file at a path and changes nothing; `null` if there is none.
   *
   * @throws InvalidInputError if it cannot be written, or is not a regular file
   */
  static find(file: OptionPath): AppendFile | null {
    const realPath = realFilePath(file);
    let fd: number;
    try {
      // A link or pipe that is put there meanwhile is neither followed nor waited for.
      fd = openSync(realPath, constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    } catch (error) {
      if (isSystemError(error, 'ENOENT')) return null;
      throw unwritable(file, error);
    }
    if (fstatSync(fd).isFile()) return new AppendFile(file, realPath, fd);
    closeSync(fd);
    throw notRegular(file.path);
  }

  /**
   * Creates a file that only its owner can read.
   *
   * @throws InvalidInputError if that fails, or something is there
   */
  static create(file: OptionPath, realPath = realFilePath(file)): AppendFile {
    try {
      return new AppendFile(file, realPath, openSync(realPath, 'wx+', mode));
    } catch (error) {
      if (isSystemError(error, 'EEXIST')) throw changedEarly(file.path);
      throw unwritable(file, error);
    }
  }

  /** The size of the file when it was opened, in bytes. */
  get sizeAtOpen(): number {
    return Number(this.#statusAtOpen.size);
  }

  /** The contents up to `end`, or to the end of the file; those up to `start` are known. */
  contents(start: Contents = noContents, end = Number.POSITIVE_INFINITY): Contents {
    const chunk = Buffer.alloc(chunkBytes);
    let { size, crc } = start;
    try {
      while (size < end) {
        const bytes = readSync(this.#fd, chunk, 0, Math.min(chunk.length, end - size), size);
        if (bytes === 0) break;
        size += bytes;
        crc = crc32(chunk.subarray(0, bytes), crc);
      }
    } catch (error) {
      throw unreadable(this.path, error);
    }
    return { size, crc };
  }

  /**
   * The size without NUL at the end, in bytes: a power cut can leave them, and no run writes them.
   */
  textSize(): number {
    const chunk = Buffer.alloc(chunkBytes);
    let end = Number(fstatSync(this.#fd).size);
    while (end > 0) {
      const start = Math.max(0, end - chunkBytes);
      const bytes = readSync(this.#fd, chunk, 0, end - start, start);
      const text = chunk.subarray(0, bytes);
      const last = text.findLastIndex((byte) => byte !== 0);
      if (last !== -1) return start + last + 1;
      end = start;
    }
    return 0;
  }

  /**
   * @throws InvalidInputError if another program changed, removed or replaced the file since it was
   * opened, or it belongs to another user, who could read what is written: root may write to any
   * file
   */
  requireUnchanged(): void {
    if (Number(this.#statusAtOpen.uid) !== ownerOfNew(this.realPath)) throw ofAnother(this);
    const now = fstatSync(this.#fd, { bigint: true });
    const isSame = (['size', 'mtimeNs', 'ctimeNs'] as const).every(
      (key) => now[key] === this.#statusAtOpen[key],
    );
    if (!isSame || !isAt(this.realPath, now)) throw changedEarly(this.path);
  }

  /**
   * Cuts the file behind the bytes that are `kept`, to append to them. From then on only its owner
   * can read it.
   *
   * @throws InvalidInputError if that fails, and as `requireUnchanged`
   */
  keep(kept: Contents): void {
    this.requireUnchanged();
    try {
      const { mode: modeNow, uid } = this.#statusAtOpen;
      if ((modeNow & 0o077n) !== 0n) makePrivate(this.#fd, Number(uid));
      if (this.sizeAtOpen !== kept.size) ftruncateSync(this.#fd, kept.size);
    } catch (error) {
      throw unwritable(this, error);
    }
    this.size = kept.size;
    this.crc = kept.crc;
  }

  /**
   * Removes the file. Other names of it, such as a copy that somebody keeps, stay.
   *
   * @throws InvalidInputError if that fails, and as `requireUnchanged`
   */
  remove(): void {
    this.requireUnchanged();
    this.close();
    try {
      rmSync(this.realPath);
      syncFolder(this.realPath);
    } catch (error) {
      throw unwritable(this, error);
    }
  }

  /**
   * Moves the file, which is on the disk then, to a path without links, in the place of what is
   * there.
   *
   * @throws RunFileError
   */
  moveTo(realPath: string): void {
    this.#do(() => {
      fdatasyncSync(this.#fd);
      renameSync(this.realPath, realPath);
      syncFolder(realPath);
    });
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
      let written = 0;
      while (written < bytes.length) {
        const position = this.size + written;
        written += writeSync(this.#fd, bytes, written, bytes.length - written, position);
      }
    } catch (error) {
      this.#cutBack();
      throw writeFailed(this.path, error);
    }
    this.size += bytes.length;
    this.crc = crc32(bytes, this.crc);
  }

  /**
   * Its bytes from `start` to before `end`. No other descriptor is opened: there may be none left.
   *
   * @throws InvalidInputError if they cannot be read
   */
  async *read(start: number, end = Number.POSITIVE_INFINITY): AsyncGenerator<Buffer> {
    let position = start;
    while (position < end) {
      // A stream of the descriptor would close it where its reader stops early.
      const chunk = Buffer.allocUnsafeSlow(Math.min(chunkBytes, end - position));
      const { bytesRead } = await readAsync(this.#fd, chunk, 0, chunk.length, position).catch(
        (error) => {
          throw unreadable(this.path, error);
        },
      );
      if (bytesRead === 0) return;
      position += bytesRead;
      yield chunk.subarray(0, bytesRead);
    }
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
      syncFolder(this.realPath);
    });
  }

  /** @throws RunFileError if another program removed, replaced or wrote to the file */
  requireUntouched(): void {
    const ours = fstatSync(this.#fd, { bigint: true });
    if (!isAt(this.realPath, ours)) throw this.#touched('removed or replaced');
    this.#requireSize(Number(ours.size));
  }

  /** May be called twice. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    closeSync(this.#fd);
  }

  #requireSize(size: number): void {
    if (size < this.size) throw this.#touched('cut');
    if (size > this.size) throw this.#touched('written to');
  }

  #touched(how: string): RunFileError {
    return new RunFileError(
      `${quoteName(this.path)} was ${how} by another program while the run wrote it`,
      {
        hint: 'Put it back and run the same command with --resume; --restart sends every row again.',
      },
    );
  }

  #do(work: () => void): void {
    try {
      work();
    } catch (error) {
      throw writeFailed(this.path, error);
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

/**
 * The owner of what this process creates beside a file: not itself where a server maps root to
 * nobody.
 */
function ownerOfNew(realPath: string): number | undefined {
  return lstatSync(lockBeside(realPath), { throwIfNoEntry: false })?.uid ?? process.geteuid?.();
}

/** @throws an error of the system if that fails on a file system with modes */
function makePrivate(fd: number, owner: number): void {
  try {
    fchmodSync(fd, mode);
  } catch (error) {
    // Some file systems have no modes.
    if (owner !== process.geteuid?.()) throw error;
  }
}

function isAt(realPath: string, { ino, dev }: BigIntStats): boolean {
  const there = lstatSync(realPath, { bigint: true, throwIfNoEntry: false });
  return there?.ino === ino && there.dev === dev;
}
