import { InvalidInputError, quoteName, UserInfoError } from '../../../../core/contract/errors.js';
import { describeSystemError, isSystemError } from '../../../../core/support/errors.js';

/** A file of a run can no longer be written, as when the disk is full. Its contents are intact. */
export class RunFileError extends UserInfoError {
  readonly code = 'RUN_FILE';
}

/** A file of a run, and the option that sets its path: the journal is beside the results. */
export interface OptionPath {
  /** As the user wrote it, for messages. */
  readonly path: string;
  readonly option: '--results' | '--failed';
}

export function changedEarly(path: string): InvalidInputError {
  return new InvalidInputError(
    `${quoteName(path)} was changed by another program after it was checked`,
    {
      hint: 'It is left as it is. Look at it, then run the same command again.',
    },
  );
}

export function notRegular(path: string): InvalidInputError {
  return new InvalidInputError(`${quoteName(path)} already exists, and is not a regular file`, {
    hint: 'Name a path where there is nothing yet.',
  });
}

/** Another user owns a file. */
export function ofAnother({ path, option }: OptionPath): InvalidInputError {
  return new InvalidInputError(
    `${quoteName(path)} belongs to another user, who could read what is written`,
    {
      hint: `Move it away, name a file in another folder with ${option}, or run the command as that user.`,
    },
  );
}

/** A file cannot be written, before the first row. */
export function unwritable({ path, option }: OptionPath, error: unknown): InvalidInputError {
  return new InvalidInputError(
    `${quoteName(path)} cannot be written: ${describeSystemError(error)}`,
    {
      hint: isSystemError(error, 'ENOENT')
        ? 'Create its folder first.'
        : `Name a file in another folder with ${option}.`,
      cause: error,
    },
  );
}

/** A file can no longer be written, after the first row. */
export function writeFailed(path: string, error: unknown): RunFileError {
  return new RunFileError(`${quoteName(path)} cannot be written: ${describeSystemError(error)}`, {
    hint: 'Correct that, then run the same command with --resume.',
    cause: error,
  });
}
