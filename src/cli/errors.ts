import { UserInfoError, type UserInfoErrorOptions } from '../core/contract/errors.js';

/** The error of a call, with what only the command line knows. */
export class ExplainedError extends UserInfoError {
  readonly code: string;
  readonly reason: unknown;
  readonly resultCode: number | null;

  /** Has the message, the hint and the commands of `cause` where it gets none of its own. */
  constructor(
    cause: UserInfoError,
    {
      message = cause.message,
      hint = cause.hint,
      commands = cause.commands,
    }: Pick<UserInfoErrorOptions, 'hint' | 'commands'> & { readonly message?: string },
  ) {
    super(message, { hint, commands, cause });
    this.code = cause.code;
    const { reason, resultCode } = cause as { reason?: unknown; resultCode?: number };
    this.reason = reason;
    this.resultCode = cause.code === 'REJECTED' ? (resultCode ?? null) : null;
  }
}

/** A check failed. Its result is on stdout already. */
export class CheckFailedError extends UserInfoError {
  readonly code: string;

  /** `code` decides the exit status. */
  constructor(message: string, options: UserInfoErrorOptions = {}, code = 'CHECK_FAILED') {
    super(message, options);
    this.code = code;
  }
}
