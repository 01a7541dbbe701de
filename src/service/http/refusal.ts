import { UserInfoError } from '../../core/contract/errors.js';
import { defaultMsg, type ResultCode } from '../../core/contract/result-codes.js';
import type { RejectedSignature } from '../rejection.js';

interface RefusalDetails {
  /** @default that of the code */
  readonly msg?: string | undefined;
  /** When the caller may try again, in whole seconds. */
  readonly retryAfter?: number;
  /**
   * A wrong signature. For the operator only; it is explained after the answer, because that takes
   * time.
   */
  readonly rejected?: RejectedSignature;
}

/** A valid request that is refused with a code of the table. */
export class RefusedError extends UserInfoError {
  readonly code = 'REFUSED';
  readonly resultCode: ResultCode;
  readonly details: RefusalDetails;

  constructor(resultCode: ResultCode, details: RefusalDetails = {}) {
    super(details.msg ?? defaultMsg(resultCode));
    this.resultCode = resultCode;
    this.details = details;
  }
}
