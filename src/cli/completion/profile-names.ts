// Apart from command-tree.ts: the TAB key loads this without the program.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isProfileName, profileFileName } from '../../profiles/profile-name.js';
import { configFolder } from '../../support/folders.js';
import type { Io } from '../io.js';

/**
 * The names of the profiles, for completion; none if the file cannot be read. The profiles are not validated: the
 * TAB key has to respond quickly.
 */
export function profileNames(env: Io['env']): string[] {
  try {
    const file = JSON.parse(readFileSync(join(configFolder(env), profileFileName), 'utf8'));
    return Object.keys(file.profiles).filter(isProfileName);
  } catch {
    return [];
  }
}
