import { StoreUnavailableError } from '../../database/errors.js';
import { InvalidInputError, UserInfoError } from '../../protocol/errors.js';
import { messageOf, type ResultCode, resultCode } from '../../protocol/result-codes.js';
import type { RejectedSignature } from '../rejection.js';

/** A request that is answered with a code of the table for what it asks, not for how it is written. */
export class RefusedError extends UserInfoError {
  readonly code = 'REFUSED';
  readonly resultCode: ResultCode;

  constructor(resultCode: ResultCode) {
    super(messageOf(resultCode));
    this.resultCode = resultCode;
  }
}

/** A request with a signature that the service computes otherwise. */
export class WrongSignatureError extends RefusedError {
  /** For the operator alone. To explain it takes its time: the answer comes first. */
  readonly rejected: RejectedSignature;

  constructor(resultCode: ResultCode, rejected: RejectedSignature) {
    super(resultCode);
    this.rejected = rejected;
  }
}

/** More requests came than `--rate-limit` allows: of an app, or refused ones of an address. */
export class TooManyRequestsError extends RefusedError {
  /** In whole seconds. */
  readonly retryAfter: number;

  constructor(retryAfter: number) {
    super(resultCode.tooManyRequests);
    this.retryAfter = retryAfter;
  }
}

/** The code and `msg` that a failure is answered with: 50001, and nothing more, for one that nobody meant. */
export function refusalOf(error: unknown): { readonly code: ResultCode; readonly msg: string | undefined } {
  if (error instanceof InvalidInputError || error instanceof RefusedError) {
    return { code: error.resultCode, msg: error.message };
  }
  const code = error instanceof StoreUnavailableError ? error.resultCode : resultCode.internal;
  return { code, msg: undefined };
}
