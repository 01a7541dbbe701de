/** What every error of this package can say beside its message. */
export interface UserInfoErrorOptions {
  /** What the user can do next: one sentence, shown under the message. */
  readonly hint?: string | undefined;
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
