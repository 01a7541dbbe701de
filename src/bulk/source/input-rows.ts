import { decompress } from './decompress.js';
import type { Input } from './input.js';
import type { FileRow, RowFormat } from './row-format.js';
import { type TextOptions, toUtf8 } from './utf8-text.js';
import { watchBytes } from './watch-bytes.js';

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
