import { randomBytes } from 'node:crypto';
import { type BigIntStats, closeSync, constants, fstatSync, lstatSync, renameSync, rmSync } from 'node:fs';
import { InvalidInputError } from '../../protocol/errors.js';
import { AppendFile } from './append-file.js';
import { type Contents, noContents, readContents } from './contents.js';
import { changedEarly, writeFailed } from './file-errors.js';
import { openRegular, placeOf, syncFolder } from './place.js';

/** A file that is written beside the path that it is for, and moved there when it is complete. */
export class DraftFile {
  /** The draft, without links. */
  readonly #place: string;
  readonly #file: AppendFile;
  #isMoved = false;

  /**
   * Creates the draft of a file, empty, at a path of `draftOf`.
   *
   * @throws InvalidInputError if that fails
   */
  constructor(path: string, draft: string) {
    this.#place = draft;
    this.#file = AppendFile.create(path, draft);
  }

  get contents(): Contents {
    return this.#file;
  }

  /** @throws RunFileError */
  append(text: string): void {
    this.#file.append(text);
  }

  /**
   * Moves the draft to the path of its file, on the disk, where it replaces the file that was `found` there.
   *
   * @throws RunFileError
   * @throws InvalidInputError if anything else is there
   */
  moveIntoPlace(found: FoundFile): void {
    this.#file.sync();
    try {
      requireAt(found);
      renameSync(this.#place, found.place);
      this.#isMoved = true;
      syncFolder(found.place);
    } catch (error) {
      throw error instanceof InvalidInputError ? error : writeFailed(this.#file.path, error);
    }
  }

  /** Removes a draft that was not moved into place. May be called twice. */
  close(): void {
    this.#file.close();
    if (!this.#isMoved) rmSync(this.#place, { force: true });
  }
}

/** A file that was found at a path, or that there was none. */
export interface FoundFile extends Contents {
  readonly path: string;
  /** The path without links. */
  readonly place: string;
  /** `null` if there was no file. */
  readonly stat: BigIntStats | null;
}

/**
 * Reads the contents of the file at a path.
 *
 * @throws InvalidInputError if it cannot be read, or is not a regular file
 */
export function findFile(path: string): FoundFile {
  const place = placeOf(path);
  const fd = openRegular(path, place, constants.O_RDONLY);
  if (fd === null) return { path, place, stat: null, ...noContents };
  try {
    return { path, place, stat: fstatSync(fd, { bigint: true }), ...readContents(path, fd, noContents) };
  } finally {
    closeSync(fd);
  }
}

/**
 * Removes a file that was found.
 *
 * @throws InvalidInputError if another one is there
 */
export function removeFile(found: FoundFile): void {
  requireAt(found);
  rmSync(found.place, { force: true });
  syncFolder(found.place);
}

/** @throws InvalidInputError if what is at the path is not the file that was found, or no longer as it was */
function requireAt({ path, place, stat, size }: FoundFile): void {
  const now = lstatSync(place, { bigint: true, throwIfNoEntry: false });
  const isSame = now?.ino === stat?.ino && now?.dev === stat?.dev && now?.mtimeNs === stat?.mtimeNs;
  if (!isSame || Number(now?.size ?? 0) !== size) throw changedEarly(path);
}

const draftSuffix = /\.[0-9a-f]{12}\.userinfo-draft$/;

/** The path of a draft of a file, without links. Nobody else can know it, so that a file at this path is the draft. */
export function draftOf(path: string): string {
  return `${placeOf(path)}.${randomBytes(6).toString('hex')}.userinfo-draft`;
}

/** Removes a draft that a killed run left at a path of `draftOf`. */
export function removeDraft(draft: string): void {
  const isDraft = draftSuffix.test(draft) && lstatSync(draft, { throwIfNoEntry: false })?.isFile();
  if (isDraft) rmSync(draft, { force: true });
}
