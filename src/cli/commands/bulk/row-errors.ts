import { InvalidInputError, quoteName, UserInfoError } from '../../../core/contract/errors.js';

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
