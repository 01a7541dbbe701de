import { isAbsolute, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { configFolder, dataFolder } from '../../src/support/folders.js';

describe('configFolder', () => {
  it('is the one that USERINFO_CONFIG_DIR names', () => {
    expect(configFolder({ USERINFO_CONFIG_DIR: 'settings/here' })).toBe(resolve('settings/here'));
  });

  it('is a folder of our own where it names none', () => {
    expect(isAbsolute(configFolder({}))).toBe(true);
    expect(configFolder({ USERINFO_CONFIG_DIR: '' })).toBe(configFolder({}));
    expect(configFolder({})).toContain('userinfo');
    expect(dataFolder()).toContain('userinfo');
  });
});
