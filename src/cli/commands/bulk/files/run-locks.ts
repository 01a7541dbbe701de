import { InvalidInputError } from '../../../../core/contract/errors.js';
import { isSystemError, UnsuitableFileError } from '../../../../core/support/errors.js';
import { FileLockedError, lockFile, silentLocks } from '../../../../core/support/file-lock.js';
import { type OptionPath, unwritable } from './file-errors.js';
import { lockBeside, realFilePath } from './real-path.js';

/**
 * Locks files, which need not exist, against other runs until the returned function is called.
 * `takeOver`: the user says that a run which is not visible from here, as on another machine or in
 * another container, has ended.
 *
 * @throws InvalidInputError if another run uses one of them
 */
export async function lockFiles(
  paths: Readonly<Partial<Record<'journal' | 'results' | 'failed', string | null | undefined>>>,
  takeOver = false,
): Promise<() => void> {
  const held: (() => void)[] = [];
  const release = () => {
    for (const unlock of held) unlock();
  };
  let current: OptionPath = { path: '', option: '--results' };
  const lockOfNext = (file: OptionPath) => {
    current = file;
    return lockBeside(realFilePath(file));
  };
  try {
    const files = Object.entries(paths).flatMap(([name, path]): OptionPath[] =>
      path ? [{ path, option: name === 'failed' ? '--failed' : '--results' }] : [],
    );
    const silent = takeOver ? await silentLocks(files.map(lockOfNext)) : new Set<string>();
    for (const file of files) held.push(await lockFile(lockOfNext(file), silent));
    return release;
  } catch (error) {
    release();
    if (error instanceof FileLockedError) throw inUse(error);
    if (error instanceof UnsuitableFileError) {
      throw new InvalidInputError(error.message, {
        hint: 'Look at it, and move it away.',
        cause: error,
      });
    }
    throw isSystemError(error) ? unwritable(current, error) : error;
  }
}

function inUse({ message, isRunning }: FileLockedError): InvalidInputError {
  const wait = 'Wait until it ends, or stop it and add --resume.';
  if (isRunning)
    return new InvalidInputError(`another run uses this file: ${message}`, { hint: wait });
  return new InvalidInputError(
    `another run may use this file: ${message}, which cannot be seen from here`,
    {
      hint: `${wait} If it has ended, as when its container was killed, add --take-over.`,
    },
  );
}
