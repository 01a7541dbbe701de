// Apart from profile-store.ts: only commands that change profiles load this, and conf with it.
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
import type Conf from 'conf';
import type { FileLock } from '../support/file-lock.js';
import { ProfileFileError } from './errors.js';
import { formatVersion, parseProfileText, readProfileText } from './profile-file.js';
import {
  fileSchema,
  formatProfileList,
  type ProfileFileJson,
  type ProfileList,
  parseProfileList,
  schemaRules,
  upgradeProfiles,
} from './profile-json.js';

/**
 * Changes the profile file through conf, which handles schema, defaults, format version, migrations and mode. Call
 * it under the lock.
 *
 * conf changes a copy next to the file, `<file>.new-…`, which then replaces the file atomically. conf alone writes
 * more than once (a migration, then the change), may install a file that a full disk truncated, writes in place
 * under snap, and on a migration overwrites content that it has not validated. Therefore the file is validated
 * before, the copy after, and the lock is checked once more; the copy is synced before the rename, the folder
 * after it.
 *
 * @returns the profiles after the change
 * @throws ProfileFileError, what `change` throws, or a system error; the file is then unchanged
 */
export async function changeProfileFile(
  path: string,
  lock: Pick<FileLock, 'isHeld'>,
  change: (list: ProfileList) => ProfileList,
): Promise<ProfileList> {
  const text = readProfileText(path);
  if (text !== null) await parseProfileText(text, path, { beforeWriting: true });
  removeLeftOvers(path);
  const copy = `${path}.new-${randomUUID().slice(0, 8)}`;
  try {
    if (text !== null) writeFileSync(copy, text, { flag: 'wx', mode: 0o600 });
    const conf = await openConf(copy);
    const list = change(parseProfileList(conf.store));
    conf.set(formatProfileList(list));
    void conf.store; // reads and validates it again
    if (!lock.isHeld()) throw notWritten(path, 'another userinfo process took over the lock', 'Try again.');
    keepOwner(path, copy);
    sync(copy, 'r+');
    renameSync(copy, path);
    if (platform() !== 'win32') sync(dirname(path), 'r');
    return list;
  } catch (error) {
    // V8's message is dropped: it quotes the text, which may contain a secret.
    if (!(error instanceof SyntaxError)) throw error;
    throw notWritten(path, 'only a part of it reached the disk', 'Free disk space and try again.');
  } finally {
    removeLeftOvers(path, copy);
  }
}

/** Opens conf's store at a path. The first call loads conf, which takes 100 ms of CPU. */
export async function openConf(path: string): Promise<Conf<ProfileFileJson>> {
  const { default: ConfStore } = await import('conf');
  const { properties, ...rootSchema } = fileSchema;
  return new ConfStore<ProfileFileJson>({
    cwd: dirname(path),
    configName: basename(path),
    fileExtension: '',
    configFileMode: 0o600,
    defaults: { active: null, profiles: {} },
    schema: properties as never,
    rootSchema: rootSchema as never,
    // A test validates this constant schema; conf would validate it at every start.
    ajvOptions: {
      validateSchema: false,
      keywords: [{ keyword: 'rule', schemaType: 'string', validate: followsRule }],
    },
    projectVersion: formatVersion,
    // Keyed by the format version that each one leads to.
    migrations: {
      '2.0.0': (store) => store.set('profiles', upgradeProfiles(store.get('profiles')) as never),
    },
    accessPropertiesByDotNotation: false,
    clearInvalidConfig: false,
    serialize: (content) => `${JSON.stringify(content, null, 2)}\n`,
  });
}

function followsRule(rule: string, json: unknown): boolean {
  try {
    schemaRules[rule]?.(json, rule);
    return true;
  } catch {
    return false;
  }
}

/** Removes copies and conf's temporary files: a killed process may have left them, with secrets in them. */
function removeLeftOvers(path: string, copy = path): void {
  for (const name of readdirSync(dirname(path))) {
    const rest = name.startsWith(basename(copy)) ? name.slice(basename(path).length) : '';
    if (/^\.new(-[\da-f]{8})?(\.tmp-[\da-f]{16})?$/.test(rest))
      rmSync(join(dirname(path), name), { force: true });
  }
}

/** Keeps the owner of the file: under sudo it would become root's, and unreadable to its owner. */
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
