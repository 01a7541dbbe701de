import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  defaultMaxBodyBytes,
  maxPassbackKeys,
  maxRecordBytes,
} from '../../../src/core/contract/limits.js';
import { openAdmin } from '../../../src/service/index.js';
import { draftPassback } from '../../support/foreign-client.js';
import { PostgresServer } from '../../support/postgres/postgres-server.js';
import { tenant, user } from '../../support/running-service.js';
import { startServiceProcesses } from '../../support/service-process.js';
import { cpuSeconds } from './cpu-time.js';
import { load, sign } from './load.js';

const [keys, bytes, body] = [maxPassbackKeys, maxRecordBytes, defaultMaxBodyBytes];
/** Requests wait for each other where they change one user. */
const users = 100;
const warmUp = 300;
const counted = 300;

/** A `user_info` of all keys that it may have, and of all bytes of a record. */
function full(serial: number, text = 'x'): string {
  const width = Math.floor(((bytes - 200) / keys - 16) / Buffer.byteLength(text));
  const value = (key: number) => `${serial}`.padStart(width, text) + key;
  return JSON.stringify(
    Object.fromEntries(Array.from({ length: keys }, (_, key) => [`key${key}`, value(key)])),
  );
}

const shapes: Record<string, (serial: number) => string> = {
  'one value': (serial) => `{"key1":"${serial}"}`,
  'all values': (serial) => full(serial),
  'all values, in Chinese': (serial) => full(serial, '字'),
  'one value of all bytes': (serial) => `{"key1":"${`${serial}`.padStart(bytes / 2 - keys, 'y')}"}`,
  'one value of quotes': (serial) => `{"key1":"${serial}${'\\"'.repeat(bytes / 4)}"}`,
  'a body of spaces': (serial) => `{"key1":"${serial}"${' '.repeat(body - 1000)}}`,
};

it.skipIf(process.platform !== 'linux').each(['SQLite', 'PostgreSQL'])(
  'measures what the most costly passbacks cost: %s (needs Linux)',
  async (engine) => {
    const folder = mkdtempSync(join(tmpdir(), 'userinfo-costly-'));
    const server = engine === 'PostgreSQL' ? await PostgresServer.create() : null;
    try {
      await measure(engine, server?.url ?? join(folder, 'users.db'));
    } finally {
      await server?.remove();
      rmSync(folder, { recursive: true });
    }
  },
);

async function measure(engine: string, database: string): Promise<void> {
  const admin = await openAdmin({ database });
  const { app_secret, ...rest } = await admin.createApp({ tenantCode: tenant, channel: 'web' });
  const app = { ...rest, secret: app_secret.reveal() };
  const [service] = await startServiceProcesses(database, 1);
  const pid = service?.child.pid ?? 0;
  const cost: Record<string, number> = {};
  try {
    for (const [name, shape] of Object.entries(shapes)) {
      const extension_info = JSON.parse(name === 'one value' ? full(0) : shape(0));
      await admin.putUsers(
        Array.from({ length: users }, (_, i) => user(`u${i}`, { extension_info })),
      );
      const requests = (from: number, count: number) =>
        Array.from({ length: count }, (_, i) =>
          sign(draftPassback(app, { union_id: `u${i % users}`, user_info: shape(from + i) })),
        );
      await load([service?.url ?? ''], requests(0, warmUp));
      const measured = requests(warmUp, counted);
      const before = cpuSeconds(pid);
      await load([service?.url ?? ''], measured);
      cost[name] = (1000 * (cpuSeconds(pid) - before)) / counted;
      process.stdout.write(
        `${engine}: ${name.padEnd(25)} ${cost[name].toFixed(2)} ms, ${measured[0]?.body?.length} bytes\n`,
      );
    }
    expect(cost['one value']).toBeGreaterThan(0);
  } finally {
    service?.child.kill();
    await admin.close();
  }
}
