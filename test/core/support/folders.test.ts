import { userInfo } from 'node:os';
import { isAbsolute, resolve } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { configFolder, dataFolder } from '../../../src/core/support/folders.js';

const account = userInfo().homedir;

describe('configFolder', () => {
  it('is the folder in USERINFO_CONFIG_DIR', () => {
    expect(configFolder({ USERINFO_CONFIG_DIR: 'settings/here' })).toBe(resolve('settings/here'));
  });

  it('is a folder of the product if the variable is unset or empty', () => {
    expect(isAbsolute(configFolder({}))).toBe(true);
    expect(configFolder({ USERINFO_CONFIG_DIR: '' })).toBe(configFolder({}));
  });

  const homes: [Record<string, string | undefined>, string, string][] = [
    [{ XDG_CONFIG_HOME: '/c', XDG_DATA_HOME: '/d' }, '/c', '/d'],
    [{ HOME: '/h' }, '/h/.config', '/h/.local/share'],
    [{ HOME: '/h', XDG_CONFIG_HOME: 'c', XDG_DATA_HOME: '.' }, '/h/.config', '/h/.local/share'],
    [{ HOME: 'h' }, `${account}/.config`, `${account}/.local/share`],
    [{ HOME: '' }, `${account}/.config`, `${account}/.local/share`],
    [{ HOME: undefined }, `${account}/.config`, `${account}/.local/share`],
  ];

  // A relative one would be in the working folder, which may be somebody else's.
  it.runIf(process.platform === 'linux').each(homes)(
    'is with %j in %s, the data in %s (needs Linux)',
    (variables, config, data) => {
      const unset = { XDG_CONFIG_HOME: undefined, XDG_DATA_HOME: undefined };
      for (const [name, value] of Object.entries({ ...unset, ...variables }))
        vi.stubEnv(name, value);
      expect([configFolder({}), dataFolder()]).toEqual([`${config}/userinfo`, `${data}/userinfo`]);
      vi.unstubAllEnvs();
    },
  );
});
