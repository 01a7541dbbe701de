import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isProfileName, profileFileName } from '../../profiles/profile-name.js';
import { configFolder } from '../../support/folders.js';
import type { Io } from '../io.js';

/**
 * The names of the profiles, for a shell that completes one; none where the file cannot be read. The profiles
 * themselves are not looked into: whoever presses the tab key should not wait for that.
 */
export function profileNames(env: Io['env']): string[] {
  try {
    const file = JSON.parse(readFileSync(join(configFolder(env), profileFileName), 'utf8'));
    return Object.keys(file.profiles).filter(isProfileName);
  } catch {
    return [];
  }
}
