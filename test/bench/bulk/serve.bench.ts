import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openAdmin } from '../../../src/service/index.js';
import { Machine } from '../../support/cli.js';
import { startServiceProcesses } from '../../support/service-process.js';
import { medianOf } from '../median.js';
import { printRates } from '../print-rates.js';
import { runRows, runScript, type Target } from './bulk-machine.js';
import { unionId, writeRows } from './rows.js';

const counted = 20_000;
/** They take turns: what is stored already is written faster than what is new. */
const turns = 3;

it('measures bulk passback against our own service', async () => {
  using machine = new Machine();
  const folder = await mkdtemp(join(tmpdir(), 'userinfo-bench-'));
  const database = join(folder, 'bench.db');
  const [service] = await startServiceProcesses(database, 1);
  if (service === undefined) throw new Error('no service');
  const target: Target = { url: service.url, app: await prepare(database) };
  await writeRows(join(machine.folder, 'rows.csv'), counted);
  const rates = { bare: [] as number[], run: [] as number[] };
  for (let turn = 0; turn < turns; turn += 1) {
    const bare = await runScript('bare-undici.mjs', target, String(counted));
    const run = await runRows(machine, ['passback', '--from', 'rows.csv'], target);
    rates.bare.push(counted / bare.seconds);
    rates.run.push(counted / run.seconds);
  }
  printRates(
    `${counted} rows to userinfo serve on SQLite, on the same machine, medians of ${turns}`,
    { name: 'bare loop over undici', perSecond: medianOf(rates.bare) },
    { name: 'userinfo passback --from', perSecond: medianOf(rates.run) },
  );
  expect(medianOf(rates.run)).toBeGreaterThan(0);
  service.child.kill();
  await rm(folder, { recursive: true });
});

/** Stores the users of the rows, and makes an app. */
async function prepare(database: string): Promise<Target['app']> {
  const admin = await openAdmin({ database });
  const [tenantCode, channel] = ['acme', 'web'];
  const { app_key, app_secret } = await admin.createApp({ tenantCode, channel });
  const nothing = { tenant_code: tenantCode, basic_info: {}, extension_info: {}, login_device_info: [] };
  await admin.putUsers(Array.from({ length: counted }, (_, i) => ({ ...nothing, union_id: unionId(i) })));
  await admin.close();
  return [tenantCode, channel, app_key, app_secret.reveal()];
}
