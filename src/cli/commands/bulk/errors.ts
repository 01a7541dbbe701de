import { InvalidInputError, quoteName, UserInfoError } from '../../../core/contract/errors.js';

/**
 * Invalid input of a run. Its hint ends with what to run: the same command with these options,
 * which the command line completes.
 */
export class RunInputError extends InvalidInputError {
  readonly options: readonly string[];

  constructor(message: string, hint: string, ...options: string[]) {
    super(message, { hint });
    this.options = options;
  }
}

/** A run ended or was stopped, and has rows that are not ok. */
export class FailedRowsError extends UserInfoError {
  readonly code = 'FAILED_ROWS';
}

/** The error of an input without rows. */
export function noRows(name: string): InvalidInputError {
  return new InvalidInputError(`${quoteName(name)} has no row`, {
    hint: 'A CSV file needs a header line and at least one row.',
  });
}
