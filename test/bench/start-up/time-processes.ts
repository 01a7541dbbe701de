import { spawnSync } from 'node:child_process';
import { medianOf } from '../median.js';

/** A command line to be timed, from its start to its end. */
export interface TimedCommand {
  readonly name: string;
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A command's measured time: the median of its runs, in milliseconds. */
export interface ProcessTime {
  readonly name: string;
  readonly ms: number;
}

/** Times commands turn by turn, so that whatever else the machine does meets all of them. */
export function timeProcesses(commands: readonly TimedCommand[], turns: number): ProcessTime[] {
  const runs = commands.map((): number[] => []);
  for (let turn = 0; turn <= turns; turn++) {
    for (const [index, command] of commands.entries()) {
      const ms = timeOnce(command);
      // The first turn fills the file cache.
      if (turn > 0) runs[index]?.push(ms);
    }
  }
  return commands.map(({ name }, index) => ({ name, ms: medianOf(runs[index] ?? []) }));
}

function timeOnce({ name, argv: [file = '', ...args], env }: TimedCommand): number {
  const startedAt = performance.now();
  const { status, stderr } = spawnSync(file, args, {
    env: { PATH: process.env.PATH, ...env },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${name} ended with ${status}: ${stderr}`);
  return performance.now() - startedAt;
}
