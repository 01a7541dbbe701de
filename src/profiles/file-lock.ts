import { closeSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { ProfileFileError } from './errors.js';
import { isSystemError } from './system-error.js';

/** The process that takes the lock, and what it can learn about others. */
export interface LockHost {
  readonly pid: number;
  /** The machine's name: what `pid` means something on. */
  readonly hostname: string;
  /** Whether a process of this machine is running, be it another user's. */
  isRunning(pid: number): boolean;
  /** Milliseconds since 1970. */
  now(): number;
  /** A text that no other call returns, in this process or another. */
  uniqueText(): string;
}

export interface HeldLock {
  /** False once another process took the lock for a left-over and removed it: do not write then. */
  isHeld(): boolean;
}

/** No write takes this long, in milliseconds: an older lock was left over, whatever its process number says. */
const staleAfter = 5_000;
/** Longer than that, so that a left-over lock never makes a command fail. */
const longestWait = 8_000;

/**
 * Does `work` while no other process that asks for the same lock file does. The lock file is mode 0600 and is gone
 * afterwards. Throws a ProfileFileError where others hold it for too long; else what the file system throws.
 */
export async function withFileLock<T>(
  path: string,
  host: LockHost,
  work: (lock: HeldLock) => T | Promise<T>,
): Promise<T> {
  const ours = JSON.stringify({ pid: host.pid, hostname: host.hostname, token: host.uniqueText() });
  await takeLock(path, ours, host);
  const isHeld = () => readLock(path)?.text === ours;
  try {
    return await work({ isHeld });
  } finally {
    if (isHeld()) rmSync(path, { force: true });
  }
}

async function takeLock(path: string, ours: string, host: LockHost): Promise<void> {
  const deadline = host.now() + longestWait;
  for (let pause = 5; !createFile(path, ours); pause = Math.min(pause * 2, 80)) {
    if (removeStale(path, host)) continue;
    if (host.now() > deadline) {
      throw new ProfileFileError(`${path}: another userinfo is writing, and has been for too long`, {
        hint: 'Try again; if no other userinfo is running, delete that file.',
      });
    }
    await sleep(pause);
  }
}

/**
 * Removes the lock where it was left over; whether it did. That goes under a lock of its own: of two processes that
 * find the same left-over, the slower would otherwise remove the lock that the faster has just taken.
 */
function removeStale(path: string, host: LockHost): boolean {
  if (!isStale(readLock(path), host)) return false;
  const guard = `${path}.stale`;
  if (!createFile(guard, '')) {
    if (isTooOld(readLock(guard), host)) rmSync(guard, { force: true });
    return false;
  }
  try {
    if (!isStale(readLock(path), host)) return false;
    rmSync(path, { force: true });
    return true;
  } finally {
    rmSync(guard, { force: true });
  }
}

interface FoundLock {
  readonly text: string;
  /** Milliseconds since 1970. */
  readonly since: number;
}

function isStale(lock: FoundLock | null, host: LockHost): boolean {
  if (lock === null) return false;
  const owner = readOwner(lock.text);
  const isGone = owner !== null && owner.hostname === host.hostname && !host.isRunning(owner.pid);
  return isGone || isTooOld(lock, host);
}

function isTooOld(lock: FoundLock | null, host: LockHost): boolean {
  return lock !== null && host.now() - lock.since > staleAfter;
}

/** `null` where the owner died before it had written who it is. */
function readOwner(text: string): { readonly pid: number; readonly hostname: string } | null {
  try {
    const { pid, hostname } = JSON.parse(text);
    return Number.isSafeInteger(pid) && pid > 0 && typeof hostname === 'string' ? { pid, hostname } : null;
  } catch {
    return null;
  }
}

function readLock(path: string): FoundLock | null {
  try {
    return { text: readFileSync(path, 'utf8'), since: statSync(path).mtimeMs };
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return null;
    throw error;
  }
}

/** Makes the file, which must not exist, whole or not at all; whether it did. */
function createFile(path: string, text: string): boolean {
  const file = openNew(path);
  if (file === null) return false;
  try {
    writeSync(file, text);
    return true;
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
}

function openNew(path: string): number | null {
  try {
    return openSync(path, 'wx', 0o600);
  } catch (error) {
    if (isSystemError(error, 'EEXIST')) return null;
    throw error;
  }
}
