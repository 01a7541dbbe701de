import { isAbsolute, resolve } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { configFolder, dataFolder } from '../../src/support/folders.js';

describe('configFolder', () => {
  it('is the folder in USERINFO_CONFIG_DIR', () => {
    expect(configFolder({ USERINFO_CONFIG_DIR: 'settings/here' })).toBe(resolve('settings/here'));
  });

  it('is a folder of the product if the variable is unset', () => {
    expect(isAbsolute(configFolder({}))).toBe(true);
    expect(configFolder({ USERINFO_CONFIG_DIR: '' })).toBe(configFolder({}));
    const folders = [configFolder({}), dataFolder()];
    expect(new Set(folders).size).toBe(2);
    for (const folder of folders) expect(folder).toContain('userinfo');
  });

  it.runIf(process.platform === 'linux')('is that of the XDG base directories (needs Linux)', () => {
    vi.stubEnv('XDG_CONFIG_HOME', '/c');
    vi.stubEnv('XDG_DATA_HOME', '/d');
    expect([configFolder({}), dataFolder()]).toEqual(['/c/userinfo', '/d/userinfo']);
    vi.unstubAllEnvs();
  });
});
