import { expect, it } from 'vitest';
import { PostgresServer } from '../../support/postgres/postgres-server.js';
import { query } from '../../support/postgres/test-schema.js';
import { startServiceProcesses } from '../../support/service-process.js';
import { cpuSeconds, databaseCpuSeconds } from './cpu-time.js';
import { load } from './load.js';
import { prepareStore } from './prepared-store.js';

const warmUp = 1000;
const counted = 8000;
// The figures of docs/growth.md#capacity.
it.skipIf(process.platform !== 'linux')(
  'measures what a request costs on PostgreSQL (needs Linux)',
  async () => {
    const server = await PostgresServer.create(['shared_buffers=256MB', 'max_wal_size=4GB']);
    const store = await prepareStore(server.url);
    const bytes = await number(
      "SELECT pg_total_relation_size('users') + pg_total_relation_size('user_values')",
    );
    print(`a user that can be found by two values: ${bytes / store.users} bytes`);
    const reads = await Promise.all([store.reads(warmUp), store.reads(counted)]);
    const passbacks = [store.passbacks(warmUp), store.passbacks(counted)] as const;
    const [service] = await startServiceProcesses(server.url, 1);

    for (const [name, [first, requests]] of Object.entries({ read: reads, passback: passbacks })) {
      await load([service?.url ?? ''], first);
      const before = await usage();
      const perSecond = await load([service?.url ?? ''], requests);
      const after = await usage();
      const each = (from: number, to: number) => (to - from) / counted;
      print(
        `a ${name}: ${(1000 * each(before.service, after.service)).toFixed(2)} ms of a core in the service, ` +
          `${(1000 * each(before.database, after.database)).toFixed(2)} ms in the database, ` +
          `${each(before.log, after.log).toFixed(0)} bytes of write-ahead log (${perSecond.toFixed(0)}/s)`,
      );
      expect(after.service).toBeGreaterThan(before.service);
    }
    service?.child.kill();
    await store.close();
    await server.remove();

    async function number(statement: string): Promise<number> {
      return Number(Object.values((await query(server.url, statement))[0] ?? {})[0]);
    }

    async function usage() {
      return {
        service: cpuSeconds(service?.child.pid ?? 0),
        database: await databaseCpuSeconds(server.url),
        log: await number("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')"),
      };
    }
  },
);

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
