import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { Machine } from '../support/cli.js';

/** A read that no service answers: it loads all that one needs, and compiles most of it. */
const read = ['read', 'c1', '--attempts', '1'];
const secret = 'a-secret-that-nothing-keeps';
const app = {
  USERINFO_BASE_URL: 'http://127.0.0.1:9',
  USERINFO_TENANT_CODE: 'acme',
  USERINFO_CHANNEL: 'web',
  USERINFO_APP_KEY: 'k1',
  USERINFO_APP_SECRET: secret,
};

let machine: Machine;
beforeEach(() => {
  machine = new Machine();
});
afterEach(() => machine[Symbol.dispose]());

const cache = () => join(machine.folder, 'cache');
const versions = () => join(cache(), 'userinfo', 'compiled');
const folder = () => join(versions(), packageJson.version, 'read');
const run = (env: Readonly<Record<string, string>> = {}) =>
  machine.run(read, { env: { ...app, XDG_CACHE_HOME: cache(), ...env } });
const kept = () => readdirSync(folder()).map((name) => [name, statSync(join(folder(), name)).ino] as const);

describe('the compile cache', () => {
  it('is written by the first run of a command, and taken whole by the next', async () => {
    const first = await run();
    const afterFirst = kept();
    expect(afterFirst.map(([name]) => name.replace(/-.*/, '')).sort()).toEqual(
      expect.arrayContaining(['client', 'program']),
    );
    expect(await run()).toEqual(first);
    expect(kept()).toEqual(afterFirst);
  });

  it('is made anew where a file in it is damaged, which changes nothing else', async () => {
    const first = await run();
    for (const [name] of kept()) {
      const file = join(folder(), name);
      const content = readFileSync(file);
      const middle = content.length >> 1;
      content.writeUInt8(content.readUInt8(middle) ^ 1, middle);
      writeFileSync(file, content);
    }
    const damaged = kept();
    expect(await run()).toEqual(first);
    for (const [name, inode] of kept()) expect(damaged).not.toContainEqual([name, inode]);
  });

  it('is left alone where another user could write, for what lies there is run', async () => {
    mkdirSync(folder(), { recursive: true });
    chmodSync(folder(), 0o777);
    await run();
    expect(kept()).toEqual([]);
  });

  it('can be turned off, and can be in a place that cannot be written', async () => {
    const { stderr } = await run({ NODE_DISABLE_COMPILE_CACHE: '1' });
    expect(() => statSync(cache())).toThrow('ENOENT');
    expect((await run({ XDG_CACHE_HOME: '/dev/null' })).stderr).toBe(stderr);
  });

  it('of another version is removed', async () => {
    mkdirSync(join(versions(), '0.0.1', 'read'), { recursive: true });
    await run();
    expect(readdirSync(versions())).toEqual([packageJson.version]);
  });

  it('holds nothing of what a command was given, and is for its user alone', async () => {
    await run();
    for (const [name] of kept()) {
      expect(readFileSync(join(folder(), name)).includes(secret)).toBe(false);
      expect(statSync(join(folder(), name)).mode & 0o077).toBe(0);
    }
    expect(statSync(folder()).mode & 0o077).toBe(0);
  });
});
