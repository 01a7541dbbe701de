import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FileLockedError, lockFile } from '../src/support/file-lock.js';
import { builtModule } from './support/built-module.js';

const module = await builtModule(join(import.meta.dirname, '../src/support/file-lock.ts'));

function newLock(): string {
  const folder = mkdtempSync(join(tmpdir(), 'userinfo-lock-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'lock');
}

/** As a process writes it; `start` empty, as on a system that does not tell it. */
const record = (pid: number, host = hostname(), start = '') => `${pid} ${start} ${randomUUID()} ${host}`;
const ended = () => spawnSync(process.execPath, ['-e', '0']).pid;

describe('lockFile', () => {
  it('makes a file of mode 0600, and removes it on release', async () => {
    const path = newLock();
    const umask = process.umask(0);
    const lock = await lockFile(path);
    process.umask(umask);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(lock.isHeld()).toBe(true);
    lock.release();
    expect(readdirSync(dirname(path))).toEqual([]);
    expect(lock.isHeld()).toBe(false);
  });

  it('refuses a second lock at once, and names the process that holds the first', async () => {
    const path = newLock();
    const lock = await lockFile(path);
    const held = readFileSync(path, 'utf8');
    await expect(lockFile(path)).rejects.toThrow(FileLockedError);
    await expect(lockFile(path)).rejects.toThrow(
      `${path} is held by process ${process.pid} on ${hostname()}`,
    );
    expect(readFileSync(path, 'utf8')).toBe(held);
    lock.release();
    (await lockFile(path)).release();
  });

  it('waits for the lock if allowed to', async () => {
    const path = newLock();
    let inside = 0;
    let most = 0;
    const work = async () => {
      const lock = await lockFile(path, 5_000);
      inside += 1;
      most = Math.max(most, inside);
      await new Promise((resolve) => setTimeout(resolve, 1));
      inside -= 1;
      lock.release();
    };
    await Promise.all(Array.from({ length: 10 }, work));
    expect(most).toBe(1);
  });

  it.each([
    ['whose process has ended', () => record(ended())],
    ['whose process has ended, and another has its number', () => record(process.pid, hostname(), '1')],
    ['that was never filled in', () => ''],
    ['that is damaged', () => '12 4'],
  ])('takes over a lock %s', async (_, left) => {
    if (process.platform !== 'linux' && left().includes(` 1 `)) return;
    const path = newLock();
    writeFileSync(path, left());
    const lock = await lockFile(path);
    expect(lock.isHeld()).toBe(true);
    lock.release();
    expect(readdirSync(dirname(path))).toEqual([]);
  });

  it.each([
    ['of a process that runs', () => record(process.pid)],
    ['of another host, whose processes it does not see', () => record(ended(), 'elsewhere')],
  ])('leaves a lock %s alone, and takes it over where it stays as it is', async (_, left) => {
    const path = newLock();
    const text = left();
    writeFileSync(path, text);
    await expect(lockFile(path)).rejects.toThrow(FileLockedError);
    expect(readFileSync(path, 'utf8')).toBe(text);
    const lock = await lockFile(path, 50);
    expect(lock.isHeld()).toBe(true);
    lock.release();
  });

  it('detects that its lock was taken over, and keeps the new one', async () => {
    const path = newLock();
    const lock = await lockFile(path);
    writeFileSync(path, record(process.pid));
    expect(lock.isHeld()).toBe(false);
    lock.release();
    expect(existsSync(path)).toBe(true);
  });

  it('lets one process at a time hold the lock, whichever are killed', async () => {
    const path = newLock();
    writeFileSync(path, record(ended()));
    const counter = join(dirname(path), 'counter');
    writeFileSync(counter, '0');
    // Adds 1 under the lock, many times, and says how often; unprotected, additions would be lost.
    const script = `
      import { readFileSync, writeFileSync, writeSync } from 'node:fs';
      import { lockFile } from ${JSON.stringify(module)};
      for (let turn = 0; turn < 150; turn += 1) {
        const lock = await lockFile(${JSON.stringify(path)}, 30_000);
        writeFileSync(${JSON.stringify(counter)}, String(Number(readFileSync(${JSON.stringify(counter)}, 'utf8')) + 1));
        writeSync(1, '+');
        if (process.argv[1] === 'killed' && turn === 20) process.kill(process.pid, 'SIGKILL');
        lock.release();
      }`;
    const added = await Promise.all(
      ['killed', 'killed', 'killed', 'ends'].map(
        (kind) =>
          new Promise<number>((resolve) => {
            const child = spawn(process.execPath, ['--input-type=module', '-e', script, kind]);
            let count = 0;
            child.stdout.on('data', (chunk: Buffer) => (count += chunk.length));
            child.once('close', () => resolve(count));
          }),
      ),
    );
    expect(added).toEqual([21, 21, 21, 150]);
    expect(readFileSync(counter, 'utf8')).toBe('213');
    (await lockFile(path)).release(); // the last one may have been killed
    expect(readdirSync(dirname(path))).toEqual(['counter']);
  });
});
