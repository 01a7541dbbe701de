import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, statSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { addProfile, ProfileStore } from '../../../src/core/profiles/profile-store.js';
import { builtModule } from '../../support/built-module.js';
import { sampleProfile, temporaryFolder } from './fixtures.js';

const script = await builtModule(join(import.meta.dirname, 'add-profiles.ts'));

describe('processes that write at the same time', () => {
  it('lose nothing', async () => {
    const folder = temporaryFolder();
    const prefixes = ['a', 'b', 'c'];
    await Promise.all(
      prefixes.map((prefix) =>
        promisify(execFile)(process.execPath, [script, folder, prefix, '4']),
      ),
    );
    const wanted = prefixes.flatMap((prefix) =>
      Array.from({ length: 4 }, (_, index) => `${prefix}${index}`),
    );
    const found = await new ProfileStore(folder).list();
    expect(found.map(({ name }) => name).sort()).toEqual(wanted.sort());
    expect(readdirSync(folder)).toEqual(['profiles.json']);
  });
});

describe('a process that is killed while it writes', () => {
  it('leaves the old or the new file, and nothing that others can read', async () => {
    const folder = temporaryFolder();
    const store = new ProfileStore(folder);
    await store.change((list) => addProfile(list, sampleProfile()));
    const before = readFileSync(store.path);
    for (let kill = 0; kill < 3; kill += 1) {
      const writer = spawn(process.execPath, [script, folder, `k${kill}-`, '1000', '20000']);
      onTestFinished(() => void writer.kill('SIGKILL'));
      let changes = 0;
      const watcher = watch(folder, () => {
        changes += 1;
        if (changes === 3 + 10 * kill) writer.kill('SIGKILL');
      });
      await once(writer, 'close');
      watcher.close();
      const names = (await store.list()).map(({ name }) => name);
      expect(names).toContain('shop');
      expect(names.filter((name) => name.startsWith(`k${kill}-`))).toEqual(
        names.filter((name) => name.startsWith(`k${kill}-`)).map((_, index) => `k${kill}-${index}`),
      );
      const left = readdirSync(folder).filter((name) => name !== 'profiles.json');
      for (const name of left) {
        expect(name).toMatch(/^profiles\.json\.(lock|tmp-[\da-f]+)$/);
        expect(statSync(join(folder, name)).mode & 0o077).toBe(0);
        rmSync(join(folder, name));
      }
      writeFileSync(store.path, before);
    }
  });
});

describe.skipIf(process.platform === 'win32')(
  'a disk that takes only a part of the file (needs POSIX)',
  () => {
    it('leaves the file unchanged', async () => {
      const folder = temporaryFolder();
      const store = new ProfileStore(folder);
      await store.change((list) => addProfile(list, sampleProfile()));
      const before = readFileSync(store.path);
      // No file of this process may grow past 8 blocks: the write is cut short without an error, as
      // on a full disk.
      const limited = [
        '-c',
        'ulimit -f 8 && exec "$@"',
        'sh',
        process.execPath,
        script,
        folder,
        'big',
        '1',
        '9000',
      ];
      const { stdout, status } = spawnSync('sh', limited, { encoding: 'utf8' });
      expect(stdout).toMatch(
        /^PROFILE_FILE: .*profiles\.json: cannot be written: only a part of it reached the disk$/,
      );
      expect(status).toBe(3);
      expect(readFileSync(store.path)).toEqual(before);
      expect(readdirSync(folder)).toEqual(['profiles.json']);
    });
  },
);
