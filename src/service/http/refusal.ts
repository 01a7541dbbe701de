import { InvalidInputError, UserInfoError } from '../../protocol/errors.js';
import { describeResultCode, type ResultCode, resultCode } from '../../protocol/result-codes.js';
import { StoreUnavailableError } from '../errors.js';
import type { SignatureRejectedEvent } from '../log/log.js';

/** A request that is answered with a code of the table for what it asks, not for how it is written. */
export class RefusedError extends UserInfoError {
  readonly code = 'REFUSED';
  readonly resultCode: ResultCode;

  constructor(resultCode: ResultCode) {
    super(describeResultCode(resultCode)?.msg ?? `refused with ${resultCode}`);
    this.resultCode = resultCode;
  }
}

/** A request with a signature that the service computes otherwise. */
export class WrongSignatureError extends RefusedError {
  /** Tells how it computes the signature, for the log alone. That takes its time: the answer comes first. */
  readonly explain: () => SignatureRejectedEvent;

  constructor(resultCode: ResultCode, explain: () => SignatureRejectedEvent) {
    super(resultCode);
    this.explain = explain;
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
