import { type ResultCode, resultCode } from './result-codes.js';

/** What every error of this package can say beside its message. */
export interface UserInfoErrorOptions {
  /** What the user can do next: one sentence, shown under the message. */
  readonly hint?: string;
  readonly cause?: unknown;
}

/**
 * The base of every error that this package throws on purpose. `message` is one line that says what was
 * wrong and where; it never holds a secret or a person's data.
 */
export abstract class UserInfoError extends Error {
  /** Stable, for programs: the same string in every version, such as `INVALID_INPUT`. */
  abstract readonly code: string;
  readonly hint: string | undefined;

  constructor(message: string, options: UserInfoErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.hint = options.hint;
  }
}

/** What was given breaks a rule of the spec (§4, §8). In the client: nothing was sent. */
export class InvalidInputError extends UserInfoError {
  readonly code = 'INVALID_INPUT';
  /** What a service that is sent the same answers with. */
  readonly resultCode: ResultCode;

  constructor(message: string, options: UserInfoErrorOptions & { readonly resultCode?: ResultCode } = {}) {
    super(message, options);
    this.resultCode = options.resultCode ?? resultCode.malformedParameter;
  }
}
