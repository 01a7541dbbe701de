// Loaded by import(), as what reads profiles needs nothing of it.
import { randomUUID } from 'node:crypto';
import {
  chownSync,
  closeSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { platform } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { default as Conf, Options } from 'conf';
import type { FileLock } from '../support/file-lock.js';
import { ProfileFileError } from './errors.js';
import {
  formatProfileList,
  formatVersion,
  type ProfileFileJson,
  parseProfileText,
  readProfileText,
  toProfileList,
} from './profile-file.js';
import { fileSchema, rules } from './profile-json.js';
import type { ProfileList } from './profile-list.js';

/**
 * Changes the profile file through conf, which holds its schema, defaults, format version, migrations and mode, and
 * returns what is in it then. To be called under the lock.
 *
 * conf works on a copy beside the file, `<file>.new-…`, which takes the file's place as a whole: conf by itself writes
 * more than once (a migration, then the change), puts a file in place that a full disk cut short, writes in place
 * under snap, and overwrites what it has not validated when it migrates. What is done here around it: the file is
 * checked before, the copy after, the lock once more; the copy is synced before the rename, the folder after it.
 *
 * @throws ProfileFileError, what `change` throws, or what the file system throws; the file is then as it was
 */
export async function changeProfileFile(
  path: string,
  openConf: OpenConf,
  lock: Pick<FileLock, 'isHeld'>,
  change: (list: ProfileList) => ProfileList,
): Promise<ProfileList> {
  const text = readProfileText(path);
  if (text !== null) await parseProfileText(text, path, { beforeWriting: true });
  removeLeftOvers(path);
  const copy = `${path}.new-${randomUUID().slice(0, 8)}`;
  try {
    if (text !== null) writeFileSync(copy, text, { flag: 'wx', mode: 0o600 });
    const list = changeCopy(copy, path, openConf, change);
    if (!lock.isHeld()) {
      throw notWritten(path, 'it took so long that another userinfo went first', 'Try again.');
    }
    keepOwner(path, copy);
    sync(copy, 'r+');
    renameSync(copy, path);
    if (platform() !== 'win32') sync(dirname(path), 'r');
    return list;
  } finally {
    removeLeftOvers(path, copy);
  }
}

function changeCopy(
  copy: string,
  path: string,
  openConf: OpenConf,
  change: (list: ProfileList) => ProfileList,
): ProfileList {
  try {
    const conf = openConf(copy);
    const list = change(toProfileList(conf.store));
    conf.set(formatProfileList(list));
    void conf.store; // reads it again
    return list;
  } catch (error) {
    // V8's message is dropped: it quotes the text, which may be a secret.
    if (!(error instanceof SyntaxError)) throw error;
    throw notWritten(path, 'the disk took only a part of it', 'Make room on the disk and try again.');
  }
}

/** The store of conf at a path. */
export type OpenConf = (path: string) => Conf<ProfileFileJson>;

/** Loads conf, which takes 100 ms of CPU: not to be done under the lock. */
export async function loadConf(): Promise<OpenConf> {
  const { default: ConfStore } = await import('conf');
  const { properties, ...rootSchema } = fileSchema;
  const options: Options<ProfileFileJson> = {
    fileExtension: '',
    configFileMode: 0o600,
    defaults: { active: null, profiles: {} },
    schema: properties as never,
    rootSchema: rootSchema as never,
    // The schema is a constant, which a test holds to its own: conf would check it at every start.
    ajvOptions: {
      validateSchema: false,
      keywords: [{ keyword: 'rule', schemaType: 'string', validate: followsRule }],
    },
    projectVersion: formatVersion,
    // By the version that a change of the format brings. None is needed to get to the first.
    migrations: {},
    accessPropertiesByDotNotation: false,
    clearInvalidConfig: false,
    serialize: (content) => `${JSON.stringify(content, null, 2)}\n`,
  };
  return (path) => new ConfStore({ ...options, cwd: dirname(path), configName: basename(path) });
}

function followsRule(rule: keyof typeof rules, json: unknown): boolean {
  try {
    rules[rule](json as never, '');
    return true;
  } catch {
    return false;
  }
}

/** Removes the copies, and what conf writes them by: a process that was killed left them, secrets and all. */
function removeLeftOvers(path: string, copy = path): void {
  for (const name of readdirSync(dirname(path))) {
    const rest = name.startsWith(basename(copy)) ? name.slice(basename(path).length) : '';
    if (/^\.new(-[\da-f]{8})?(\.tmp-[\da-f]{16})?$/.test(rest))
      rmSync(join(dirname(path), name), { force: true });
  }
}

/** Under sudo the file would otherwise become root's, and out of its owner's reach. */
function keepOwner(path: string, copy: string): void {
  const before = statSync(path, { throwIfNoEntry: false });
  const now = statSync(copy);
  if (before && (before.uid !== now.uid || before.gid !== now.gid)) chownSync(copy, before.uid, before.gid);
}

function sync(path: string, flags: 'r' | 'r+'): void {
  const file = openSync(path, flags);
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function notWritten(path: string, problem: string, hint: string): ProfileFileError {
  return new ProfileFileError(`${path}: cannot be written: ${problem}`, { hint });
}
