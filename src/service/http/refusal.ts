import { StoreUnavailableError } from '../../database/errors.js';
import { InvalidInputError, UserInfoError } from '../../protocol/errors.js';
import { messageOf, type ResultCode, resultCode } from '../../protocol/result-codes.js';
import type { RejectedSignature } from '../rejection.js';

/** A valid request that is refused with a code of the table. */
export class RefusedError extends UserInfoError {
  readonly code = 'REFUSED';
  readonly resultCode: ResultCode;

  constructor(resultCode: ResultCode) {
    super(messageOf(resultCode));
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

/** The code and `msg` of a failure: 50001 without details for an unexpected error. */
export function refusalOf(error: unknown): { readonly code: ResultCode; readonly msg: string | undefined } {
  if (error instanceof InvalidInputError || error instanceof RefusedError) {
    return { code: error.resultCode, msg: error.message };
  }
  const code = error instanceof StoreUnavailableError ? error.resultCode : resultCode.internal;
  return { code, msg: undefined };
}
