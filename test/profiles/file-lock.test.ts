import { existsSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type LockHost, withFileLock } from '../../src/profiles/file-lock.js';
import { rejection, temporaryFolder, thisProcess } from './fixtures.js';

const newLock = () => join(temporaryFolder(), 'lock');

/** A clock that runs a second further each time it is looked at, so that no test waits. */
function hurried(host: Partial<LockHost> = {}): LockHost {
  let looks = 0;
  return { ...thisProcess, now: () => Date.now() + 1000 * looks++, ...host };
}

function leaveLock(path: string, owner: object | string, ageMs = 0): void {
  writeFileSync(path, typeof owner === 'string' ? owner : JSON.stringify(owner));
  const since = (Date.now() - ageMs) / 1000;
  utimesSync(path, since, since);
}

describe('withFileLock', () => {
  it('holds a file of mode 0600 while it works, and leaves none', async () => {
    const path = newLock();
    const umask = process.umask(0);
    const mode = await withFileLock(
      path,
      thisProcess,
      ({ isHeld }) => isHeld() && statSync(path).mode & 0o777,
    );
    process.umask(umask);
    expect(mode).toBe(0o600);
    expect(existsSync(path)).toBe(false);
  });

  it('lets go when the work fails', async () => {
    const path = newLock();
    const failing = withFileLock(path, thisProcess, () => Promise.reject(new Error('no')));
    expect((await rejection(failing)).message).toBe('no');
    expect(existsSync(path)).toBe(false);
  });

  it('lets one in at a time', async () => {
    const path = newLock();
    let inside = 0;
    let most = 0;
    const work = async () => {
      inside += 1;
      most = Math.max(most, inside);
      await new Promise((resolve) => setTimeout(resolve, 1));
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 10 }, () => withFileLock(path, thisProcess, work)));
    expect(most).toBe(1);
  });

  it.each([
    ['whose process is gone', { pid: 2 ** 22 + 1, hostname: thisProcess.hostname }, 0],
    [
      'that is too old, though a process has its number',
      { pid: process.pid, hostname: thisProcess.hostname },
      6000,
    ],
    ['that is too old, of another machine', { pid: 1, hostname: 'elsewhere' }, 6000],
    ['that is too old, and was never filled in', '', 6000],
  ])('takes away a lock %s', async (_, owner, ageMs) => {
    const path = newLock();
    leaveLock(path, owner, ageMs);
    expect(await withFileLock(path, thisProcess, () => 'done')).toBe('done');
  });

  it('takes away a lock though another died while it was about to', async () => {
    const path = newLock();
    leaveLock(path, { pid: 2 ** 22 + 1, hostname: thisProcess.hostname });
    leaveLock(`${path}.stale`, '', 6000);
    expect(await withFileLock(path, thisProcess, () => 'done')).toBe('done');
    expect(existsSync(`${path}.stale`)).toBe(false);
  });

  it.each([
    ['a running process', { pid: process.pid, hostname: thisProcess.hostname }],
    ['another machine, whose processes it cannot see', { pid: 2 ** 22 + 1, hostname: 'elsewhere' }],
  ])('waits for a lock of %s, then says what to do', async (_, owner) => {
    const path = newLock();
    const future = -60_000;
    leaveLock(path, owner, future);
    const error = await rejection(withFileLock(path, hurried(), () => 'done'));
    expect(error).toMatchObject({ code: 'PROFILE_FILE', hint: expect.stringContaining('delete that file') });
    expect(error.message.startsWith(path)).toBe(true);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(owner);
  });

  it('knows when its lock was taken away, and leaves the new one alone', async () => {
    const path = newLock();
    const held = await withFileLock(path, thisProcess, ({ isHeld }) => {
      writeFileSync(path, 'of another');
      return isHeld();
    });
    expect(held).toBe(false);
    expect(readFileSync(path, 'utf8')).toBe('of another');
  });
});
