import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  activateProfile,
  addProfile,
  ProfileStore,
  removeProfile,
} from '../../src/profiles/profile-store.js';
import { builtModule } from '../support/built-module.js';
import { lockRecord } from '../support/lock-record.js';
import { sampleProfile, temporaryFolder } from './fixtures.js';

const script = await builtModule(join(import.meta.dirname, '../support/add-profiles.ts'));

describe('processes that write at the same time', () => {
  it('lose nothing despite a stale lock', async () => {
    const folder = temporaryFolder();
    const { pid } = spawnSync(process.execPath, ['-e', '0']);
    writeFileSync(join(folder, 'profiles.json.lock'), lockRecord({ pid }));
    const prefixes = ['a', 'b', 'c'];
    await Promise.all(
      prefixes.map((prefix) => promisify(execFile)(process.execPath, [script, folder, prefix, '8'])),
    );
    const wanted = prefixes.flatMap((prefix) => Array.from({ length: 8 }, (_, index) => `${prefix}${index}`));
    const found = await new ProfileStore(folder).list();
    expect(found.map(({ name }) => name).sort()).toEqual(wanted.sort());
    expect(readdirSync(folder)).toEqual(['profiles.json']);
  });
});

describe('a process that is killed while it writes', () => {
  it('leaves the old or the new file, and its temporary file is removed later', async () => {
    const folder = temporaryFolder();
    const store = new ProfileStore(folder);
    await store.change((list) => addProfile(list, sampleProfile()));
    // conf writes in place under snap, which is to harm nothing either.
    for (const env of [{}, { SNAP: '/snap/userinfo' }]) {
      for (let kill = 0; kill < 4; kill += 1) {
        const writer = spawn(process.execPath, [script, folder, `k${kill}-`, '1000', '20000'], { env });
        let changes = 0;
        const watcher = watch(folder, () => {
          changes += 1;
          if (changes === 3 + 7 * kill) writer.kill('SIGKILL');
        });
        await once(writer, 'close');
        watcher.close();
        const names = (await store.list()).map(({ name }) => name);
        expect(names).toContain('shop');
        expect(names.filter((name) => name.startsWith(`k${kill}-`))).toEqual(
          names.filter((name) => name.startsWith(`k${kill}-`)).map((_, index) => `k${kill}-${index}`),
        );
        for (const name of names)
          if (name !== 'shop') await store.change((list) => removeProfile(list, name));
        await store.change((list) => activateProfile(list, 'shop'));
        expect(readdirSync(folder)).toEqual(['profiles.json']);
      }
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
      // No file of this process may grow past 8 blocks: the write is cut short without an error, as on a full disk.
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
