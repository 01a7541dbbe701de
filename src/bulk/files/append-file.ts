import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { InvalidInputError, UserInfoError } from '../../protocol/errors.js';
import { quoteName } from '../../protocol/text.js';
import type { ResultsSink } from './results-sink.js';

/** A file of a run cannot be written any more: the disk is full, say. What it held before is still there. */
export class RunFileError extends UserInfoError {
  readonly code = 'RUN_FILE';
}

/** Personal data may be in them. */
const mode = 0o600;

/**
 * A file that grows at its end. It is written with calls that return when the system has it: what is under way is
 * then only what the service was asked and has not answered, at any instant.
 */
export class AppendFile implements ResultsSink {
  readonly path: string;
  readonly #fd: number;
  /** A device or a pipe, such as /dev/null, has no places to write at, and cannot be cut. */
  readonly #isRegular: boolean;
  #size: number;

  /** Keeps its first `keep` bytes and drops the rest. Throws an InvalidInputError where it cannot be opened. */
  constructor(path: string, keep: number) {
    this.path = path;
    try {
      this.#fd = openSync(path, keep === 0 ? 'w' : 'r+', mode);
      this.#isRegular = fstatSync(this.#fd).isFile();
      if (this.#isRegular) ftruncateSync(this.#fd, keep);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      throw new InvalidInputError(`${quoteName(path)} cannot be written (${code})`, { cause: error });
    }
    this.#size = keep;
  }

  /** In bytes. */
  get size(): number {
    return this.#size;
  }

  get canBeRead(): boolean {
    return this.#isRegular;
  }

  /** All of the text, or none: what a full disk took of it is cut off again. Throws a RunFileError. */
  append(text: string): void {
    const bytes = Buffer.from(text);
    try {
      for (let at = 0; at < bytes.length; ) {
        const place = this.#isRegular ? this.#size + at : null;
        at += writeSync(this.#fd, bytes, at, bytes.length - at, place);
      }
    } catch (error) {
      this.#cutBack();
      throw fault(this.path, error);
    }
    this.#size += bytes.length;
  }

  isFull(): boolean {
    return false;
  }

  /** Returns when it is on the disk, whatever happens to the machine. Throws a RunFileError. */
  sync(): void {
    try {
      if (this.#isRegular) fsyncSync(this.#fd);
    } catch (error) {
      throw fault(this.path, error);
    }
  }

  close(): void {
    closeSync(this.#fd);
  }

  #cutBack(): void {
    try {
      ftruncateSync(this.#fd, this.#size);
    } catch {
      // A reader passes over a line that is not whole.
    }
  }
}

function fault(path: string, error: unknown): RunFileError {
  const { code, message } = error as NodeJS.ErrnoException;
  const reason = code === 'ENOSPC' ? 'the disk is full' : (code ?? message);
  return new RunFileError(`${quoteName(path)} cannot be written: ${reason}`, {
    hint: code === 'ENOSPC' ? 'Make room, then go on with the run.' : 'Mend that, then go on with the run.',
    cause: error,
  });
}
