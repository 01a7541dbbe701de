import { UserInfoError } from '../../protocol/errors.js';

/** A run came to its end, or was stopped, with rows that are not ok. */
export class FailedRowsError extends UserInfoError {
  readonly code = 'FAILED_ROWS';
}
