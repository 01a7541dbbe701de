import type { FlatValue } from '../../protocol/user-info.js';
import { decompress, type Input, watchBytes } from './input.js';
import type { LineBlock } from './lines.js';
import { type TextOptions, toUtf8 } from './text.js';

/** A row of a file, not parsed yet. */
export interface FileRow {
  /** The line where it begins, counted from 1, including the header. */
  readonly line: number;
  /** Approximate memory, in bytes. */
  readonly size: number;
}

/** A format of rows. */
export interface RowFormat<Row extends FileRow> {
  /**
   * Reads rows in batches.
   *
   * @throws InvalidInputError that names the line
   */
  read(blocks: AsyncIterable<LineBlock>): AsyncGenerator<readonly Row[]>;
  /**
   * The values of a row by name, in their order.
   *
   * @throws InvalidInputError
   */
  fields(row: Row): Map<string, FlatValue>;
  /** What a file has before its first row. Call it after rows were read. */
  formatHeader(): string;
  /** The row as text that can be read again. */
  formatRow(row: Row): string;
}

/** An input, and the format of its rows. */
export interface InputRowsOptions<Row extends FileRow> {
  readonly input: Input;
  readonly text: TextOptions;
  readonly format: RowFormat<Row>;
}

/** The rows of an input, and how much of it was read. */
export class InputRows<Row extends FileRow> {
  readonly #options: InputRowsOptions<Row>;
  #bytesRead = 0;

  constructor(options: InputRowsOptions<Row>) {
    this.#options = options;
  }

  /** Bytes of the input, each time that it was read. */
  get bytesRead(): number {
    return this.#bytesRead;
  }

  /** Whether they can be read again. */
  get canBeReadAgain(): boolean {
    return this.#options.input.size !== null;
  }

  /**
   * All rows, in batches.
   *
   * @throws InvalidInputError that names the line
   */
  read(): AsyncGenerator<readonly Row[]> {
    const { input, text, format } = this.#options;
    const bytes = watchBytes(input.read(), (chunk) => {
      this.#bytesRead += chunk.length;
    });
    return rowsIn(bytes, format, text);
  }
}

/**
 * The rows of the bytes of a file, in batches.
 *
 * @throws InvalidInputError that names the line
 */
export function rowsIn<Row extends FileRow>(
  bytes: AsyncIterable<Buffer>,
  format: RowFormat<Row>,
  text: TextOptions,
): AsyncGenerator<readonly Row[]> {
  return format.read(toUtf8(decompress(bytes), text));
}
