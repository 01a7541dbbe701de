import { UserInfoError, type UserInfoErrorOptions } from '../support/errors.js';
import { type ResultCode, resultCode } from './result-codes.js';
import { escapeUnsafe } from './unsafe-text.js';

export { UserInfoError, type UserInfoErrorOptions };

/** Kinds of malformed input for which a platform may have a result code of its own. */
export type RefusalDetail = 'unknownParameter' | 'scopeNotAccepted';

/**
 * The input breaks a rule of the spec (§4, §8), or an argument is invalid: nothing was sent.
 *
 * @example
 * if (error instanceof InvalidInputError) response.status(400).json({ message: error.message });
 */
export class InvalidInputError extends UserInfoError {
  /** @internal */
  static override readonly name: string = 'InvalidInputError';
  static readonly code = 'INVALID_INPUT';
  readonly code = 'INVALID_INPUT';
  /** The code with which a service refuses the same input. */
  readonly resultCode: ResultCode;
  /** @internal What a platform may have a code of its own for. */
  readonly detail: RefusalDetail | undefined;

  constructor(
    message: string,
    options: UserInfoErrorOptions & {
      readonly resultCode?: ResultCode;
      /** @internal */
      readonly detail?: RefusalDetail;
    } = {},
  ) {
    super(message, options);
    this.detail = options.detail;
    this.resultCode = options.resultCode ?? resultCode.malformedParameter;
  }
}

/** Maximum length of a name in a message, in UTF-16 code units. */
const maxNameLength = 60;

/** A name in quotes for a message: control characters escaped, long names truncated. */
export function quoteName(name: string): string {
  const shown = [name.slice(0, maxNameLength)];
  if (name.length > maxNameLength) shown.push('…');
  return escapeUnsafe(JSON.stringify(shown.join('')));
}
