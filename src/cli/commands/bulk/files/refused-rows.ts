import { InvalidInputError, quoteName } from '../../../../core/contract/errors.js';
import { type RowOperation, userOf } from '../operations.js';
import type { FileRow } from '../source/rows.js';
import { AppendFile } from './append-file.js';
import { type FailedPlace, failedFile } from './failed-file.js';
import { formatOutcome, formatResult } from './result-line.js';

/** Size of one write, in characters. */
const chunkLength = 65_536;

/**
 * Where a check writes the rows that cannot be sent, each with the reason; `null` if not wanted.
 */
export interface RefusedPlaces {
  /** A results file, with lines of these rows alone. */
  readonly results: string | null;
  readonly failed: FailedPlace | null;
}

/**
 * @throws InvalidInputError if there is a file for the results of a check: without a journal,
 * nothing says whose it is
 */
export function requireNoResults(path: string): void {
  const file = AppendFile.find(path);
  if (file === null) return;
  file.close();
  throw new InvalidInputError(`${quoteName(path)} already exists`, {
    hint: 'Move it away, or name another file with --results.',
  });
}

/** Writes down the rows that a check refuses. Without such a row, there are no files. */
export function recordRefused(
  operation: RowOperation,
  places: RefusedPlaces,
  inputIsUtf8: boolean,
) {
  const failed = places.failed && failedFile(places.failed, inputIsUtf8);
  let results: AppendFile | null = null;
  let lines = '';
  let count = 0;
  let isComplete = false;

  function flush(): void {
    if (places.results === null || lines === '') return;
    results ??= AppendFile.create(places.results);
    results.append(lines);
    lines = '';
  }

  return {
    /**
     * @throws RunFileError
     * @throws InvalidInputError if a file cannot be created
     */
    add(row: FileRow, error: InvalidInputError): void {
      count += 1;
      failed?.add(row, error.message);
      const outcome = formatOutcome({ outcome: 'invalid', row, attempts: 0, error }, false);
      lines += `${formatResult(row.line, operation.userKey, userOf(row, operation), outcome)}\n`;
      if (lines.length > chunkLength) flush();
    },
    /** Puts the files into place. As `add`. */
    finish(): void {
      // A file of an earlier run stays.
      if (count === 0) return;
      failed?.finish();
      flush();
      results?.syncWithName();
      isComplete = true;
    },
    /** Closes the files; what is not complete is removed. */
    close(): void {
      failed?.close();
      if (!isComplete) results?.remove();
      results?.close();
    },
  };
}
