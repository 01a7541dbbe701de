import { renameSync, rmSync } from 'node:fs';
import type { FileRow, RowFormat } from '../source/row-format.js';
import { AppendFile } from './append-file.js';

/** How much is written at once, in characters. */
const chunkLength = 65_536;

const byteOrderMark = '\ufeff';

/**
 * The rows that are worth trying again, in the input's own shape, so that the file is the input of the next run. It
 * takes its place when it is whole; where there is no such row, there is no file.
 */
export class FailedFile<Row extends FileRow> {
  readonly #path: string;
  readonly #draft: AppendFile;
  readonly #format: RowFormat<Row>;
  readonly #mark: string;
  #text = '';
  #count = 0;

  /**
   * It is written as UTF-8; where the input is not, a byte-order mark says so, which beats what the next run is told.
   * Throws an InvalidInputError where it cannot be written.
   */
  constructor(path: string, format: RowFormat<Row>, inputIsUtf8: boolean) {
    this.#path = path;
    this.#draft = new AppendFile(`${path}.new`, 0);
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

  /** Puts it into its place, or leaves nothing there. Throws a RunFileError. */
  finish(): void {
    try {
      this.#flush();
    } finally {
      this.#draft.close();
    }
    if (this.#count > 0) renameSync(this.#draft.path, this.#path);
    else {
      rmSync(this.#draft.path);
      rmSync(this.#path, { force: true });
    }
  }

  #flush(): void {
    this.#draft.append(this.#text);
    this.#text = '';
  }
}
