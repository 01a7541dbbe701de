import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Machine } from '../../support/cli.js';
import { peakMemory } from './peak-memory.js';

/** Writes a file of so many rows, a user each. */
export async function writeRows(machine: Machine, file: string, rows: number): Promise<void> {
  const stream = createWriteStream(join(machine.folder, file));
  stream.write('union_id,level,mail\n');
  for (let i = 0; i < rows; i += 1) {
    if (!stream.write(`u${i},v${i},u${i}@example.com\n`)) await once(stream, 'drain');
  }
  stream.end();
  await once(stream, 'close');
}

/** A command that has ended, and the most memory that it took, in MB. */
export interface Measured {
  readonly stdout: string;
  readonly status: number | null;
  readonly peakMb: number;
}

/** Runs a command to its end, and watches its memory. */
export async function measure(child: ChildProcess): Promise<Measured> {
  let stdout = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr?.resume();
  child.stdin?.end();
  let peakMb = 0;
  const timer = setInterval(() => {
    peakMb = Math.max(peakMb, peakMemory(child.pid));
  }, 100);
  const [status] = (await once(child, 'close')) as [number | null];
  clearInterval(timer);
  return { stdout, status, peakMb };
}

/** Hands a file over as a run, and gives its name and the memory that took. */
export async function handOver(
  machine: Machine,
  file: string,
  queue: string,
  more: readonly string[] = [],
): Promise<Measured> {
  const args = ['-p', 'local', 'passback', '--from', file, '--queue', queue, '--quiet', ...more];
  const measured = await measure(machine.start(args));
  if (measured.status !== 0) throw new Error(`passback --queue ended with ${measured.status}`);
  return { ...measured, stdout: measured.stdout.trim() };
}

/** Waits until there is something to see. */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await wait(500);
}
