import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FileLockedError, lockFile, silentLocks } from '../../../src/core/support/file-lock.js';
import { builtModule } from '../../support/built-module.js';
import { lockRecord, pidSpace, startOf } from '../../support/lock-record.js';

const module = await builtModule(
  join(import.meta.dirname, '../../../src/core/support/file-lock.ts'),
);

function newLock(): string {
  const folder = mkdtempSync(join(tmpdir(), 'userinfo-lock-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'lock');
}

const isLinux = process.platform === 'linux';
const ended = () => spawnSync(process.execPath, ['-e', '0']).pid;
const ours = () => lockRecord({ pid: process.pid, start: startOf(process.pid) });
const elsewhere: [string, () => string][] = [
  ['of another host', () => lockRecord({ pid: ended(), host: 'elsewhere' })],
];
if (isLinux) {
  const here = pidSpace();
  elsewhere.push(
    [
      'of another PID namespace',
      () => lockRecord({ pid: ended(), space: here.replace(/\d+]/, '1]') }),
    ],
    [
      'of an earlier boot',
      () => lockRecord({ pid: ended(), space: here.replace(/^[^ ]+/, randomUUID()) }),
    ],
    ['without a namespace', () => lockRecord({ pid: ended(), space: '' })],
  );
}

describe('lockFile', () => {
  it('makes a file of mode 0600, and removes it on release', async () => {
    const path = newLock();
    const umask = process.umask(0);
    const release = await lockFile(path);
    process.umask(umask);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    release();
    expect(readdirSync(dirname(path))).toEqual([]);
  });

  it('refuses a second lock at once, and names the process that holds the first', async () => {
    const path = newLock();
    const release = await lockFile(path);
    const held = readFileSync(path, 'utf8');
    await expect(lockFile(path)).rejects.toThrow(FileLockedError);
    await expect(lockFile(path)).rejects.toThrow(
      `${path} is held by process ${process.pid} on ${hostname()}`,
    );
    expect(readFileSync(path, 'utf8')).toBe(held);
    release();
    (await lockFile(path))();
  });

  it.each([
    ['whose process has ended', () => lockRecord({ pid: ended() })],
    [
      'whose process has ended, and another has its number',
      () => lockRecord({ pid: process.pid, start: '1' }),
    ],
    ['that was never filled in', () => ''],
    ['that is damaged', () => '12 4'],
    ['that a power cut left without its text', () => '\0'.repeat(120)],
  ])('takes over a lock %s', async (_, left) => {
    if (!isLinux && left().includes(` 1 `)) return;
    const path = newLock();
    writeFileSync(path, left());
    const release = await lockFile(path);
    expect(readFileSync(path, 'utf8')).toContain(`${process.pid} `);
    release();
    expect(readdirSync(dirname(path))).toEqual([]);
  });

  it.each<[string, (path: string) => void]>([
    ['a text', (path) => writeFileSync(path, 'notes of a user\n')],
    ['a record with more behind it', (path) => writeFileSync(path, `${ours()}\n${ours()}\n`)],
    ['a link to a text', (path) => symlinkSync(import.meta.filename, path)],
    ['a link to nothing', (path) => symlinkSync(`${path}.missing`, path)],
    ['a folder', (path) => mkdirSync(path)],
    [
      'a large file',
      (path) => {
        writeFileSync(path, '');
        truncateSync(path, 2 ** 40);
      },
    ],
    ...(process.platform === 'win32'
      ? []
      : [
          ['a named pipe', (path) => execFileSync('mkfifo', [path])] as [
            string,
            (path: string) => void,
          ],
          ['a link to a device', (path) => symlinkSync('/dev/zero', path)] as [
            string,
            (path: string) => void,
          ],
        ]),
  ])('leaves %s alone that no lock has written', async (_, put) => {
    const path = newLock();
    put(path);
    const found = lstatSync(path);
    await expect(lockFile(path)).rejects.toThrow(`${path} is not a lock of userinfo`);
    await expect(silentLocks([path], 0)).rejects.toThrow(`${path} is not a lock of userinfo`);
    expect(lstatSync(path)).toMatchObject({
      ino: found.ino,
      size: found.size,
      mtimeMs: found.mtimeMs,
    });
    expect(readdirSync(dirname(path))).toEqual(['lock']);
  });

  const clock = ['--time', '--boottime', '100000', '--fork', '--kill-child'];
  const hasClocks = spawnSync('unshare', [...clock, 'true']).status === 0;
  it.skipIf(!hasClocks)(
    'leaves the lock of a process alone for which the machine started at another time (needs unshare)',
    async () => {
      const path = newLock();
      const script = `
        import { lockFile } from ${JSON.stringify(module)};
        await lockFile(${JSON.stringify(path)});
        console.log('held');
        setTimeout(() => {}, 60_000);`;
      const args = [...clock, process.execPath, '--input-type=module', '-e', script];
      const other = spawn('unshare', args, { stdio: ['ignore', 'pipe', 'inherit'] });
      onTestFinished(() => void other.kill('SIGKILL'));
      await new Promise((resolve) => other.stdout.once('data', resolve));
      const held = readFileSync(path, 'utf8');
      await expect(lockFile(path)).rejects.toThrow(FileLockedError);
      expect(readFileSync(path, 'utf8')).toBe(held);
    },
  );

  it.skipIf(!isLinux)(
    'takes over the lock of a killed process that its parent has not noticed',
    async () => {
      const path = newLock();
      // A program that waits for no child takes the place of the shell, which may have waited for
      // it before.
      const parent = spawn('sh', ['-c', 'sleep 30 & echo $!; exec sleep 30']);
      onTestFinished(() => void parent.kill());
      const pid = Number(await new Promise((resolve) => parent.stdout.once('data', resolve)));
      writeFileSync(path, lockRecord({ pid, start: startOf(pid) }));
      await expect(lockFile(path)).rejects.toThrow(FileLockedError);
      await expect.poll(() => readFileSync(`/proc/${parent.pid}/comm`, 'utf8')).toBe('sleep\n');
      process.kill(pid, 'SIGKILL');
      await expect.poll(() => readFileSync(`/proc/${pid}/stat`, 'utf8')).toContain(') Z ');
      (await lockFile(path))();
    },
  );

  it.each([['of a process that runs', ours], ...elsewhere])(
    'leaves a lock %s alone',
    async (_, left) => {
      const path = newLock();
      const content = left();
      writeFileSync(path, content);
      await expect(lockFile(path)).rejects.toThrow(FileLockedError);
      expect(readFileSync(path, 'utf8')).toBe(content);
    },
  );

  it('renews its own lock', async () => {
    const path = newLock();
    const release = await lockFile(path);
    utimesSync(path, 1, 1);
    await expect.poll(() => statSync(path).mtimeMs).toBeGreaterThan(1_000);
    release();
  });

  it.each(elsewhere)(
    'takes over a lock %s with consent, unless it is renewed meanwhile',
    async (_, left) => {
      const path = newLock();
      const content = left();
      writeFileSync(path, content);
      const renewing = silentLocks([path], 10_000);
      const other = setInterval(() => utimesSync(path, new Date(), new Date()), 20);
      onTestFinished(() => clearInterval(other));
      await expect(renewing).rejects.toThrow(FileLockedError);
      clearInterval(other);

      const silent = await silentLocks([path], 200);
      expect([...silent]).toEqual([content]);
      const release = await lockFile(path, silent);
      // The consent was about another lock.
      await expect(lockFile(path, silent)).rejects.toThrow(FileLockedError);
      release();
    },
  );

  it('does not take the consent for a lock that another process puts in its place', async () => {
    const path = newLock();
    const [first, second] = [1, 2].map((pid) => lockRecord({ pid, host: 'elsewhere' })) as [
      string,
      string,
    ];
    writeFileSync(path, first);
    const watching = silentLocks([path], 200);
    writeFileSync(path, second);
    utimesSync(path, 1, 1);
    const silent = await watching;
    expect([...silent]).toEqual([first]);
    await expect(lockFile(path, silent)).rejects.toThrow(FileLockedError);
    expect(readFileSync(path, 'utf8')).toBe(second);
  });

  it('waits for a record that another process is still writing', async () => {
    const path = newLock();
    writeFileSync(path, '');
    const locking = lockFile(path);
    const record = lockRecord({ pid: 1, host: 'elsewhere' });
    writeFileSync(path, record);
    await expect(locking).rejects.toThrow(FileLockedError);
    expect(readFileSync(path, 'utf8')).toBe(record);
  });

  it('takes no lock of a process that runs over with consent', async () => {
    const path = newLock();
    const release = await lockFile(path);
    expect([...(await silentLocks([path], 0))]).toEqual(
      isLinux ? [] : [readFileSync(path, 'utf8')],
    );
    release();
  });

  it('loses a dead lock to another process that takes it over meanwhile', async () => {
    const path = newLock();
    writeFileSync(path, lockRecord({ pid: ended() }));
    const [reached, go] = [`${path}.reached`, `${path}.go`];
    // Pauses this process, and nothing of the product, between what it saw and what it does about
    // it.
    const script = `
      import fs, { existsSync } from 'node:fs';
      import { syncBuiltinESMExports } from 'node:module';
      const { writeFileSync } = fs;
      fs.writeFileSync = (file, ...more) => {
        if (file !== ${JSON.stringify(path)} && !existsSync(${JSON.stringify(reached)})) {
          writeFileSync(${JSON.stringify(reached)}, '');
          while (!existsSync(${JSON.stringify(go)})) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
        }
        return writeFileSync(file, ...more);
      };
      syncBuiltinESMExports();
      const { lockFile } = await import(${JSON.stringify(module)});
      await lockFile(${JSON.stringify(path)}).then(() => console.log('held'), ({ message }) => console.log(message));`;
    const slow = spawn(process.execPath, ['--input-type=module', '-e', script]);
    const said = text(slow.stdout);
    await expect.poll(() => existsSync(reached)).toBe(true);
    const release = await lockFile(path);
    writeFileSync(go, '');
    expect(await said).toContain(`is held by process ${process.pid} on `);
    release();
    expect(readdirSync(dirname(path)).sort()).toEqual(['lock.go', 'lock.reached']);
  });

  it('keeps the lock of another process that took its own over', async () => {
    const path = newLock();
    const release = await lockFile(path);
    const other = ours();
    writeFileSync(path, other);
    release();
    expect(readFileSync(path, 'utf8')).toBe(other);
  });

  it('lets one process at a time hold the lock, whichever are killed', async () => {
    const path = newLock();
    writeFileSync(path, lockRecord({ pid: ended() }));
    const counter = join(dirname(path), 'counter');
    writeFileSync(counter, '0');
    // Adds 1 under the lock, many times, and says how often; unprotected, additions would be lost.
    const script = `
      import { readFileSync, writeFileSync, writeSync } from 'node:fs';
      import { setTimeout as sleep } from 'node:timers/promises';
      import { FileLockedError, lockFile } from ${JSON.stringify(module)};
      const lock = () =>
        lockFile(${JSON.stringify(path)}).catch(async (error) => {
          if (!(error instanceof FileLockedError)) throw error;
          await sleep(2);
          return lock();
        });
      for (let turn = 0; turn < 150; turn += 1) {
        const release = await lock();
        writeFileSync(${JSON.stringify(counter)}, String(Number(readFileSync(${JSON.stringify(counter)}, 'utf8')) + 1));
        writeSync(1, '+');
        if (process.argv[1] === 'killed' && turn === 20) process.kill(process.pid, 'SIGKILL');
        release();
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
    (await lockFile(path))(); // the last one may have been killed
    expect(readdirSync(dirname(path))).toEqual(['counter']);
  });
});
