import { closeSync, openSync, readSync, rmSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { InvalidInputError } from '../../protocol/errors.js';
import { quoteName } from '../../protocol/text.js';
import type { FileRow, InputRows, RowFormat } from '../source/rows.js';
import { AppendFile, type Contents, placeOf, syncFolder } from './append-file.js';
import type { JournalState } from './journal-state.js';

/** Maximum size of one write or read, in bytes or characters. */
const chunkLength = 65_536;

const byteOrderMark = '\ufeff';

/** Where failed rows go, and the contents that an earlier run wrote there: nothing else is replaced. */
export interface FailedPlace {
  readonly path: string;
  readonly ours: readonly Contents[];
  /** Called before the file is written. */
  onWrite?(contents: Contents): void;
}

/**
 * The contents of the file that is there; `null` if there is none, or it is empty.
 *
 * @throws InvalidInputError if it is not among `ours`, or not a regular file
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
 * The rows that are worth another try, in the format of the input, so that the file can be the input of the next
 * run. It is moved into place when it is complete; without such a row, there is no file.
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
   * Written as UTF-8; if the input is not UTF-8, with a byte-order mark, which overrides `--encoding` of the next
   * run.
   *
   * @throws InvalidInputError if it cannot be written, or would replace a file that no run wrote
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

  /** @throws RunFileError */
  add(row: Row): void {
    if (this.#count === 0) this.#text = this.#mark + this.#format.formatHeader();
    this.#count += 1;
    this.#text += this.#format.formatRow(row);
    if (this.#text.length > chunkLength) this.#flush();
  }

  /**
   * Moves the file into place, or leaves no file there.
   *
   * @throws RunFileError
   * @throws InvalidInputError if another file was put there meanwhile: neither is replaced
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

  /** Discards the file, and leaves alone what is in its place. */
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
 * Finds the rows that are worth another try: in the input when the run ends, as the journal lists them; during the
 * run if the input is a stream, which cannot be read again.
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

  /** @throws RunFileError */
  onTurn(): void {
    for (const row of this.#toAdd) this.#file.add(row);
    this.#toAdd = [];
  }

  /**
   * Completes the file.
   *
   * @throws RunFileError
   * @throws InvalidInputError if the input cannot be read again: the file is not written
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
