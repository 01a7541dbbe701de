import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { it } from 'vitest';
import { PostgresServer } from '../support/postgres/postgres-server.js';
import { query } from '../support/postgres/test-schema.js';
import { changeUnnoticed, Operated, runOnFile } from '../world/operated.js';
import { expectFlat, type ProcessSize, processSize } from './process-size.js';

const minutes = Number(process.env.SOAK_MINUTES ?? 10);

/** Less than 100 requests a second. */
const operation = { pauseMs: 400 };

it(`serves ${minutes} minutes at a steady rate: no request fails, memory and descriptors stay flat`, async () => {
  const server = await PostgresServer.create(['shared_buffers=64MB']);
  const folder = mkdtempSync(join(tmpdir(), 'userinfo-soak-'));
  const file = join(folder, 'soak.db');
  {
    await using onPostgres = new Operated(server.url, (sql) => query(server.url, sql), operation);
    await using onSqlite = new Operated(file, runOnFile(file), operation);
    const engines = Object.entries({ PostgreSQL: onPostgres, SQLite: onSqlite });
    for (const [, operated] of engines) await operated.start();
    await Promise.all(
      engines.map(([name, operated]) =>
        changeUnnoticed(operated, `${name}: ${minutes} min at a steady rate`, () =>
          stayFlat(operated, name),
        ),
      ),
    );
  }
  await server.remove();
  rmSync(folder, { recursive: true });
});

/** A process grows at first; it is judged after a third of the time. */
async function stayFlat({ instances: [instance] }: Operated, name: string): Promise<void> {
  const sizes: ProcessSize[] = [];
  for (let second = 0; second < minutes * 60; second += 1) {
    await wait(1000);
    if (second >= minutes * 20) sizes.push(processSize(instance?.child.pid ?? 0));
  }
  expectFlat(sizes, name);
}
