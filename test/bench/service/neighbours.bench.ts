import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { openAdmin } from '../../../src/service/index.js';
import { tenant, user } from '../../support/running-service.js';
import { startServiceProcesses } from '../../support/service-process.js';

const shapes = [
  'one key',
  '1,000 values replaced',
  'one key of 200 kB replaced',
  '1 MB of quotes',
  '1 MB of keys',
  '1 MB of spaces',
];
/** Number of requests that the first app keeps unanswered. */
const connections = 64;
/** Number of small passbacks of the second app, a second. */
const perSecond = 25;
const seconds = 6;

it('measures an app beside one with costly requests, on SQLite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'userinfo-bench-'));
  const database = join(folder, 'bench.db');
  const admin = await openAdmin({ database });
  const newApp = async () => {
    const { app_secret, ...app } = await admin.createApp({ tenantCode: tenant, channel: 'web' });
    return { ...app, secret: app_secret.reveal() };
  };
  const [first, second] = [await newApp(), await newApp()];
  const usersOf = (shape: string) => Array.from({ length: connections }, (_, index) => `${shape} ${index}`);
  await admin.putUsers([...shapes.flatMap(usersOf), 'b'].map((unionId) => user(unionId)));
  await admin.close();
  const [service] = await startServiceProcesses(database, 1);
  const start = (settings: object) =>
    spawn(process.execPath, [join(import.meta.dirname, 'flood.mjs'), JSON.stringify(settings)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  const url = service?.url;
  const measure = async (title: string) => {
    const small = { url, app: second, users: ['b'], shape: 'one key', connections: 64, perSecond, seconds };
    const { latencies, codes } = JSON.parse(await text(start(small).stdout));
    latencies.sort((one: number, other: number) => one - other);
    const at = (share: number) =>
      latencies[Math.floor((latencies.length - 1) * share)].toFixed(0).padStart(5);
    expect(Object.keys(codes)).toEqual(['200']);
    return `${title.padEnd(34)} p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`;
  };
  const lines = ['Small passbacks of an app', await measure('  alone')];
  for (const shape of shapes) {
    const flood = start({ url, app: first, users: usersOf(shape), shape, connections });
    const printed = text(flood.stdout);
    await wait(1000);
    lines.push(await measure(`  beside ${shape}`));
    flood.kill();
    const { codes } = JSON.parse(await printed);
    lines.push(`    ${JSON.stringify(codes)} answered to the other`);
  }
  process.stdout.write(`${lines.join('\n')}\n`);
  service?.child.kill();
  await rm(folder, { recursive: true });
});
