import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Machine } from '../support/cli.js';

let machine: Machine;
let home: string;
let cache: string;
/** Where the program would have Node keep its compiled code. */
let enabled: string;
let preload: string;

beforeEach(() => {
  machine = new Machine();
  machine.apart = true;
  home = join(realpathSync(machine.folder), 'home');
  cache = join(home, 'cache');
  enabled = join(home, 'enabled');
  preload = join(home, 'preload.cjs');
  mkdirSync(cache, { recursive: true, mode: 0o755 });
  // Node 20 has no such function; what newer ones do with the folder is tested with the packed tarball.
  writeFileSync(
    preload,
    `require('node:module').enableCompileCache = (folder) => require('node:fs').writeFileSync(${JSON.stringify(enabled)}, folder);`,
  );
});
afterEach(() => machine[Symbol.dispose]());

/** The folder that a start of the program enables; undefined for none. */
async function enabledFolder(env: Readonly<Record<string, string>> = {}): Promise<string | undefined> {
  rmSync(enabled, { force: true });
  const given = { NODE_OPTIONS: `--require ${preload}`, XDG_CACHE_HOME: cache, ...env };
  const { status, stderr } = await machine.run(['profile', 'path'], { env: given });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return existsSync(enabled) ? readFileSync(enabled, 'utf8') : undefined;
}

describe('compiled code', () => {
  it("is kept in a folder of the user's own, in which nothing is deleted", async () => {
    const folder = join(cache, 'userinfo', 'compiled');
    expect(await enabledFolder()).toBe(folder);
    for (const made of [join(cache, 'userinfo'), folder]) expect(statSync(made).mode & 0o777).toBe(0o700);
    mkdirSync(join(folder, '0.0.1', 'read'), { recursive: true });
    expect(await enabledFolder()).toBe(folder);
    expect(readdirSync(folder)).toEqual(['0.0.1']);
  });

  it('is kept even if the folder for caches does not exist yet', async () => {
    rmSync(cache, { recursive: true });
    expect(await enabledFolder()).toBe(join(cache, 'userinfo', 'compiled'));
    expect(statSync(cache).mode & 0o777).toBe(0o700);
  });

  it.each(['', 'userinfo', 'userinfo/compiled'])('is never kept through a link at "%s"', async (part) => {
    const elsewhere = join(home, 'elsewhere');
    mkdirSync(join(elsewhere, '.ssh'), { recursive: true });
    writeFileSync(join(elsewhere, '.ssh', 'id'), 'a key');
    const link = join(cache, part);
    rmSync(link, { recursive: true, force: true });
    mkdirSync(join(link, '..'), { recursive: true, mode: 0o755 });
    symlinkSync(elsewhere, link);
    expect(await enabledFolder()).toBeUndefined();
    expect(readFileSync(join(elsewhere, '.ssh', 'id'), 'utf8')).toBe('a key');
  });

  it.each(['..', '', 'userinfo', 'userinfo/compiled'])(
    'is not kept if others can write to "%s"',
    async (part) => {
      const folder = join(cache, part);
      mkdirSync(folder, { recursive: true, mode: 0o755 });
      // Above the folder for caches, the user's private group may write.
      chmodSync(folder, part === '..' ? 0o757 : 0o770);
      expect(await enabledFolder()).toBeUndefined();
      chmodSync(folder, 0o755);
      expect(await enabledFolder()).toBe(join(cache, 'userinfo', 'compiled'));
    },
  );

  it('is kept below a folder with the sticky bit', async () => {
    chmodSync(home, 0o1777);
    expect(await enabledFolder()).toBe(join(cache, 'userinfo', 'compiled'));
  });

  it.runIf(process.geteuid?.() === 0).each(['..', '', 'userinfo', 'userinfo/compiled'])(
    'is not kept if another user owns "%s", as a home under sudo (needs root)',
    async (part) => {
      const folder = join(cache, part);
      mkdirSync(folder, { recursive: true, mode: 0o755 });
      chownSync(folder, 4002, 4002);
      expect(await enabledFolder()).toBeUndefined();
    },
  );

  it('can be disabled, and is optional if no folder can be created', async () => {
    expect(await enabledFolder({ NODE_DISABLE_COMPILE_CACHE: '1' })).toBeUndefined();
    expect(readdirSync(cache)).toEqual([]);
    expect(await enabledFolder({ XDG_CACHE_HOME: '/dev/null' })).toBeUndefined();
  });
});
