import { closeSync, openSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Conf from 'conf';
import { isSystemError } from '../support/errors.js';
import { jsonValueOf } from '../support/json.js';
import { quoteWhereNeeded } from '../support/shell.js';
import { ProfileFileError } from './errors.js';
import { parseProfileText, readProfileText } from './profile-file.js';
import { formatProfileList, type ProfileList } from './profile-json.js';

/**
 * Maximum time to wait for other commands that change the file, in milliseconds. Each of them needs
 * a few.
 */
const lockMs = 5_000;

/**
 * Changes the profile file.
 *
 * While a file `….lock` is there, another command is at it. From its creation to its removal
 * nothing is awaited: only a kill leaves one behind.
 *
 * @returns the profiles after the change
 * @throws ProfileFileError, what `change` throws, or a system error; the file is then unchanged
 */
export async function changeProfileFile(
  path: string,
  change: (list: ProfileList) => ProfileList,
  waitMs = lockMs,
): Promise<ProfileList> {
  const isThere = statSync(path, { throwIfNoEntry: false }) !== undefined;
  const lock = `${isThere ? realpathSync(path) : path}.lock`;
  await takeLock(lock, waitMs);
  try {
    const stored = readProfileText(path) ?? '{}';
    const list = change(parseProfileText(stored, path, false));
    replaceFile(path, formatProfileList(list), stored);
    return list;
  } finally {
    rmSync(lock, { force: true });
  }
}

/**
 * Replaces the file through conf, which does it atomically: a new file of mode 0600 and of the same
 * owner, synced before it takes the place of the old one. A symbolic link stays. `stored` is the
 * JSON of the old file.
 *
 * @throws ProfileFileError if the disk has too little room; the file then has its old content
 */
function replaceFile(path: string, content: Record<string, unknown>, stored: string): void {
  const conf = new Conf({
    cwd: dirname(path),
    configName: basename(path),
    fileExtension: '',
    configFileMode: 0o600,
    accessPropertiesByDotNotation: false,
    serialize: (value) => `${JSON.stringify(value, null, 2)}\n`,
    // conf reads the old file, and takes every file for UTF-8 without a byte-order mark.
    deserialize: () => JSON.parse(stored),
  });
  conf.store = content;
  if (jsonValueOf(readFileSync(path, 'utf8')) !== undefined) return;
  // A disk with little room took a part of it. The old text had room.
  conf.store = JSON.parse(stored);
  const problem = 'cannot be written: only a part of it reached the disk';
  throw new ProfileFileError(`${path}: ${problem}`, { hint: 'Free disk space and try again.' });
}

/** Creates the lock file; `waitMs` is how long another may be there. */
async function takeLock(path: string, waitMs: number): Promise<void> {
  for (const began = performance.now(); ; ) {
    try {
      return closeSync(openSync(path, 'wx', 0o600));
    } catch (cause) {
      if (!isSystemError(cause, 'EEXIST')) throw cause;
      if (performance.now() - began >= waitMs) {
        throw new ProfileFileError(
          `another userinfo command changes the profiles: ${path} is there`,
          {
            hint: 'Try again. If none runs, one was killed: remove it.',
            commands: [`rm ${quoteWhereNeeded(path)}`],
          },
        );
      }
    }
    await sleep(5 + 20 * Math.random());
  }
}
