import { InvalidInputError, quoteName } from '../../../../core/contract/errors.js';
import { type RowOperation, userOf } from '../operations.js';
import type { FileRow, RowSource } from '../source/rows.js';
import { AppendFile, chunkLength } from './append-file.js';
import { FailedFile, type ReplaceableFile } from './failed-file.js';
import { formatOutcome, formatResult } from './result-line.js';

/**
 * Where a check writes the rows that cannot be sent, each with the reason; `null` if not wanted.
 */
export interface RefusedFiles {
  /** A results file, with lines of these rows alone. */
  readonly results: string | null;
  readonly failed: ReplaceableFile | null;
}

/**
 * @throws InvalidInputError if there is a file for the results of a check: without a journal,
 * nothing says whose it is
 */
export function requireNoResults(path: string): void {
  const file = AppendFile.find({ path, option: '--results' });
  if (file === null) return;
  file.close();
  throw new InvalidInputError(`${quoteName(path)} already exists`, {
    hint: 'Move it away, or name another file with --results.',
  });
}

/** Writes down the rows that a check refuses. Without such a row, there are no files. */
export class RefusedRows {
  readonly #operation: RowOperation;
  readonly #resultsPath: string | null;
  readonly #failed: FailedFile | null;
  #results: AppendFile | null = null;
  /** Results lines that are not written yet. */
  #lines = '';
  #count = 0;
  #isComplete = false;

  constructor(
    operation: RowOperation,
    { results, failed }: RefusedFiles,
    source: Pick<RowSource, 'isPlainUtf8'>,
  ) {
    this.#operation = operation;
    this.#resultsPath = results;
    this.#failed = failed && new FailedFile(failed, source);
  }

  /**
   * @throws RunFileError
   * @throws InvalidInputError if a file cannot be created
   */
  add(row: FileRow, error: InvalidInputError): void {
    const operation = this.#operation;
    this.#count += 1;
    this.#failed?.add(row, error.message);
    const outcome = formatOutcome({ outcome: 'invalid', row, attempts: 0, error }, false);
    const user = userOf(row, operation);
    this.#lines += `${formatResult(row.line, operation.userKey, user, outcome)}\n`;
    if (this.#lines.length > chunkLength) this.#flush();
  }

  /**
   * Puts the files into place.
   *
   * @throws RunFileError
   * @throws InvalidInputError if a file cannot be created
   */
  finish(): void {
    // A file of an earlier run stays.
    if (this.#count === 0) return;
    this.#failed?.finish();
    this.#flush();
    this.#results?.syncWithName();
    this.#isComplete = true;
  }

  /** Closes the files; what is not complete is removed. */
  close(): void {
    this.#failed?.close();
    if (!this.#isComplete) this.#results?.remove();
    this.#results?.close();
  }

  #flush(): void {
    if (this.#resultsPath === null || this.#lines === '') return;
    this.#results ??= AppendFile.create({ path: this.#resultsPath, option: '--results' });
    this.#results.append(this.#lines);
    this.#lines = '';
  }
}
