import { UserInfoError, type UserInfoErrorOptions } from '../support/errors.js';
import { type ResultCode, resultCode } from './result-codes.js';

export { UserInfoError, type UserInfoErrorOptions };

/** What was given breaks a rule of the spec (§4, §8), or is not what an option or a function takes: nothing was sent. */
export class InvalidInputError extends UserInfoError {
  readonly code = 'INVALID_INPUT';
  /** What a service that is sent the same answers with. */
  readonly resultCode: ResultCode;

  constructor(message: string, options: UserInfoErrorOptions & { readonly resultCode?: ResultCode } = {}) {
    super(message, options);
    this.resultCode = options.resultCode ?? resultCode.malformedParameter;
  }
}
