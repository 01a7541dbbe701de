import { expect, it } from 'vitest';
import { openAdmin } from '../../../src/service/index.js';
import { draftPassback } from '../../support/foreign-client.js';
import { PostgresServer } from '../../support/postgres/postgres-server.js';
import { tenant, user } from '../../support/running-service.js';
import { startServiceProcesses } from '../../support/service-process.js';
import { cpuSeconds } from './cpu-time.js';
import { load, sign } from './load.js';

const [keys, bytes, body] = [
  Number(process.env.KEYS ?? 256),
  Number(process.env.BYTES ?? 65_536),
  Number(process.env.BODY ?? 262_144),
];
const counted = 800;

/** A `user_info` of all keys that a record may have, and of all its bytes. */
function full(serial: number, text = 'x'): string {
  const width = Math.floor((bytes - 200) / keys) - 16;
  const value = (key: number) => `${serial}`.padStart(width, text) + key;
  return JSON.stringify(
    Object.fromEntries(Array.from({ length: keys }, (_, key) => [`key${key}`, value(key)])),
  );
}

const shapes: Record<string, (serial: number) => string> = {
  'one value': (serial) => `{"key1":"${serial}"}`,
  'all values': (serial) => full(serial),
  'all values, in Chinese': (serial) => full(serial, '字'.repeat(1)).slice(0),
  'one value of all bytes': (serial) => `{"key1":"${`${serial}`.padStart(bytes / 2 - keys, 'y')}"}`,
  'a body of quotes': (serial) => `{"key1":"${serial}${'\\"'.repeat(Math.floor(body / 6) - 500)}"}`,
  'a body of spaces': (serial) => `{"key1":"${serial}"${' '.repeat(body - 1000)}}`,
};

it.skipIf(process.platform !== 'linux').each(['SQLite', 'PostgreSQL'])(
  'measures what the most costly passbacks cost: %s (needs Linux)',
  async (engine) => {
    const server = engine === 'PostgreSQL' ? await PostgresServer.create() : null;
    const database = server?.url ?? `/tmp/costly-${process.pid}.db`;
    const admin = await openAdmin({ database });
    const { app_secret, ...rest } = await admin.createApp({ tenantCode: tenant, channel: 'web' });
    const app = { ...rest, secret: app_secret.reveal() };
    const [service] = await startServiceProcesses(database, 1);
    const pid = service?.child.pid ?? 0;
    const codes: Record<string, number> = {};
    for (const [name, shape] of Object.entries(shapes)) {
      await admin.putUser(user('u1', { extension_info: JSON.parse(full(0)) }));
      const requests = Array.from({ length: counted }, (_, serial) =>
        sign(draftPassback(app, { union_id: 'u1', user_info: shape(serial) })),
      );
      const run = (some: typeof requests) =>
        load([service?.url ?? ''], some).catch((error) =>
          process.stdout.write(`${String(error).slice(0, 200)}\n`),
        );
      await run(requests.slice(0, 500));
      const before = cpuSeconds(pid);
      await run(requests.slice(500));
      codes[name] = (1000 * (cpuSeconds(pid) - before)) / (counted - 500);
      process.stdout.write(
        `${engine}: ${name.padEnd(25)} ${codes[name].toFixed(2)} ms, ${requests[0]?.body?.length} bytes\n`,
      );
    }
    expect(codes['one value']).toBeGreaterThan(0);
    service?.child.kill();
    await admin.close();
    await server?.remove();
  },
);
