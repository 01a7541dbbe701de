import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Machine } from '../../support/cli.js';
import { medianOf } from '../median.js';
import { printRates } from '../print-rates.js';
import type { ServerProcess } from '../service/bare-server.js';
import {
  anyApp,
  hasPythonModule,
  runRows,
  runScript,
  type Target,
  type Usage,
} from './bulk-machine.js';
import { writeRows } from './rows.js';
import { startTrivialServer } from './trivial-server.js';

/** So many that the start of a process weighs little. */
const counted = Number(process.env.USERINFO_BENCH_ROWS ?? 300_000);
const countedOfScript = 3_000;
/** They take turns, so that what else the machine does meets all of them. */
const turns = 5;

const machine = new Machine();
const file = join(machine.folder, 'rows.csv');
let server: ServerProcess;
let target: Target;

beforeAll(async () => {
  server = await startTrivialServer();
  target = { url: server.url, app: anyApp };
  await writeRows(file, counted);
  await writeRows(join(machine.folder, 'few.csv'), countedOfScript);
});

afterAll(() => {
  server.stop();
  machine[Symbol.dispose]();
});

const bareLoops = {
  csv: {
    name: 'bare loop, rows from the CSV file',
    run: () => runScript('bare-undici.mjs', target, file),
  },
  made: {
    name: 'bare loop, rows made on the fly',
    run: () => runScript('bare-undici.mjs', target, String(counted)),
  },
};

const comparisons = [
  {
    baseline: bareLoops.csv,
    name: 'userinfo bulk passback',
    run: () => runRows(machine, ['bulk', 'passback', file], target),
  },
  {
    baseline: bareLoops.csv,
    name: 'userinfo bulk passback --no-preflight',
    run: () => runRows(machine, ['bulk', 'passback', file, '--no-preflight'], target),
  },
  {
    baseline: bareLoops.made,
    name: 'passbackAll, rows made on the fly',
    run: () => runScript('sdk.mjs', target, String(counted)),
  },
];

it('measures bulk passback against a bare loop over undici', { timeout: 3_600_000 }, async () => {
  const measured = new Map<string, Usage[]>();
  for (let turn = 0; turn < turns; turn += 1) {
    for (const { name, run } of [...Object.values(bareLoops), ...comparisons]) {
      measured.set(name, [...(measured.get(name) ?? []), await run()]);
    }
  }
  const usagesOf = ({ name }: { readonly name: string }) => measured.get(name) ?? [];
  const ratioTo = (
    baseline: readonly Usage[],
    usages: readonly Usage[],
    key: 'seconds' | 'cpuSeconds',
  ) => medianOf(usages.map((usage, turn) => usage[key] / (baseline[turn]?.[key] ?? Number.NaN)));
  const lines = Object.values(bareLoops).map((loop) => describe(loop.name, usagesOf(loop), 1, 1));
  for (const { baseline, ...ours } of comparisons) {
    const [bare, usages] = [usagesOf(baseline), usagesOf(ours)];
    const rate = 1 / ratioTo(bare, usages, 'seconds');
    const cpu = ratioTo(bare, usages, 'cpuSeconds');
    lines.push(describe(ours.name, usages, rate, cpu));
  }
  const title = `${counted} rows to a trivial server, whole processes, medians of ${turns} turns`;
  process.stdout.write(`\n${[title, ...lines].join('\n')}\n`);
});

/**
 * One line: rows a second and CPU time a row, each with what it is of the baseline's in the same
 * turn.
 */
function describe(name: string, usages: readonly Usage[], rate: number, cpu: number): string {
  const median = (key: keyof Usage) => medianOf(usages.map((usage) => usage[key]));
  const perSecond = `${rate.toFixed(2)} (${Math.round(counted / median('seconds'))} rows/s)`;
  const perRow = `${cpu.toFixed(2)} (${((median('cpuSeconds') / counted) * 1e6).toFixed(1)} µs of CPU a row)`;
  return `  ${name.padEnd(40)}  ${perSecond.padEnd(22)}  ${perRow}  ${Math.round(median('peakMemory'))} MB`;
}

const libraries = ['requests', 'urllib'].filter(hasPythonModule);

it.each(libraries)(
  'measures bulk passback against the script that people write with %s',
  async (library) => {
    const path = join(machine.folder, 'few.csv');
    const script = await runScript('requests_script.py', target, path, library);
    const run = await runRows(machine, ['bulk', 'passback', file], target);
    printRates(
      'Rows to a trivial server',
      {
        name: `Python: thread pool, a connection a row (${library})`,
        perSecond: countedOfScript / script.seconds,
      },
      { name: 'userinfo bulk passback', perSecond: counted / run.seconds },
    );
    expect(run.seconds).toBeGreaterThan(0);
  },
);
