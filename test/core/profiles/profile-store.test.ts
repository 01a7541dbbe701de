import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { changeProfileFile } from '../../../src/core/profiles/conf-store.late.js';
import { ProfileFileError } from '../../../src/core/profiles/errors.js';
import { formatProfile } from '../../../src/core/profiles/profile-json.js';
import {
  activateProfile,
  addProfile,
  ProfileStore,
  removeProfile,
} from '../../../src/core/profiles/profile-store.js';
import { rejection } from '../../support/rejection.js';
import { sampleProfile, secretText, temporaryFolder } from './fixtures.js';

const umask = process.umask();
afterEach(() => void process.umask(umask));

const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);

function newStore(): ProfileStore {
  return new ProfileStore(join(temporaryFolder(), 'config', 'userinfo'));
}

/** A store whose file holds this text. */
function storeWith(content: string | Uint8Array): ProfileStore {
  const store = new ProfileStore(temporaryFolder());
  writeFileSync(store.path, content);
  return store;
}

describe('ProfileStore', () => {
  it('is empty if there is no file, and reading creates none', async () => {
    const folder = temporaryFolder();
    const store = new ProfileStore(join(folder, 'userinfo'));
    expect(await store.list()).toEqual([]);
    expect((await store.load()).active).toBeNull();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('keeps what is added, for the next process too', async () => {
    const store = newStore();
    await store.change((list) =>
      addProfile(list, sampleProfile({ name: 'shop.cn', key_prefix: 'shop_' })),
    );
    await store.change((list) =>
      addProfile(list, sampleProfile({ name: 'live', environment: 'production' })),
    );
    await store.change((list) => activateProfile(list, 'live'));
    const next = new ProfileStore(join(store.path, '..'));
    expect((await next.load()).active).toBe('live');
    expect(await next.get('shop.cn')).toMatchObject({ name: 'shop.cn', key_prefix: 'shop_' });
    expect(readdirSync(join(store.path, '..'))).toEqual(['profiles.json']);
  });

  it('loses nothing when one process makes many changes at once', async () => {
    const store = newStore();
    const names = Array.from({ length: 6 }, (_, index) => `p${index}`);
    await Promise.all(
      names.map((name) => store.change((list) => addProfile(list, sampleProfile({ name })))),
    );
    expect((await store.list()).map(({ name }) => name).sort()).toEqual(names.sort());
  });
});

describe('the mode of written files', () => {
  it('is 0600 in folders of 0700, however open the umask', async () => {
    process.umask(0);
    const store = newStore();
    await store.change((list) => addProfile(list, sampleProfile()));
    expect(mode(store.path)).toBe('600');
    expect(mode(join(store.path, '..'))).toBe('700');
    expect(mode(join(store.path, '../../..'))).toBe('700');
  });

  it('is 0600 for the file and the lock while they are written as well', async () => {
    process.umask(0);
    const store = newStore();
    const modes: Record<string, string> = {};
    await store.change((list) => {
      const names = readdirSync(join(store.path, '..'));
      for (const name of names) modes[name] = mode(join(store.path, '..', name));
      return addProfile(list, sampleProfile());
    });
    expect(modes).toEqual({ 'profiles.json.lock': '600' });
  });

  it('of the file is corrected if others can read it', async () => {
    const store = newStore();
    await store.change((list) => addProfile(list, sampleProfile()));
    chmodSync(store.path, 0o644);
    await store.change((list) => activateProfile(list, 'shop'));
    expect(mode(store.path)).toBe('600');
  });

  it('is unchanged for a folder that is there', async () => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o755);
    await new ProfileStore(folder).change((list) => addProfile(list, sampleProfile()));
    expect(mode(folder)).toBe('755');
  });
});

describe('a file that is damaged', () => {
  const whole =
    '"environment":"test","base_url":"https://a.example","tenant_code":"t","channel":"c","app_key":"k"';
  const kept = `${whole},"secret":{"kind":"file","value":"s"}`;
  const inProfile = (fields: string) => `{"active":null,"profiles":{"shop.cn":{${fields}}}}`;

  it.each([
    ['broken off', `{\n  "profiles": {\n    "a": {"secret": "${secretText}`, 'line 3, column'],
    [
      'with a comma too many',
      `{"active":null,\n"profiles":{},}`,
      'invalid JSON at line 2, column 15',
    ],
    ['empty', '', 'invalid JSON'],
    ['not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'is not UTF-8'],
    ['a list', '[]', 'the file is not an object'],
    ['null', 'null', 'the file is not an object'],
    ['with profiles of another type', '{"profiles":[]}', 'profiles is not an object'],
    ['with an active profile of another type', '{"active":1,"profiles":{}}', 'active is not text'],
    ['with a bad name', '{"profiles":{"__proto__":{}}}', '"__proto__" is not a valid profile name'],
    [
      'with a field missing',
      inProfile('"environment":"test"'),
      'profile "shop.cn": base_url is missing',
    ],
    ['with a field of another type', inProfile('"environment":1'), 'environment is not text'],
    [
      'with a bad value',
      inProfile('"environment":"prod"'),
      'environment is neither test nor production',
    ],
    ['without a secret', inProfile(whole), 'profile "shop.cn": secret is missing'],
    [
      'with a relative path',
      inProfile(`${kept},"ca_file":"./ca.pem"`),
      'ca_file is not an absolute path',
    ],
    [
      'with an unknown secret',
      inProfile(`${whole},"secret":{"kind":"tpm"}`),
      'secret.kind must be file',
    ],
    [
      'with the secret where a name belongs',
      inProfile(`${whole},"secret":{"kind":"environment","name":"${secretText}"}`),
      'secret.name is not the name of an environment variable',
    ],
    [
      'with a header that is given twice',
      inProfile(`${kept},"headers":{"X-Key":"a","x-key":"b"}`),
      'profile "shop.cn": headers: "x-key" is given twice',
    ],
    [
      'with a recipe that says nothing sensible',
      inProfile(`${kept},"platform":{"signing":{"sign":{"steps":7}}}`),
      'profile "shop.cn": platform: signing: ',
    ],
  ])('(%s) is named with its fault and never written to', async (_, content, fault) => {
    const store = storeWith(content);
    const attempts = [
      () => store.load(),
      () => store.change((list) => addProfile(list, sampleProfile())),
      () => store.change((list) => removeProfile(list, 'shop.cn')),
    ];
    for (const attempt of attempts) {
      const error = await rejection(attempt());
      expect(error).toBeInstanceOf(ProfileFileError);
      expect(error.code).toBe('PROFILE_FILE');
      expect(error.message.startsWith(`${store.path}: `)).toBe(true);
      expect(error.message).toContain(fault);
      expect(error.message).not.toContain('\n');
      expect(error.hint).toBeTruthy();
      expect(inspect(error)).not.toContain(secretText);
    }
    expect(readFileSync(store.path)).toEqual(Buffer.from(content));
    expect(readdirSync(join(store.path, '..'))).toEqual(['profiles.json']);
  });

  const shop = (key: string) =>
    `"shop":{${whole.replace('"k"', key)},"secret":{"kind":"file","value":"s"}}`;
  it.each([
    ['two profiles of one name', `${shop('"k1"')},\n${shop('"k2"')}`],
    ['two environments', shop('"k1"').replace('{', '{"environment":"production",\n')],
  ])('by %s is neither read nor written: one of the two would be lost', async (_, profiles) => {
    const store = storeWith(`{"profiles":{${profiles}}}${' '.repeat(9_000)}`);
    expect((await rejection(store.get('shop'))).message).toContain('duplicate key at line 2');
    expect(
      (await rejection(store.change((list) => activateProfile(list, 'shop')))).message,
    ).toContain('duplicate key at line 2');
  });

  it('is not a file with a byte-order mark', async () => {
    expect(await storeWith('\ufeff{"profiles":{}}').list()).toEqual([]);
  });
});

describe('a file that cannot be read or written', () => {
  it('is reported if a file is at the path of the folder', async () => {
    const blocked = join(temporaryFolder(), 'file');
    writeFileSync(blocked, '');
    for (const folder of [blocked, join(blocked, 'userinfo')]) {
      const store = new ProfileStore(folder);
      const error = await rejection(store.change((list) => addProfile(list, sampleProfile())));
      expect(error).toBeInstanceOf(ProfileFileError);
      expect(error.message).toMatch(/profiles\.json: cannot be written: .*folder$/);
      const unread = await rejection(store.load());
      expect(unread.message).toMatch(/cannot be read: a part of the path is a file/);
      for (const { hint } of [error, unread] as ProfileFileError[])
        expect(hint).toBe('Set USERINFO_CONFIG_DIR to use another folder.');
    }
  });

  it('is reported if a folder is at the path of the file', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'profiles.json'));
    const store = new ProfileStore(folder);
    expect((await rejection(store.load())).message).toMatch(
      /profiles\.json: cannot be read: it is a folder/,
    );
    expect(
      await rejection(store.change((list) => addProfile(list, sampleProfile()))),
    ).toBeInstanceOf(ProfileFileError);
  });
});

describe('writing', () => {
  it('says what to remove where a command was killed while it wrote', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'profiles.json');
    writeFileSync(`${path}.lock`, '');
    const change = () => changeProfileFile(path, (list) => addProfile(list, sampleProfile()), 30);
    const error = await rejection(change());
    expect(error).toBeInstanceOf(ProfileFileError);
    expect(error.message).toBe(
      `another userinfo command changes the profiles: ${path}.lock is there`,
    );
    expect(readdirSync(folder)).toEqual(['profiles.json.lock']);
    execFileSync('sh', ['-c', error.commands?.[0] ?? '']);
    await change();
    expect(readdirSync(folder)).toEqual(['profiles.json']);
  });

  it.each([
    ['the file', { active: null, profiles: {}, region: 'cn' }],
    ['a profile', { profiles: { shop: { ...formatProfile(sampleProfile()), region: 'cn' } } }],
  ])(
    'does not change a file with an unknown field in %s, as of a newer version',
    async (_, json) => {
      const store = storeWith(JSON.stringify(json));
      await store.load();
      const error = await rejection(store.change((list) => ({ ...list, active: null })));
      expect(error).toBeInstanceOf(ProfileFileError);
      expect(error.message).toMatch(/profiles\.json: .* has the unknown field "region"$/);
      expect(readFileSync(store.path, 'utf8')).toBe(JSON.stringify(json));
    },
  );

  it('keeps a symbolic link whose target is missing, and creates no target', async () => {
    const [folder, disk] = [temporaryFolder(), temporaryFolder()];
    const target = join(disk, "o'clock", '$(touch PWN).json');
    symlinkSync(target, join(folder, 'profiles.json'));
    const store = new ProfileStore(folder);
    const change = () => store.change((list) => addProfile(list, sampleProfile()));
    for (const use of [change, () => store.load()]) {
      const error = await rejection(use());
      expect(error).toBeInstanceOf(ProfileFileError);
      expect(error.message).toBe(
        `${store.path}: is a symbolic link to ${target}, which does not exist`,
      );
      expect(error.hint).toContain('Mount the disk that holds it.');
      expect(lstatSync(store.path).isSymbolicLink()).toBe(true);
      expect([readdirSync(folder), readdirSync(disk)]).toEqual([['profiles.json'], []]);
    }
    // The disk is mounted, and the hint is pasted.
    mkdirSync(join(target, '..'));
    const { commands: [command = ''] = [] } = await rejection(store.load());
    execFileSync('sh', ['-c', command], { cwd: disk });
    await change();
    expect(readFileSync(target, 'utf8')).toContain('"shop"');
    expect(readdirSync(disk)).toEqual(["o'clock"]);
  });

  it.skipIf(process.geteuid?.() !== 0)(
    'keeps the owner of the file, as under sudo (needs root)',
    async () => {
      const store = storeWith('{}');
      chownSync(store.path, 1234, 2345);
      await store.change((list) => addProfile(list, sampleProfile()));
      expect(statSync(store.path)).toMatchObject({ uid: 1234, gid: 2345 });
      expect(mode(store.path)).toBe('600');
    },
  );

  it('writes through a symbolic link and keeps the link', async () => {
    const [folder, elsewhere] = [temporaryFolder(), temporaryFolder()];
    writeFileSync(join(elsewhere, 'shared.json'), '{"profiles":{}}');
    symlinkSync(join(elsewhere, 'shared.json'), join(folder, 'profiles.json'));
    await new ProfileStore(folder).change((list) => addProfile(list, sampleProfile()));
    expect(lstatSync(join(folder, 'profiles.json')).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(elsewhere, 'shared.json'), 'utf8')).toContain('"shop"');
    expect(readdirSync(elsewhere)).toEqual(['shared.json']);
    const linked = join(folder, 'linked');
    symlinkSync(elsewhere, linked);
    await new ProfileStore(linked).change((list) => addProfile(list, sampleProfile()));
    expect(lstatSync(linked).isSymbolicLink()).toBe(true);
    expect(readdirSync(elsewhere).sort()).toEqual(['profiles.json', 'shared.json']);
  });
});
