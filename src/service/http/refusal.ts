import { UserInfoError } from '../../protocol/errors.js';
import { messageOf, type ResultCode, resultCode } from '../../protocol/result-codes.js';
import type { RejectedSignature } from '../rejection.js';

/** A valid request that is refused with a code of the table. */
export class RefusedError extends UserInfoError {
  readonly code = 'REFUSED';
  readonly resultCode: ResultCode;

  constructor(resultCode: ResultCode, msg: string = messageOf(resultCode)) {
    super(msg);
    this.resultCode = resultCode;
  }
}

/** A request whose signature differs from the expected one. */
export class WrongSignatureError extends RefusedError {
  /** For the operator only. It is explained after the answer, because that takes time. */
  readonly rejected: RejectedSignature;

  constructor(resultCode: ResultCode, rejected: RejectedSignature) {
    super(resultCode);
    this.rejected = rejected;
  }
}

/** More requests than `--rate-limit` allows: of an app, or refused ones of an address. */
export class TooManyRequestsError extends RefusedError {
  /** In whole seconds. */
  readonly retryAfter: number;

  constructor(retryAfter: number) {
    super(resultCode.tooManyRequests);
    this.retryAfter = retryAfter;
  }
}
