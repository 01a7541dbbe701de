import { spawnSync } from 'node:child_process';

/** Whether a program is installed here. */
export function isProgram(name: string): boolean {
  return spawnSync('which', [name]).status === 0;
}
