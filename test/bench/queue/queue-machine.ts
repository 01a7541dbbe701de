import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Machine } from '../../support/cli.js';
import { type ProcessUsage, usageOf } from './process-usage.js';

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

/** A command that has ended, and what it used. */
export interface Measured extends ProcessUsage {
  readonly stdout: string;
  readonly status: number | null;
}

/** Runs a command to its end, and watches what it uses. */
export async function measure(child: ChildProcess): Promise<Measured> {
  let stdout = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr?.resume();
  child.stdin?.end();
  let usage: ProcessUsage = { peakMb: 0, cpuMs: 0 };
  const timer = setInterval(() => {
    usage = usageOf(child.pid) ?? usage;
  }, 100);
  const [status] = (await once(child, 'close')) as [number | null];
  clearInterval(timer);
  return { stdout, status, ...usage };
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
