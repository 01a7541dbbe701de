import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Machine } from '../../support/cli.js';
import { medianOf } from '../median.js';
import { printRates } from '../print-rates.js';
import type { ServerProcess } from '../service/bare-server.js';
import { anyApp, hasPythonModule, passBack, runScript, type Target } from './bulk-machine.js';
import { writeRows } from './rows.js';
import { startTrivialServer } from './trivial-server.js';

/** As many as a run is worth preparing for: its start weighs little. */
const counted = Number(process.env.USERINFO_BENCH_ROWS ?? 300_000);
const countedOfScript = 3_000;
/** They take turns, so that what else the machine does meets all of them. */
const turns = 5;

const machine = new Machine();
let server: ServerProcess;
let target: Target;

beforeAll(async () => {
  server = await startTrivialServer();
  target = { url: server.url, app: anyApp };
  await writeRows(join(machine.folder, 'rows.csv'), counted);
  await writeRows(join(machine.folder, 'few.csv'), countedOfScript);
});

afterAll(() => {
  server.stop();
  machine[Symbol.dispose]();
});

it('measures bulk passback against a bare pool of connections', { timeout: 3_600_000 }, async () => {
  const rates = { bare: [] as number[], run: [] as number[], inAll: [] as number[], sdk: [] as number[] };
  for (let turn = 0; turn < turns; turn += 1) {
    rates.bare.push(await runScript('bare-undici.mjs', target, String(counted)));
    const { perSecond, perSecondInAll } = await passBack(machine, 'rows.csv', target);
    rates.run.push(perSecond);
    rates.inAll.push(perSecondInAll);
    rates.sdk.push(await runScript('sdk.mjs', target, String(counted)));
  }
  printRates(
    `${counted} rows to a trivial server, medians of ${turns}`,
    { name: 'bare undici pool, signed beforehand', perSecond: medianOf(rates.bare) },
    { name: 'userinfo passback --from, while it sends', perSecond: medianOf(rates.run) },
    { name: 'the same, start and preflight included', perSecond: medianOf(rates.inAll) },
    { name: 'passbackAll', perSecond: medianOf(rates.sdk) },
  );
  expect(medianOf(rates.run)).toBeGreaterThan(0);
});

const libraries = ['requests', 'urllib'].filter(hasPythonModule);

it.each(libraries)('measures bulk passback against the script that people write with %s', async (library) => {
  const path = join(machine.folder, 'few.csv');
  const script = await runScript('requests_script.py', target, path, library);
  const { perSecond } = await passBack(machine, 'rows.csv', target);
  printRates(
    'Rows to a trivial server',
    { name: `Python: thread pool, a connection a row (${library})`, perSecond: script },
    { name: 'userinfo passback --from', perSecond },
  );
  expect(perSecond).toBeGreaterThan(0);
});
