import { closeSync, openSync, readSync, rmSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { InvalidInputError } from '../../protocol/errors.js';
import { quoteName } from '../../protocol/text.js';
import type { FileRow, InputRows, RowFormat } from '../source/rows.js';
import { AppendFile, type Contents, placeOf, syncFolder } from './append-file.js';
import type { JournalState } from './journal-state.js';

/** How much is written or read at once, in bytes or characters. */
const chunkLength = 65_536;

const byteOrderMark = '\ufeff';

/** Where failed rows go, and what it holds where a run wrote it before: nothing else is replaced. */
export interface FailedPlace {
  readonly path: string;
  readonly ours: readonly Contents[];
  /** Is told what the file is about to hold. */
  onWrite?(contents: Contents): void;
}

/**
 * The contents of the file that is there; `null` where none is, or nothing is in it.
 *
 * @throws InvalidInputError where it is none that `ours` names, or no regular file
 */
export function requireOurs({ path, ours }: FailedPlace): Contents | null {
  const found = contentsOf(placeOf(path));
  if (found === null || found.size === 0) return null;
  if (ours.some(({ size, crc }) => size === found.size && crc === found.crc)) return found;
  throw new InvalidInputError(`${quoteName(path)} is there already, and is not what this run wrote there`, {
    hint: 'Move it away, or name another file with --failed.',
  });
}

/**
 * The rows that are worth trying again, in the input's own shape, so that the file is the input of the next run. It
 * takes its place when it is whole; where there is no such row, there is no file.
 */
export class FailedFile<Row extends FileRow> {
  readonly #place: FailedPlace;
  readonly #draft: AppendFile;
  readonly #format: RowFormat<Row>;
  readonly #mark: string;
  #text = '';
  #count = 0;
  #isOver = false;

  /**
   * It is written as UTF-8; where the input is not, a byte-order mark says so, which beats what the next run is told.
   *
   * @throws InvalidInputError where it cannot be written, or would replace what no run wrote
   */
  constructor(place: FailedPlace, format: RowFormat<Row>, inputIsUtf8: boolean) {
    requireOurs(place);
    this.#place = place;
    this.#draft = AppendFile.draft(place.path);
    this.#format = format;
    this.#mark = inputIsUtf8 ? '' : byteOrderMark;
  }

  get count(): number {
    return this.#count;
  }

  /** Throws a RunFileError. */
  add(row: Row): void {
    if (this.#count === 0) this.#text = this.#mark + this.#format.formatHeader();
    this.#count += 1;
    this.#text += this.#format.formatRow(row);
    if (this.#text.length > chunkLength) this.#flush();
  }

  /**
   * Puts the file into its place, or leaves nothing there.
   *
   * @throws RunFileError; an InvalidInputError where something was put there meanwhile: neither is replaced
   */
  finish(): void {
    try {
      this.#flush();
      if (this.#count > 0) this.#place.onWrite?.(this.#draft);
      const found = requireOurs(this.#place);
      if (this.#count > 0) {
        this.#draft.moveIntoPlace();
        this.#isOver = true;
        this.#draft.close();
      } else if (found !== null) {
        rmSync(placeOf(this.#place.path));
        syncFolder(placeOf(this.#place.path));
      }
    } finally {
      this.discard();
    }
  }

  /** Leaves what is in its place as it is, unless it was put there. */
  discard(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#draft.discard();
  }

  #flush(): void {
    this.#draft.append(this.#text);
    this.#text = '';
  }
}

/**
 * Finds the rows that are worth trying again: when the run ends, in the input, as many as there are in the journal;
 * on the way where the input is a stream, which cannot be read again.
 */
export class FailedRows<Row extends FileRow> {
  readonly #file: FailedFile<Row>;
  readonly #rows: InputRows<Row>;
  /** Of this turn. */
  #toAdd: Row[] = [];

  constructor(file: FailedFile<Row>, rows: InputRows<Row>) {
    this.#file = file;
    this.#rows = rows;
  }

  get count(): number {
    return this.#file.count;
  }

  onOutcome(row: Row, outcome: string): void {
    if (this.#rows.canBeReadAgain) return;
    if (outcome === 'failed' || outcome === 'unknown') this.#toAdd.push(row);
  }

  /** Throws a RunFileError. */
  onTurn(): void {
    for (const row of this.#toAdd) this.#file.add(row);
    this.#toAdd = [];
  }

  /**
   * Completes the file.
   *
   * @throws RunFileError; an InvalidInputError where the input cannot be read again: the file is not written
   */
  async finish(state: JournalState): Promise<void> {
    try {
      if (this.#rows.canBeReadAgain) await this.#collect(state);
    } catch (error) {
      this.#file.discard();
      throw error;
    }
    this.#file.finish();
  }

  async #collect({ failed, unknown }: JournalState): Promise<void> {
    const count = failed.size + unknown.size;
    if (count === 0) return;
    for await (const rows of this.#rows.read()) {
      for (const row of rows) if (failed.has(row.line) || unknown.has(row.line)) this.#file.add(row);
      if (this.#file.count === count) return;
    }
  }
}

function contentsOf(place: string): Contents | null {
  let fd: number;
  try {
    fd = openSync(place, 'r');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    throw new InvalidInputError(`${quoteName(place)} cannot be read (${code})`, { cause: error });
  }
  try {
    const chunk = Buffer.alloc(chunkLength);
    let [size, crc] = [0, 0];
    for (let read = readSync(fd, chunk); read > 0; read = readSync(fd, chunk)) {
      size += read;
      crc = crc32(chunk.subarray(0, read), crc);
    }
    return { size, crc };
  } finally {
    closeSync(fd);
  }
}
