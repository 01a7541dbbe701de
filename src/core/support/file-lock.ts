import { createHash, randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname, platform } from 'node:os';
import { kill, pid } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { isSystemError, UnsuitableFileError } from './errors.js';
import { withoutUndefined } from './without-undefined.js';

/** Another process holds the lock. The message begins with the path and names the process. */
export class FileLockedError extends Error {
  /** Whether that process is known to run; otherwise it cannot be seen from here. */
  readonly isRunning: boolean;

  constructor(path: string, text: string, isRunning: boolean) {
    const record = parseRecord(text);
    super(`${path} is held by process ${record?.process} on ${record?.host}`);
    this.isRunning = isRunning;
  }
}

/** A process renews its lock this often, in milliseconds. */
const renewMs = 1_000;
/** A lock that is not renewed for this time shows no sign of life, in milliseconds. */
const silentMs = 5_000;
/** Creating a lock takes less time, in milliseconds. */
const incompleteMs = 1_000;
/** Maximum size of a record, in bytes. */
const recordBytes = 1_024;

/**
 * Creates the lock file, mode 0600, and renews it until it is released: its modification time
 * changes. A lock of a process that has ended is taken over at once. That is known of a process in
 * the PID namespace of this one, by its start time; a process of another host or namespace (a
 * container) is not visible.
 *
 * Any other lock is refused, unless its record is in `silent`. What no lock has written stays as it
 * is.
 *
 * @returns removes the lock file if it still belongs to this lock
 * @throws FileLockedError; UnsuitableFileError if something else than a lock is at the path; system
 * errors
 */
export async function lockFile(path: string, silent?: ReadonlySet<string>): Promise<() => void> {
  const space = pidSpace();
  const fields = [pid, startOf(pid), randomUUID(), hostname()];
  if (space) fields.push(space);
  const record = fields.join(' ');
  const watch = new Watch();
  const isLeftOver = (file: string, text: string) => {
    // An incomplete record names no process: its process is still writing it, or was killed.
    if (parseRecord(text) === null) return watch.unchangedMs(file, text) > incompleteMs;
    const state = stateOf(text, space);
    if (state === 'ended' || silent?.has(text)) return true;
    const isForeignClaim = file !== path && state === 'unknown';
    if (!isForeignClaim) throw new FileLockedError(file, text, state === 'running');
    return watch.unchangedMs(file, text) > silentMs;
  };
  for (let pause = 5; !take(path, record, isLeftOver); pause = Math.min(pause * 2, 80))
    await sleep(pause);
  const isHeld = () => {
    try {
      return read(path) === record;
    } catch {
      return false;
    }
  };
  const timer = setInterval(() => renew(path, isHeld), renewMs).unref();
  return () => {
    clearInterval(timer);
    if (isHeld()) rmSync(path, { force: true });
  };
}

/**
 * The records of those locks whose process is not visible from here, and which are not renewed for
 * `forMs` milliseconds: with them, `lockFile` takes the locks over. The user has to consent, as the
 * process may be stopped, or cut off from the disk.
 *
 * @throws FileLockedError once a lock is renewed; UnsuitableFileError, system errors
 */
export async function silentLocks(
  paths: readonly string[],
  forMs = silentMs,
): Promise<Set<string>> {
  const space = pidSpace();
  const locks: { readonly path: string; readonly text: string; readonly renewed?: number }[] = [];
  for (const path of paths) {
    const text = read(path);
    if (text === null || parseRecord(text) === null || stateOf(text, space) !== 'unknown') continue;
    locks.push(withoutUndefined({ path, text, renewed: renewedAt(path) }));
  }
  const began = performance.now();
  while (locks.length > 0 && performance.now() - began <= forMs) {
    await sleep(100);
    for (const { path, text, renewed } of locks) {
      if (read(path) === text && renewedAt(path) !== renewed)
        throw new FileLockedError(path, text, true);
    }
  }
  return new Set(locks.map(({ text }) => text));
}

/**
 * Sees whether lock files change, by content and modification time. Clocks of hosts are not
 * compared.
 */
class Watch {
  readonly #seen = new Map<string, { readonly state: string; readonly since: number }>();

  /** Time for which the file is known to be as it is, in milliseconds. */
  unchangedMs(file: string, text: string): number {
    const state = `${renewedAt(file)} ${text}`;
    const now = performance.now();
    const seen = this.#seen.get(file);
    if (seen?.state === state) return now - seen.since;
    this.#seen.set(file, { state, since: now });
    return 0;
  }
}

/**
 * When a lock file was last renewed, by the clock of its file system, in milliseconds. Call it after
 * `read`: opening a file on another machine is what brings its attributes up to date.
 */
function renewedAt(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}

function renew(path: string, isHeld: () => boolean): void {
  try {
    if (isHeld()) utimesSync(path, new Date(), new Date());
  } catch {
    // Without it, the lock may be taken over: its holder checks that before it writes.
  }
}

/** Only one process may replace a given record: the one that holds a lock on that record. */
function take(
  path: string,
  record: string,
  isLeftOver: (path: string, text: string) => boolean,
): boolean {
  try {
    writeFileSync(path, record, { flag: 'wx', mode: 0o600 });
    return read(path) === record;
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === 'write') rmSync(path, { force: true });
    if (code !== 'EEXIST') throw error;
  }
  const leftOver = read(path);
  if (leftOver === null || !isLeftOver(path, leftOver)) return false;
  const claim = `${path}.${createHash('sha256').update(leftOver).digest('hex').slice(0, 12)}`;
  if (!take(claim, record, isLeftOver)) return false;
  const isUnchanged = read(path) === leftOver;
  if (isUnchanged) renameSync(claim, path);
  else rmSync(claim, { force: true });
  return isUnchanged;
}

/**
 * The text of a lock file; `null` if there is none. Anybody who may write to the folder can put
 * something else there: opening it neither waits nor follows a link, and what is not a lock is
 * neither read as a whole nor replaced.
 */
function read(path: string): string | null {
  let fd: number;
  try {
    fd = openSync(
      path,
      constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0),
    );
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return null;
    if (isSystemError(error, 'ELOOP') || isSystemError(error, 'ENXIO')) throw noLock(path);
    throw error;
  }
  try {
    if (!fstatSync(fd).isFile()) throw noLock(path);
    const bytes = Buffer.alloc(recordBytes + 1);
    const text = bytes.toString('utf8', 0, readSync(fd, bytes));
    const isRecord = parseRecord(text) !== null || isTorn(text);
    if (isRecord && text.length <= recordBytes) return text;
    throw noLock(path);
  } finally {
    closeSync(fd);
  }
}

function noLock(path: string): UnsuitableFileError {
  return new UnsuitableFileError(`${path} is not a lock of userinfo`);
}

/**
 * Whether a text can be a record that was being written when its process was killed, or the power
 * was cut.
 */
function isTorn(text: string): boolean {
  return /^(?:\d+(?: \d*(?: (?:[\w-]{0,35}|[\w-]{36}(?: .*)?))?)?)?\0*$/.test(text);
}

/** The text of a lock file: a random text in it makes each unlike any other. */
interface LockRecord {
  /** The number of the process. */
  readonly process: number;
  /** Its start time, as `startOf` returns it. */
  readonly start: string;
  readonly host: string;
  /** Its PID space; empty on a system without them. */
  readonly space: string;
}

const recordPattern =
  /^(?<process>\d+) (?<start>\d*) [\w-]{36} (?<host>.+?)(?: (?<space>[\da-f-]{36} pid:\[\d+\](?: time:\[\d+\])?))?$/;

/** `null` for a text that is not the record of a lock, or not a whole one. */
function parseRecord(text: string): LockRecord | null {
  const groups = recordPattern.exec(text)?.groups;
  if (groups === undefined) return null;
  const { process: owner, start = '', host = '', space = '' } = groups;
  return { process: Number(owner), start, host, space };
}

/**
 * Where the numbers and start times of processes have the meaning that they have for this process:
 * the boot of the kernel, the PID namespace and, since Linux 5.6, the time namespace. Empty on
 * systems without namespaces. `null`: not known, also where /proc is that of another namespace. The
 * number of a namespace is used again only after all its processes have ended.
 */
function pidSpace(): string | null {
  if (platform() !== 'linux') return '';
  try {
    if (readlinkSync('/proc/self') !== String(pid)) return null;
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const parts = [boot, readlinkSync('/proc/self/ns/pid')];
    const clock = '/proc/self/ns/time';
    if (existsSync(clock)) parts.push(readlinkSync(clock));
    return parts.join(' ');
  } catch {
    return null;
  }
}

/** The state of the process that wrote a record; `space` is the PID space of this process. */
function stateOf(text: string, space: string | null): 'running' | 'ended' | 'unknown' {
  const record = parseRecord(text);
  if (record?.host !== hostname() || record.space !== space) return 'unknown';
  const start = startOf(record.process);
  if (start === null) return 'ended';
  if (record.start === '' || start === '') return 'unknown';
  // A process with the same number but another start time is a different one.
  return start === record.start ? 'running' : 'ended';
}

/**
 * The start time of a process, in clock ticks since boot; empty where the system does not report it
 * (only Linux does), `null` if there is no such process, or it was killed and its parent has not
 * noticed yet.
 */
function startOf(process: number): string | null {
  try {
    kill(process, 0);
  } catch (error) {
    if (isSystemError(error, 'ESRCH')) return null;
  }
  try {
    const stat = readFileSync(`/proc/${process}/stat`, 'utf8');
    const [, state = '', start = ''] = /^.*\) (\S)(?: \S+){18} (\d+)/s.exec(stat) ?? [];
    if (/[ZX]/.test(state)) return null;
    return start;
  } catch {
    return '';
  }
}
