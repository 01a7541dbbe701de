import { lstatSync, readlinkSync, type Stats } from 'node:fs';
import { platform } from 'node:os';
import { dirname, isAbsolute, join, parse, resolve, sep } from 'node:path';
import { quoteWhereNeeded } from './shell.js';

/**
 * Why another user could change the target of a path; begins with the path of the file or folder.
 */
interface UnsafePath {
  readonly reason: string;
  readonly hint: string;
  readonly commands?: readonly string[];
}

/**
 * Whether only this user and root can change or replace a file: they own the file, each folder
 * above it and each symbolic link on the way, and nobody else can write there. Accepted: folders
 * with the sticky bit, such as /tmp, and, above the file's own folder, folders that the owner's
 * private group (gid = uid) may write to, as a umask of 002 creates them.
 *
 * @returns `null` for a path that is safe or does not exist, and always on Windows, whose
 * permissions Node does not report
 * @throws system errors if a part of the path cannot be examined
 */
export function findUnsafePath(path: string): UnsafePath | null {
  if (platform() === 'win32') return null;
  const absolute = resolve(path);
  let here = parse(absolute).root;
  const rest = segmentsOf(absolute);
  for (let links = 0; ; ) {
    const stats = lstatSync(here, { throwIfNoEntry: false });
    if (stats === undefined) return null;
    const unsafe = unsafeReason(here, stats, rest.length > 1);
    if (unsafe !== null) return unsafe;
    if (stats.isSymbolicLink() && links < maxLinks) {
      links += 1;
      const target = readlinkSync(here);
      rest.unshift(...segmentsOf(target));
      here = isAbsolute(target) ? parse(target).root : dirname(here);
      continue;
    }
    const next = rest.shift();
    if (next === undefined) return null;
    here = join(here, next);
  }
}

/** Maximum number of symbolic links that are followed, as of Linux. */
const maxLinks = 40;

function segmentsOf(path: string): string[] {
  return path.split(sep).filter((segment) => segment !== '' && segment !== '.');
}

const writableByOthers = 0o022;
const writableByAll = 0o002;
const sticky = 0o1000;

/** `isFurtherUp`: the path is a folder above the one of the file. */
function unsafeReason(path: string, stats: Stats, isFurtherUp: boolean): UnsafePath | null {
  if (stats.uid !== 0 && stats.uid !== process.geteuid?.()) {
    return {
      reason: `${path} belongs to another user (uid ${stats.uid})`,
      hint: 'Review it, then use your own copy in a folder of your own.',
    };
  }
  // The mode of a link has no meaning; in a sticky folder only the owner of an entry can replace
  // it.
  const isSafe = stats.isSymbolicLink() || (stats.isDirectory() && (stats.mode & sticky) !== 0);
  const isPrivateGroup = isFurtherUp && stats.gid === stats.uid;
  const tooOpen = isPrivateGroup ? writableByAll : writableByOthers;
  if (isSafe || (stats.mode & tooOpen) === 0) return null;
  return {
    reason: `${path} is writable by other users`,
    hint: 'Restrict it:',
    commands: [`chmod go-w ${quoteWhereNeeded(path)}`],
  };
}
