import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { builtModule } from '../../support/built-module.js';

/**
 * Runs a script of this folder in a process of its own, bundled as the program is, and takes the
 * two rates that it prints: of the baseline, and of what is measured.
 */
export async function measureBuilt(script: string): Promise<[bare: number, measured: number]> {
  const file = await builtModule(join(import.meta.dirname, script));
  return JSON.parse(execFileSync(process.execPath, [file], { encoding: 'utf8' }));
}
