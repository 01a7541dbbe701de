import { spawnSync } from 'node:child_process';
import { medianOf } from '../median.js';

/** A command line to be timed, from its start to its end. */
export interface TimedCommand {
  readonly name: string;
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Milliseconds of one run, or medians or minima of several. */
interface Times {
  readonly elapsed: number;
  /** User and system time of all threads. */
  readonly cpu: number;
}

export interface ProcessTimes {
  readonly name: string;
  readonly median: Times;
  readonly least: Times;
}

/** Times commands turn by turn, so that whatever else the machine does meets all of them. */
export function timeProcesses(commands: readonly TimedCommand[], turns: number): ProcessTimes[] {
  const runs = commands.map((): Times[] => []);
  for (let turn = 0; turn <= turns; turn++) {
    for (const [index, command] of commands.entries()) {
      const times = timeOnce(command);
      // The first turn fills the caches.
      if (turn > 0) runs[index]?.push(times);
    }
  }
  return commands.map(({ name }, index) => {
    const elapsed = runs[index]?.map((times) => times.elapsed) ?? [];
    const cpu = runs[index]?.map((times) => times.cpu) ?? [];
    return {
      name,
      median: { elapsed: medianOf(elapsed), cpu: medianOf(cpu) },
      least: { elapsed: Math.min(...elapsed), cpu: Math.min(...cpu) },
    };
  });
}

/** By bash, whose `time` knows what CPU time a child took. */
function timeOnce({ name, argv, env }: TimedCommand): Times {
  const script = 'TIMEFORMAT="%R %U %S"; time "$@" > /dev/null';
  const { status, stderr } = spawnSync('bash', ['-c', script, 'bash', ...argv], {
    env: { PATH: process.env.PATH, ...env },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${name} ended with ${status}: ${stderr}`);
  const [elapsed = 0, user = 0, system = 0] = (stderr.trim().split('\n').at(-1) ?? '')
    .split(' ')
    .map(Number);
  return { elapsed: elapsed * 1000, cpu: (user + system) * 1000 };
}
