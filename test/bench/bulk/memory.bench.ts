import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Machine } from '../../support/cli.js';
import { anyApp, passBack } from './bulk-machine.js';
import { writeRows } from './rows.js';
import { startTrivialServer } from './trivial-server.js';

const few = 100_000;
const many = 3_000_000;

it('measures how much memory a run takes', { timeout: 3_600_000 }, async () => {
  using machine = new Machine();
  const server = await startTrivialServer();
  const peakOf = async (count: number) => {
    await writeRows(join(machine.folder, 'rows.csv'), count);
    return (await passBack(machine, 'rows.csv', { url: server.url, app: anyApp })).peakMemory;
  };
  const [ofFew, ofMany] = [await peakOf(few), await peakOf(many)];
  server.stop();
  const line = (count: number, peak: number) =>
    `  ${String(count).padStart(8)} rows  ${(peak / ofFew).toFixed(2)}  (${Math.round(peak)} MB)`;
  process.stdout.write(`\nPeak memory\n${line(few, ofFew)}\n${line(many, ofMany)}\n`);
  expect(ofMany).toBeGreaterThan(0);
});
