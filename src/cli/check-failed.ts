import { UserInfoError } from '../protocol/errors.js';

/** What was checked is not right. What was found is on stdout already. */
export class CheckFailedError extends UserInfoError {
  readonly code = 'CHECK_FAILED';
}
