import { isAbsolute, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { configFolder, dataFolder } from '../../src/support/folders.js';

describe('configFolder', () => {
  it('is the folder in USERINFO_CONFIG_DIR', () => {
    expect(configFolder({ USERINFO_CONFIG_DIR: 'settings/here' })).toBe(resolve('settings/here'));
  });

  it('is a folder of the product if the variable is unset', () => {
    expect(isAbsolute(configFolder({}))).toBe(true);
    expect(configFolder({ USERINFO_CONFIG_DIR: '' })).toBe(configFolder({}));
    expect(configFolder({})).toContain('userinfo');
    expect(dataFolder()).toContain('userinfo');
  });
});
