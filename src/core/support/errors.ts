import { withoutUndefined } from './without-undefined.js';

/**
 * The codes by which Node names the faults of certificates: CERT_HAS_EXPIRED, INVALID_PURPOSE. It
 * calls newer ones UNSPECIFIED.
 */
export const certificateFault =
  /CERT|CRL|SIGNATURE|INVALID_(?:CA|PURPOSE)|PATH_LENGTH|HOSTNAME_MISMATCH|ISSUER|UNSPECIFIED/;

/** Details of an error in addition to its message. */
export interface UserInfoErrorOptions {
  /** The next step of the user, in a sentence or two, shown under the message. */
  readonly hint?: string | undefined;
  /** The commands that the hint is about, each as it is typed into a POSIX shell. */
  readonly commands?: readonly string[] | undefined;
  readonly cause?: unknown;
}

/**
 * The same symbol in every copy of this package, so that each recognizes the errors of the others.
 */
const brand: unique symbol = Symbol.for('userinfo-exchange.UserInfoError');

/**
 * The base of every error that this package throws on purpose. `message` is one line that says what
 * was wrong and where; it never contains a secret or personal data.
 *
 * `instanceof` also recognizes errors of another copy of this package, such as a bundled one.
 *
 * @hideconstructor
 * @example
 * if (error instanceof UserInfoError) console.error(error.message, error.hint);
 * if (error instanceof UserInfoError && error.retryable) await queue.retry(job);
 */
export abstract class UserInfoError extends Error {
  /** Stable across versions, such as `INVALID_INPUT`. */
  abstract readonly code: string;
  /** The next step of the user, in a sentence or two; undefined if there is none. */
  readonly hint: string | undefined;
  /** The commands that the hint is about, each as it is typed into a POSIX shell. */
  readonly commands: readonly string[];
  /** Whether the same call can be made again later, unchanged, without doing something twice. */
  readonly retryable: boolean = false;

  /**
   * @internal A literal in each exported class: minifiers rename classes, and loggers show the name
   * of either.
   */
  static override readonly name: string = 'UserInfoError';

  constructor(message: string, options: UserInfoErrorOptions = {}) {
    super(message, withoutUndefined({ cause: options.cause }));
    this.name = new.target.name;
    this.hint = options.hint;
    this.commands = options.commands ?? [];
  }

  /** For loggers that print JSON: the fields and `message`, without what `cause` holds. */
  toJSON(): Readonly<Record<string, unknown>> {
    return Object.fromEntries([['message', this.message], ...Object.entries(this)]);
  }

  /** @internal */
  get [brand](): true {
    return true;
  }
}

/**
 * The `instanceof` of this class and its subclasses. What tells the exported classes of two copies
 * apart is their `code`, which they also have as a static member; a class with exported subclasses
 * has the `codes` of these.
 */
function isInstance(
  this: { readonly prototype: object; readonly code?: string; readonly codes?: readonly string[] },
  value: unknown,
): boolean {
  if (typeof value !== 'object' || value === null || !(brand in value)) return false;
  if (this === UserInfoError || Object.prototype.isPrototypeOf.call(this.prototype, value))
    return true;
  const { code } = value as UserInfoError;
  if (Object.hasOwn(this, 'codes')) return this.codes?.includes(code) === true;
  return Object.hasOwn(this, 'code') && this.code === code;
}
Object.defineProperty(UserInfoError, Symbol.hasInstance, { value: isInstance });

const meanings: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or folder',
  EACCES: 'permission denied',
  EPERM: 'not permitted',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space is left on the disk',
  EDQUOT: 'the disk quota is exceeded',
  EFBIG: 'the file would be larger than allowed',
  ENOTDIR: 'a part of the path is a file, not a folder',
  EEXIST: 'a file is in the place of the folder',
  EISDIR: 'it is a folder',
  ELOOP: 'its symbolic links form a loop',
  EMFILE: 'too many files are open',
  ENXIO: 'it is a socket, or a device that is not there',
};

/** Gives an error that was created in a callback the stack of the caller of the function `above`. */
export function leadToCaller(error: UserInfoError, above: (...args: never[]) => unknown): void {
  Error.captureStackTrace?.(error, above);
}

/** @internal Whether this is an error of a system call; with `code`, whether it has that code. */
export function isSystemError(error: unknown, code?: string): error is NodeJS.ErrnoException {
  if (!(error instanceof Error && 'syscall' in error && 'code' in error)) return false;
  return code === undefined || error.code === code;
}

/** A path names what cannot be read as a file. The message follows "cannot be read:". */
export class UnsuitableFileError extends Error {}

/**
 * The cause of a system error, or of an UnsuitableFileError, in words that follow "cannot be
 * written:".
 */
export function describeSystemError(error: unknown): string {
  if (error instanceof UnsuitableFileError) return error.message;
  if (!isSystemError(error) || !error.code) return 'unknown error';
  return meanings[error.code] ?? error.code;
}
