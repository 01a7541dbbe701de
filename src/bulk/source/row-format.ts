import type { FlatValue } from '../../protocol/user-info.js';
import type { LineBlock } from './lines.js';

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
