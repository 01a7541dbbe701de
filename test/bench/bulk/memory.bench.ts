import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { Machine } from '../../support/cli.js';
import { medianOf } from '../median.js';
import { anyApp, runRows } from './bulk-machine.js';
import { writeCodes, writeRows } from './rows.js';
import { startTrivialServer } from './trivial-server.js';

const few = 100_000;
const many = 3_000_000;
/**
 * Runs of few rows, of which the median counts: a short run meets fewer collections, and their
 * peaks differ by 15 %.
 */
const runsOfFew = 3;
/** What the many may take of what the few take. */
const maxGrowth = 1.15;
/** In MB. */
const most = 160;
/** Journal and results on, in all of them. */
const runs = [
  { name: 'bulk passback', command: 'passback', write: writeRows },
  { name: 'bulk read', command: 'read', write: writeCodes },
] as const;

it.each(runs)(
  'measures how much memory $name takes',
  { timeout: 3_600_000 },
  async ({ name, command, write }) => {
    using machine = new Machine();
    const server = await startTrivialServer();
    const target = { url: server.url, app: anyApp };
    const peakOf = async (count: number, times: number) => {
      await write(join(machine.folder, 'rows.csv'), count);
      const peaks: number[] = [];
      while (peaks.length < times) {
        peaks.push((await runRows(machine, ['bulk', command, 'rows.csv'], target)).peakMemory);
      }
      return medianOf(peaks);
    };
    const [ofFew, ofMany] = [await peakOf(few, runsOfFew), await peakOf(many, 1)];
    server.stop();
    const line = (count: number, peak: number) =>
      `  ${String(count).padStart(8)} rows  ${(peak / ofFew).toFixed(2)}  (${Math.round(peak)} MB)`;
    process.stdout.write(`\nPeak memory of ${name}\n${line(few, ofFew)}\n${line(many, ofMany)}\n`);
    expect(ofMany).toBeLessThan(Math.min(most, ofFew * maxGrowth));
  },
);

const calls = 100_000;
/** In MB: what the calls after the first third may leave behind. */
const maxLeft = 0.5;

it('measures what single calls leave in the heap', async () => {
  const server = await startTrivialServer();
  const script = join(import.meta.dirname, 'calls.mjs');
  const argv = ['--expose-gc', script, server.url, `${calls}`, '64'];
  const { stdout } = await promisify(execFile)(process.execPath, argv);
  server.stop();
  const heap = (JSON.parse(stdout) as number[]).map((bytes) => bytes / 1e6);
  const shown = heap.map((megabytes) => megabytes.toFixed(2)).join(', ');
  process.stdout.write(`\nHeap after each ${calls / 10} of ${calls} calls, in MB: ${shown}\n`);
  const early = Math.max(...heap.slice(0, 3));
  expect(Math.max(...heap.slice(3)) - early).toBeLessThan(maxLeft);
});
