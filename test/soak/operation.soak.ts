import { execFileSync } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openAdmin } from '../../src/service/index.js';
import { Secret } from '../../src/signing/secret.js';
import { PostgresServer } from '../support/postgres/postgres-server.js';
import { execute, query } from '../support/postgres/test-schema.js';
import { Operated, thisVersion } from './operated.js';

/** Another version's bin/userinfo.cjs, which a rolling restart replaces. */
const otherVersion = process.env.SOAK_OTHER_VERSION ?? thisVersion;

/** How long the load lasts before and after a fault, in milliseconds. */
const calmMs = 1500;

const faultMs = 6000;

/** Of the server; each service takes up to ten. */
const maxConnections = 40;

/** Prints a line of the table. Requests that succeed are `200`, and the second read with a code. */
function report(fault: string, { counts, doubled }: Operated, lost: number, recovery?: number): void {
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const { 200: ok = 0, 40106: _, ...others } = counts;
  const rest = Object.entries(others).map(([code, count]) => `${code}: ${count}`);
  process.stdout.write(
    `${fault.padEnd(36)} ${all} requests, ${ok} ok, ${rest.join(', ') || 'no other'}; lost ${lost}, doubled ${doubled}` +
      `${recovery === undefined ? '' : `; recovery ${(recovery / 1000).toFixed(2)} s`}\n`,
  );
}

/** Runs a fault under load: nothing acknowledged is lost, no code is used twice, and the service recovers. */
async function endure(operated: Operated, name: string, fault: () => Promise<void>): Promise<void> {
  await wait(calmMs);
  await fault();
  const recovery = await operated.recovery();
  await wait(calmMs);
  const lost = await operated.lost();
  report(name, operated, lost, recovery);
  expect([lost, operated.doubled]).toEqual([0, 0]);
  expect(operated.counts[200]).toBeGreaterThan(0);
}

/** Changes something under load: no request fails. */
async function changeUnnoticed(operated: Operated, name: string, change: () => Promise<void>): Promise<void> {
  await wait(calmMs);
  await change();
  await wait(calmMs);
  const lost = await operated.lost();
  report(name, operated, lost);
  expect([lost, operated.doubled]).toEqual([0, 0]);
  expect(Object.keys(operated.counts).filter((code) => !['200', '40106'].includes(code))).toEqual([]);
}

describe('PostgreSQL', () => {
  let server: PostgresServer;
  let schemas = 0;
  const settings = ['shared_buffers=64MB', `max_connections=${maxConnections}`];

  beforeAll(async () => {
    server = await PostgresServer.create(settings);
  });
  afterAll(() => server.remove());

  async function operate(programs: readonly string[], env = {}, on = server): Promise<Operated> {
    const schema = `soak${schemas++}`;
    await execute(on.url, `CREATE SCHEMA ${schema}`);
    const url = `${on.url}?options=${encodeURIComponent(`-c search_path=${schema}`)}`;
    const operated = new Operated(url, (statement) => query(url, statement));
    operated.env = env;
    await operated.start(programs);
    return operated;
  }
  const two = [thisVersion, thisVersion];
  const onServer = (statement: string) => execute(server.url, statement);
  const disconnect = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'`;

  it('two versions in a rolling restart', async () => {
    await using operated = await operate([otherVersion, otherVersion]);
    await changeUnnoticed(operated, 'rolling restart of two versions', async () => {
      for (const index of [0, 1]) await operated.replace(index, thisVersion);
    });
  });

  it('rotation of a secret', async () => {
    await using operated = await operate(two);
    await changeUnnoticed(operated, 'rotation of a secret', async () => {
      const admin = await openAdmin({ database: operated.database });
      const appKey = operated.app.app_key;
      const { app_secret } = await admin.rotateSecret({ appKey, overlapSeconds: 3600 });
      await wait(calmMs);
      operated.app = { ...operated.app, secret: app_secret.reveal() };
      // Requests that were signed before are answered.
      await wait(calmMs);
      await admin.retireSecret({ appKey });
      await admin.close();
    });
  });

  it('rotation of the master key', async () => {
    const [old, next] = ['1'.repeat(64), '2'.repeat(64)] as const;
    await using operated = await operate(two, { USERINFO_MASTER_KEY: old });
    await changeUnnoticed(operated, 'rotation of the master key', async () => {
      operated.env = { USERINFO_MASTER_KEY: `${next},${old}` };
      for (const index of [0, 1]) await operated.replace(index);
      const masterKeys = [new Secret(next), new Secret(old)];
      const admin = await openAdmin({ database: operated.database, masterKeys });
      expect(await admin.encryptSecrets()).toBe(1);
      await admin.close();
      operated.env = { USERINFO_MASTER_KEY: next };
      for (const index of [0, 1]) await operated.replace(index);
    });
  });

  const faults: Record<string, (operated: Operated) => Promise<void>> = {
    'kill -9 of a service, three times': async (operated) => {
      for (const index of [0, 1, 0]) await operated.crash(index);
    },
    'kill -9 of a backend': async () => {
      const [row] = await query(
        server.url,
        `SELECT pid FROM pg_stat_activity WHERE query LIKE '%nonces%' LIMIT 1`,
      );
      process.kill(Number(row?.pid), 'SIGKILL');
      // PostgreSQL ends all of them.
      await wait(calmMs / 5);
    },
    'kill -9 of PostgreSQL': async () => {
      await server.signal('SIGKILL');
      await server.stop();
      await server.start();
    },
    'restart of PostgreSQL': async () => {
      await server.stop();
      await server.start();
    },
    'PostgreSQL hangs': async () => {
      await server.signal('SIGSTOP');
      await wait(faultMs);
      await server.signal('SIGCONT');
    },
    'database read-only': async () => {
      await onServer('ALTER SYSTEM SET default_transaction_read_only = on');
      await onServer('SELECT pg_reload_conf()');
      await wait(faultMs / 2);
      await onServer('ALTER SYSTEM RESET default_transaction_read_only');
      await onServer('SELECT pg_reload_conf()');
    },
    'a table is locked': async (operated) => {
      const client = new Client(operated.database);
      await client.connect();
      await client.query('BEGIN; LOCK TABLE users IN ACCESS EXCLUSIVE MODE');
      await wait(faultMs);
      await client.end();
    },
    'no connection is left': async () => {
      const others: Client[] = [];
      // The services lose theirs, and reconnect while others take what there is.
      for (let round = 0; round < 5; round++) {
        const clients = Array.from({ length: maxConnections }, () => new Client(server.url));
        await Promise.all(
          clients.map((client) =>
            client
              .on('error', () => {})
              .connect()
              .then(
                () => others.push(client),
                () => {},
              ),
          ),
        );
        const [first] = others;
        await first?.query(`${disconnect} AND pid <> ALL ($1)`, [
          others.map((client) => Object(client).processID),
        ]);
      }
      await wait(faultMs / 2);
      for (const client of others) await client.end();
    },
    'a slow disk': async () => {
      for (const [name, value] of [
        ['commit_delay', 100_000],
        ['commit_siblings', 0],
      ]) {
        await onServer(`ALTER SYSTEM SET ${name} = ${value}`);
      }
      await onServer('SELECT pg_reload_conf()');
      await wait(faultMs / 2);
      await onServer('ALTER SYSTEM RESET ALL');
      await onServer('SELECT pg_reload_conf()');
    },
  };
  it.each(Object.entries(faults))('%s', async (name, fault) => {
    await using operated = await operate(two);
    await endure(operated, name, () => fault(operated));
  });

  it('its disk is full', async ({ skip }) => {
    const folder = mkdtempSync(join(tmpdir(), 'userinfo-disk-'));
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=200m,mode=1777', 'tmpfs', folder], {
        stdio: 'ignore',
      });
    } catch {
      rmSync(folder, { recursive: true });
      return skip('this takes the right to mount a file system');
    }
    const { TMPDIR } = process.env;
    process.env.TMPDIR = folder;
    const small = await PostgresServer.create([...settings, 'max_wal_size=64MB']);
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
    try {
      await using operated = await operate(two, {}, small);
      await endure(operated, "PostgreSQL's disk is full", async () => {
        const { bavail, bsize } = statfsSync(folder);
        writeFileSync(join(folder, 'large'), Buffer.alloc(bavail * bsize - 65_536));
        await wait(faultMs);
        rmSync(join(folder, 'large'));
      });
    } finally {
      await small.remove();
      execFileSync('umount', [folder]);
      rmSync(folder, { recursive: true });
    }
  });
});

describe('SQLite', () => {
  const sqlite = (file: string, statement: string) => {
    const database = new DatabaseSync(file, { timeout: 5000 });
    try {
      return database.prepare(statement).all() as Record<string, unknown>[];
    } finally {
      database.close();
    }
  };
  const faults: Record<string, (file: string, operated: Operated) => Promise<void>> = {
    'kill -9 of the service, three times': async (_, operated) => {
      for (const index of [0, 0, 0]) await operated.crash(index);
    },
    'SIGTERM of the service': async (_, operated) => operated.replace(0),
    'the file is locked': async (file) => {
      const other = new DatabaseSync(file, { timeout: 5000 });
      other.exec('BEGIN IMMEDIATE');
      await wait(faultMs);
      other.close();
    },
    'the file is moved and moved back': async (file) => {
      for (const end of ['', '-wal', '-shm']) renameSync(file + end, `${file}.moved${end}`);
      await wait(faultMs / 2);
      for (const end of ['', '-wal', '-shm']) renameSync(`${file}.moved${end}`, file + end);
    },
  };
  it.each(Object.entries(faults))('%s', async (name, fault) => {
    const folder = mkdtempSync(join(tmpdir(), 'userinfo-soak-'));
    const file = join(folder, 'soak.db');
    {
      await using operated = new Operated(file, async (statement) => sqlite(file, statement));
      await operated.start([thisVersion]);
      await endure(operated, `SQLite: ${name}`, () => fault(file, operated));
    }
    rmSync(folder, { recursive: true });
  });
});
