import type { FlatValue } from '../../protocol/user-info.js';
import { decompress, type Input } from './input.js';
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
  /** What a file has before its first row. */
  formatHeader(row: Row): string;
  /** The row as text that can be read again. */
  formatRow(row: Row): string;
}

/** An input, and the format of its rows. */
export interface RowSource<Row extends FileRow = FileRow> {
  readonly input: Input;
  readonly text: TextOptions;
  readonly format: RowFormat<Row>;
}

/**
 * The rows of an input, in batches.
 *
 * @throws InvalidInputError that names the line
 */
export function readRows<Row extends FileRow>(source: RowSource<Row>): AsyncGenerator<readonly Row[]> {
  return source.format.read(readText(source, source.input.read()));
}

/** The lines of an input whose contents are `bytes`. */
export function readText(
  { text }: Pick<RowSource, 'text'>,
  bytes: AsyncIterable<Buffer>,
): AsyncGenerator<LineBlock> {
  return toUtf8(decompress(bytes), text);
}
