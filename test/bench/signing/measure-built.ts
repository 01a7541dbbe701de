import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/**
 * Runs a script of this folder in a process of its own, on the program as it is built, and takes the two rates that
 * it prints: of the baseline, and of what is measured.
 */
export function measureBuilt(script: string, ...args: readonly string[]): [bare: number, measured: number] {
  return JSON.parse(
    execFileSync(process.execPath, [join(import.meta.dirname, script), ...args], { encoding: 'utf8' }),
  );
}
