import { chownSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type Conf from 'conf';
import type { FileLock } from '../support/file-lock.js';
import { ProfileFileError } from './errors.js';
import { formatProfileFile } from './profile-file.js';
import type { ProfileList } from './profile-list.js';

/**
 * Puts the profiles in the file's place, whole or not at all, mode 0600. To be called under the lock. Throws a
 * ProfileFileError, or what the file system throws.
 */
export type WriteProfileFile = (path: string, list: ProfileList, lock: Pick<FileLock, 'isHeld'>) => void;

/** Loads conf, which takes long: not to be done under the lock. */
export async function loadProfileFileWriter(): Promise<WriteProfileFile> {
  const { default: ConfFile } = await import('conf');
  return (path, list, lock) => writeProfileFile(ConfFile, path, list, lock);
}

/**
 * conf writes a file beside it first: what is under conf takes no notice when a full disk cuts a write short, and
 * would put the half in place.
 */
function writeProfileFile(
  ConfFile: typeof Conf,
  path: string,
  list: ProfileList,
  lock: Pick<FileLock, 'isHeld'>,
): void {
  const staged = `${path}.new`;
  removeLeftOvers(staged);
  const content = formatProfileFile(list);
  try {
    openConf(ConfFile, staged).store = content;
    if (readFileSync(staged, 'utf8') !== serialize(content)) {
      throw notWritten(path, 'the disk took only a part of it', 'Make room on the disk and try again.');
    }
    if (!lock.isHeld())
      throw notWritten(path, 'it took so long that another userinfo went first', 'Try again.');
    keepOwner(path, staged);
    renameSync(staged, path);
  } finally {
    rmSync(staged, { force: true });
  }
}

function openConf(ConfFile: typeof Conf, path: string): Conf<Record<string, unknown>> {
  return new ConfFile({
    cwd: dirname(path),
    configName: basename(path),
    fileExtension: '',
    configFileMode: 0o600,
    accessPropertiesByDotNotation: false,
    clearInvalidConfig: false,
    serialize,
  });
}

function serialize(content: unknown): string {
  return `${JSON.stringify(content, null, 2)}\n`;
}

/** What a process that died while it held the lock left lying here, secrets and all. */
function removeLeftOvers(staged: string): void {
  const folder = dirname(staged);
  for (const name of readdirSync(folder)) {
    if (name === basename(staged) || name.startsWith(`${basename(staged)}.tmp-`)) rmSync(join(folder, name));
  }
}

/** Under sudo the file would otherwise become root's, and out of its owner's reach. */
function keepOwner(path: string, staged: string): void {
  const before = statSync(path, { throwIfNoEntry: false });
  const now = statSync(staged);
  if (before && (before.uid !== now.uid || before.gid !== now.gid)) {
    chownSync(staged, before.uid, before.gid);
  }
}

function notWritten(path: string, problem: string, hint: string): ProfileFileError {
  return new ProfileFileError(`${path}: cannot be written: ${problem}`, { hint });
}
