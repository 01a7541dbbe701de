import type { FlatValue } from '../../protocol/user-info.js';
import { decompress, type Input, watchBytes } from './input.js';
import type { LineBlock } from './lines.js';
import { type TextOptions, toUtf8 } from './text.js';

/** A row of a file, not looked into yet. */
export interface FileRow {
  /** Where it begins, counted from 1, the header included. */
  readonly line: number;
  /** About how much memory it takes, in bytes. */
  readonly size: number;
  /** The value that names its user, once that is known. */
  user?: string;
}

/** How rows are written in a file. */
export interface RowFormat<Row extends FileRow> {
  /** Rows in batches, as they are read. Throws an InvalidInputError that names the line. */
  read(blocks: AsyncIterable<LineBlock>): AsyncGenerator<readonly Row[]>;
  /** The values of a row by name, in the order they were written. Throws an InvalidInputError. */
  fields(row: Row): Map<string, FlatValue>;
  /** What stands before the first row of such a file. Called once rows were read. */
  formatHeader(): string;
  /** The row as it can be read again. */
  formatRow(row: Row): string;
}

/** Rows, and how they are written. */
export interface InputRowsOptions<Row extends FileRow> {
  readonly input: Input;
  readonly text: TextOptions;
  readonly format: RowFormat<Row>;
}

/** The rows of an input, and how far they have been read. */
export class InputRows<Row extends FileRow> {
  readonly #options: InputRowsOptions<Row>;
  #bytesRead = 0;

  constructor(options: InputRowsOptions<Row>) {
    this.#options = options;
  }

  /** Of the input, each time that it was read. */
  get bytesRead(): number {
    return this.#bytesRead;
  }

  /** Whether they can be read again. */
  get canBeReadAgain(): boolean {
    return this.#options.input.size !== null;
  }

  /** All of them, in batches. Throws an InvalidInputError that names the line. */
  read(): AsyncGenerator<readonly Row[]> {
    const { input, text, format } = this.#options;
    const bytes = watchBytes(input.read(), (chunk) => {
      this.#bytesRead += chunk.length;
    });
    return rowsIn(bytes, format, text);
  }
}

/** The rows of bytes as they are in a file, in batches. Throws an InvalidInputError that names the line. */
export function rowsIn<Row extends FileRow>(
  bytes: AsyncIterable<Buffer>,
  format: RowFormat<Row>,
  text: TextOptions,
): AsyncGenerator<readonly Row[]> {
  return format.read(toUtf8(decompress(bytes), text));
}
