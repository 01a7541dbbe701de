import { createHash, randomUUID } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { kill, pid } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';

/** Another process holds the lock. The message begins with the path and names the process. */
export class FileLockedError extends Error {}

export type FileLock = Awaited<ReturnType<typeof lockFile>>;

/**
 * Creates the lock file, mode 0600. A lock of a process that has ended, as far as this host can tell, is taken
 * over at once. Any other is waited for, and taken over after `takeOverMs` milliseconds without a change.
 *
 * @throws FileLockedError at once without `takeOverMs`; otherwise system errors
 */
export async function lockFile(path: string, takeOverMs?: number) {
  const record = `${pid} ${startOf(pid)} ${randomUUID()} ${hostname()}`;
  const watched = new Map<string, { text: string; since: number }>();
  const isLeftOver = (file: string, text: string) => {
    // An incomplete record names no process: its process is still writing it, or was killed.
    const [, owner, start, host] = /^(\d+) (\d*) [\w-]{36} (.+)$/.exec(text) ?? [];
    const found = host === hostname() ? startOf(Number(owner)) : '';
    // A process with the same number but another start time is a different one.
    if (found === null || (start && found && start !== found)) return true;
    if (owner !== undefined && takeOverMs === undefined) {
      throw new FileLockedError(`${path} is held by process ${owner} on ${host}`);
    }
    if (watched.get(file)?.text !== text) watched.set(file, { text, since: performance.now() });
    return performance.now() - (watched.get(file)?.since ?? 0) > (takeOverMs ?? 1_000);
  };
  for (let pause = 5; !take(path, record, isLeftOver); pause = Math.min(pause * 2, 80)) await sleep(pause);
  /** False once another process took the lock over: do not write any more. */
  const isHeld = () => read(path) === record;
  /** Removes the lock file if it still belongs to this lock. */
  const release = () => isHeld() && rmSync(path, { force: true });
  return { isHeld, release };
}

/** Only one process may replace a given record: the one that holds a lock on that record. */
function take(path: string, record: string, isLeftOver: (path: string, text: string) => boolean): boolean {
  try {
    writeFileSync(path, record, { flag: 'wx', mode: 0o600 });
    return read(path) === record;
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === 'write') rmSync(path, { force: true });
    if (code !== 'EEXIST') throw error;
  }
  const found = read(path);
  if (found === null || !isLeftOver(path, found)) return false;
  const claim = `${path}.${createHash('sha256').update(found).digest('hex').slice(0, 12)}`;
  if (!take(claim, record, isLeftOver)) return false;
  const isUnchanged = read(path) === found;
  if (isUnchanged) renameSync(claim, path);
  else rmSync(claim, { force: true });
  return isUnchanged;
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/**
 * The start time of a process, in clock ticks since boot; empty where the system does not report it (only Linux
 * does), `null` if there is no such process.
 */
function startOf(process: number): string | null {
  try {
    kill(process, 0);
    return /.*\)(?: \S+){19} (\d+)/s.exec(readFileSync(`/proc/${process}/stat`, 'utf8'))?.[1] ?? '';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH' ? null : '';
  }
}
