import {
  chmodSync,
  chownSync,
  cpSync,
  lchownSync,
  mkdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { loadSigners } from '../../../src/core/profiles/load-signers.js';
import { defaultRecipes } from '../../../src/core/signing/presets.js';
import { Secret } from '../../../src/core/signing/secret.js';
import { rejection } from '../../support/rejection.js';
import { temporaryFolder } from './fixtures.js';

const request = { method: 'GET', url: 'https://e.com', params: [], body: null, extra: {} };
const secret = new Secret('s3cret');

/** A folder with a module in it that gives `digest`. */
function moduleFolder(digest: string, name = 'signer.mjs'): string {
  const folder = temporaryFolder();
  writeFileSync(
    join(folder, name),
    `export const sign = () => ({ digest: '${digest}' });\nexport const app_sign = () => ({ digest: 'app-${digest}' });\n`,
  );
  return folder;
}

test('a module signs what it has a function for, the recipes the rest', async () => {
  const both = await loadSigners(defaultRecipes, join(moduleFolder('d1'), 'signer.mjs'));
  expect(both.signers.app_sign.sign(request, secret).digest).toBe('app-d1');
  expect(both.signers.sign.sign(request, secret).digest).toBe('d1');
  expect(both.recipes).toEqual({ app_sign: null, sign: null });
  const folder = temporaryFolder();
  for (const [name, other] of [
    ['sign', 'app_sign'],
    ['app_sign', 'sign'],
  ] as const) {
    const file = join(folder, `${name}.mjs`);
    writeFileSync(file, `export const ${name} = () => ({ digest: 'd2' });`);
    const { signers, recipes } = await loadSigners(defaultRecipes, file);
    expect(signers[name].sign(request, secret).digest).toBe('d2');
    expect(signers[other].digestLength).toBe(32);
    expect(recipes).toEqual({ [name]: null, [other]: defaultRecipes[other] });
  }
  writeFileSync(join(folder, 'none.mjs'), 'export const other = 1;');
  const none = await rejection(loadSigners(defaultRecipes, join(folder, 'none.mjs')));
  expect(none.message).toContain('has no function sign');
});

describe('a module is refused', () => {
  const load = async (folder: string, module = 'signer.mjs') =>
    rejection(loadSigners(defaultRecipes, join(folder, module)));

  it.each([[0o664], [0o646], [0o666], [0o1666]])('that others can write: mode %o', async (mode) => {
    const folder = moduleFolder('d2');
    chmodSync(join(folder, 'signer.mjs'), mode);
    const error = await load(folder);
    expect(error.name).toBe('SigningModuleError');
    expect(error.message).toContain('is writable by other users');
  });

  it('that is no file, as a folder or a pipe', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'signer.mjs'));
    expect((await load(folder)).message).toContain('is not a regular file');
  });

  it('whose folder others can write', async () => {
    const folder = moduleFolder('d3');
    chmodSync(folder, 0o777);
    expect((await load(folder)).message).toContain(`${folder} is writable by other users`);
  });

  it('whose folder is in one that others can write', async () => {
    const above = temporaryFolder();
    cpSync(moduleFolder('d4'), join(above, 'mine'), { recursive: true });
    chmodSync(above, 0o777);
    expect((await load(join(above, 'mine'))).message).toContain(
      `${above} is writable by other users`,
    );
    chmodSync(above, 0o1777); // as /tmp
    const { signers } = await loadSigners(defaultRecipes, join(above, 'mine', 'signer.mjs'));
    expect(signers.sign.sign(request, secret).digest).toBe('d4');
    chmodSync(above, 0o775);
    const { uid, gid } = statSync(above);
    const outcome = loadSigners(defaultRecipes, join(above, 'mine', 'signer.mjs'));
    if (uid === gid)
      expect(await outcome).toBeTruthy(); // the group of this user alone
    else
      expect((await rejection(outcome)).message).toContain(`${above} is writable by other users`);
  });

  // Only root can make files of others.
  describe.skipIf(process.geteuid?.() !== 0)('as belonging to another user (needs root):', () => {
    const other = 4002;
    const refusal = (path: string) => `${path} belongs to another user (uid ${other})`;

    it('the file', async () => {
      const folder = moduleFolder('d5');
      chownSync(join(folder, 'signer.mjs'), other, other);
      expect((await load(folder)).message).toContain(refusal(join(folder, 'signer.mjs')));
    });

    it('its folder, or one above, though only that user can write there', async () => {
      const above = temporaryFolder();
      cpSync(moduleFolder('d6'), join(above, 'mine'), { recursive: true });
      for (const folder of [join(above, 'mine'), above]) {
        chownSync(folder, other, other);
        expect((await load(join(above, 'mine'))).message).toContain(refusal(folder));
        chownSync(folder, 0, 0);
      }
      chmodSync(above, 0o775);
      chownSync(above, 0, other);
      expect((await load(join(above, 'mine'))).message).toContain(
        `${above} is writable by other users`,
      );
      chownSync(above, 0, 0);
      expect(await loadSigners(defaultRecipes, join(above, 'mine', 'signer.mjs'))).toBeTruthy();
    });

    it('a link, or the folder of a link that a link leads to', async () => {
      const [folder, theirs] = [moduleFolder('d7'), temporaryFolder()];
      symlinkSync(join(folder, 'signer.mjs'), join(folder, 'own.mjs'));
      expect(await loadSigners(defaultRecipes, join(folder, 'own.mjs'))).toBeTruthy();
      symlinkSync('./signer.mjs', join(folder, 'link.mjs'));
      lchownSync(join(folder, 'link.mjs'), other, other);
      expect((await load(folder, 'link.mjs')).message).toContain(refusal(join(folder, 'link.mjs')));
      symlinkSync(join(folder, 'signer.mjs'), join(theirs, 'back.mjs'));
      symlinkSync(join(theirs, 'back.mjs'), join(folder, 'far.mjs'));
      chownSync(theirs, other, other);
      expect((await load(folder, 'far.mjs')).message).toContain(refusal(theirs));
    });
  });

  it('that is not there, or that has a fault', async () => {
    const folder = temporaryFolder();
    expect((await load(folder)).message).toContain(
      'signer.mjs cannot be read: no such file or folder',
    );
    mkdirSync(join(folder, 'bad'));
    writeFileSync(join(folder, 'bad', 's.mjs'), 'throw new TypeError("boom");');
    expect((await load(folder, 'bad/s.mjs')).message).toContain(
      'cannot be loaded: TypeError: boom',
    );
  });
});
