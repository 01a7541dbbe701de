import type { FlatValue } from '../../../../core/contract/user-info.js';
import { decompress, type Input } from './input.js';
import type { LineBlock } from './lines.js';
import { type TextOptions, toUtf8 } from './text.js';

/** A row of a file, not parsed yet. */
export interface FileRow {
  /** The line where it begins, counted from 1, including the header. */
  readonly line: number;
  /** Approximate memory, in bytes. */
  readonly size: number;
  /**
   * Its values by name, in their order.
   *
   * @throws InvalidInputError
   */
  fields(): Map<string, FlatValue>;
  /** The part of a file of failed rows before its first row. */
  formatHeader(): string;
  /** The row in a file of failed rows, with the `reason` that it is there. */
  format(reason: string): string;
}

/** An input, and the format of its rows. */
export interface RowSource {
  readonly input: Input;
  readonly text: TextOptions;
  /**
   * Whether it is plain UTF-8, without a byte-order mark; known once a row is read. Programs that
   * wrote anything else may take UTF-8 without a mark for their own encoding.
   */
  isPlainUtf8(): boolean;
  /**
   * Reads rows in batches.
   *
   * @throws InvalidInputError that names the line
   */
  parse(blocks: AsyncIterable<LineBlock>): AsyncGenerator<readonly FileRow[]>;
}

/**
 * The rows of an input, in batches.
 *
 * @throws InvalidInputError that names the line
 */
export function readRows(source: RowSource): AsyncGenerator<readonly FileRow[]> {
  return source.parse(readLines(source, source.input.read()));
}

/** The lines of an input whose contents are `bytes`. */
export function readLines(
  { text }: Pick<RowSource, 'text'>,
  bytes: AsyncIterable<Buffer>,
): AsyncGenerator<LineBlock> {
  return toUtf8(decompress(bytes), text);
}

/**
 * The column, or the member of NDJSON, that says why a row is not ok, in the file of failed rows.
 * It is no value of the row: it is not sent when the file is the input of a run.
 */
export const reasonColumn = 'userinfo_reason';

/** What is said of an input that has it. */
export const reasonNote = `"${reasonColumn}" says why a row was not ok: it is not sent`;
