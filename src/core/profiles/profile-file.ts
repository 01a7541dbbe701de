import { lstatSync, readlinkSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { InvalidInputError } from '../contract/errors.js';
import { decodeText, NotTextError } from '../support/byte-order-mark.js';
import { describeSystemError, isSystemError } from '../support/errors.js';
import { readInputFile } from '../support/input-file.js';
import { jsonFault } from '../support/json.js';
import { quoteWhereNeeded } from '../support/shell.js';
import { ProfileError, ProfileFileError } from './errors.js';
import { noProfiles, type ProfileList, parseProfileList } from './profile-json.js';

/** Advice for a damaged file. */
const howToRepair =
  'Correct it by hand, or move it away and add the profiles again. It was not changed.';

/**
 * Reads and validates the file without conf, which takes 100 ms of CPU to load, longer than a whole
 * read. A missing file has no profiles.
 *
 * @throws ProfileFileError
 */
export async function readProfileFile(path: string): Promise<ProfileList> {
  const text = readProfileText(path);
  if (text === null) return noProfiles;
  return parseProfileText(text, path, true);
}

/**
 * The text of the file; `null` for a missing file.
 *
 * @throws ProfileFileError
 */
export function readProfileText(path: string): string | null {
  try {
    // A small file: loading node:fs/promises would take longer.
    return decodeText(readInputFile(path));
  } catch (cause) {
    if (isSystemError(cause, 'ENOENT')) {
      refuseDanglingLink(path);
      return null;
    }
    if (cause instanceof NotTextError)
      throw new ProfileFileError(`${path}: ${cause.message}`, { hint: howToRepair, cause });
    const message = `${path}: cannot be read: ${describeSystemError(cause)}`;
    if (isSystemError(cause, 'EACCES')) {
      const commands = [`chmod 600 ${quoteWhereNeeded(path)}`];
      throw new ProfileFileError(message, { hint: 'As its owner, allow it:', commands, cause });
    }
    const hint = 'Set USERINFO_CONFIG_DIR to use another folder.';
    throw new ProfileFileError(message, { hint, cause });
  }
}

/**
 * A link whose target is missing says that there are profiles, as on a disk that is not mounted.
 * Creating the target would put secrets in another place, and hide the profiles.
 *
 * @throws ProfileFileError
 */
function refuseDanglingLink(path: string): void {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return;
  const target = resolve(dirname(path), readlinkSync(path));
  throw new ProfileFileError(`${path}: is a symbolic link to ${target}, which does not exist`, {
    hint: 'Mount the disk that holds it. To begin there without profiles:',
    commands: [`echo '{}' > ${quoteWhereNeeded(target)}`],
  });
}

/**
 * @throws ProfileFileError for a text that is not JSON, or has a key twice; for an invalid value,
 * as `parseProfileList`
 */
export function parseProfileText(text: string, path: string, isRead: boolean): ProfileList {
  // JSON.parse keeps the last of duplicate keys: writing would lose the others.
  const fault = jsonFault(text);
  if (fault !== null) throw new ProfileFileError(`${path}: ${fault}`, { hint: howToRepair });
  try {
    return parseProfileList(JSON.parse(text), isRead);
  } catch (error) {
    if (!(error instanceof InvalidInputError || error instanceof ProfileError)) throw error;
    const { message, hint = howToRepair, commands } = error;
    throw new ProfileFileError(`${path}: ${message}`, { hint, commands });
  }
}
