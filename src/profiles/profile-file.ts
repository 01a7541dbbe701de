import { lstatSync, readlinkSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { InvalidInputError } from '../protocol/errors.js';
import { describeSystemError, isSystemError, UnsuitableFileError } from '../support/errors.js';
import { readInputFile } from '../support/input-file.js';
import { quoteWhereNeeded } from '../support/shell.js';
import { ProfileError, ProfileFileError } from './errors.js';
import { noProfiles, type ProfileFileJson, type ProfileList, parseProfileList } from './profile-json.js';

const howToRepair = 'Correct it by hand, or move it away and add the profiles again. It was not changed.';

/** The format version that conf writes into the file. Increase the major number with every change. */
export const formatVersion = '2.0.0';

/**
 * Reads and validates the file without conf, which takes 100 ms of CPU to load, longer than a whole read. A
 * missing file has no profiles.
 *
 * @throws ProfileFileError
 */
export async function readProfileFile(path: string): Promise<ProfileList> {
  const text = readProfileText(path);
  return text === null ? noProfiles : parseProfileText(text, path);
}

/**
 * The text of the file; `null` for a missing file.
 *
 * @throws ProfileFileError
 */
export function readProfileText(path: string): string | null {
  try {
    // A small file: loading node:fs/promises would take longer.
    return new TextDecoder('utf-8', { fatal: true }).decode(readInputFile(path));
  } catch (cause) {
    if (isSystemError(cause, 'ENOENT')) {
      refuseDanglingLink(path);
      return null;
    }
    if (!isSystemError(cause) && !(cause instanceof UnsuitableFileError))
      throw new ProfileFileError(`${path}: is not UTF-8 text`, { hint: howToRepair });
    const isDenied = isSystemError(cause, 'EACCES');
    throw new ProfileFileError(`${path}: cannot be read: ${describeSystemError(cause)}`, {
      hint: isDenied ? 'As its owner, allow it:' : 'Set USERINFO_CONFIG_DIR to use another folder.',
      commands: isDenied ? [`chmod 600 ${quoteWhereNeeded(path)}`] : [],
      cause,
    });
  }
}

/**
 * A link whose target is missing says that there are profiles, as on a disk that is not mounted. Creating the target
 * would put secrets in another place, and hide the profiles.
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
 * Validates the text of the file and returns its profiles. `beforeWriting` refuses duplicate keys too: JSON.parse
 * keeps the last one, so writing would lose the others.
 *
 * @throws ProfileFileError
 */
export async function parseProfileText(
  text: string,
  path: string,
  { beforeWriting = false } = {},
): Promise<ProfileList> {
  const json = parseJson(text);
  if (json === undefined || beforeWriting) await refuseFaultyJson(text, path);
  refuseNewer(json, path);
  try {
    return parseProfileList(json);
  } catch (error) {
    if (!(error instanceof InvalidInputError || error instanceof ProfileError)) throw error;
    const { message, hint = howToRepair, commands } = error;
    throw new ProfileFileError(`${path}: ${message}`, { hint, commands });
  }
}

/** `undefined` for invalid JSON. V8's message is dropped: it quotes the text, which may contain a secret. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function refuseFaultyJson(text: string, path: string): Promise<void> {
  const { findJsonFault } = await import('../support/json-fault.js');
  const fault = findJsonFault(text);
  if (fault === null) return;
  const problem = fault.doubled ? 'duplicate key' : 'invalid JSON';
  throw new ProfileFileError(`${path}: ${problem} at line ${fault.line}, column ${fault.column}`, {
    hint: howToRepair,
  });
}

/** Refuses a file of a newer format: conf would treat it as its own version, and write that into it. */
function refuseNewer(json: unknown, path: string): void {
  const version = (json as ProfileFileJson | null)?.__internal__?.migrations?.version;
  if (version === undefined || Number.parseInt(String(version), 10) <= Number.parseInt(formatVersion, 10))
    return;
  throw new ProfileFileError(`${path}: was written by a newer userinfo`, { hint: 'Upgrade userinfo.' });
}
