import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { LockHost } from '../profiles/file-lock.js';

/** This process, as the lock of the profile file knows it. */
export const lockHost: LockHost = {
  pid: process.pid,
  hostname: hostname(),
  isRunning,
  now: Date.now,
  uniqueText: randomUUID,
};

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it runs, as another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
