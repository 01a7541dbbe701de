import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { Client } from 'pg';
import { expect, it } from 'vitest';
import type { UserRecord } from '../../../src/core/contract/user-record.js';
import { Machine } from '../../support/cli.js';
import { PostgresServer } from '../../support/postgres/postgres-server.js';
import { tenant, user } from '../../support/running-service.js';
import { printRates } from '../print-rates.js';

const users = 100_000;
/** As the import does: rows of a transaction, in the order of their keys. */
const batchSize = 5000;
/** Clock ticks a second of /proc/<pid>/stat. */
const ticksPerSecond = 100;

/** Eight fields; users can be found by two of them. */
const records = Array.from({ length: users }, (_, i): UserRecord => {
  const number = (i * 7919) % users;
  const device = {
    brand: 'acme',
    os: 'android',
    os_version: '14',
    network: 'wifi',
    country: '中国',
    city: '上海',
  };
  return user(`u${createHash('md5').update(String(number)).digest('hex').slice(0, 12)}`, {
    basic_info: { mobile: String(13_800_000_000 + number), chat_open_id: `o${number}xyzzyplugh` },
    login_device_info: [device],
  });
});

/** The rows of each transaction: those of `users`, and those of `user_values`. */
const batches = Array.from({ length: users / batchSize }, (_, batch) => {
  const together = records.slice(batch * batchSize, (batch + 1) * batchSize);
  const digest = (pair: readonly string[]) =>
    createHash('sha256').update(pair.join('\0')).digest('base64url');
  const values = together.flatMap(({ union_id, basic_info }) =>
    Object.entries(basic_info).map((pair) => [tenant, digest(pair), union_id]),
  );
  return {
    users: together.map((record) => [tenant, record.union_id, JSON.stringify(record)]).sort(by(1)),
    values: values.sort(by(1)),
  };
});

it('measures an import into PostgreSQL', async () => {
  const server = await PostgresServer.create(['shared_buffers=256MB', 'max_wal_size=4GB']);
  using machine = new Machine();
  machine.database = server.url;
  await machine.run(['admin', 'migrate', '--database', server.url]);
  const bare = await timed(async () => {
    const client = new Client(server.url);
    await client.connect();
    const insert = (table: string, columns: string, rows: readonly (readonly string[])[]) =>
      client.query({
        name: table,
        text: `INSERT INTO ${table} SELECT ${columns} FROM unnest($1::text[], $2::text[], $3::text[]) AS given (a, b, c)`,
        values: [0, 1, 2].map((column) => rows.map((row) => row[column])),
      });
    for (const batch of batches) {
      await client.query('BEGIN');
      await insert('users', 'a, b, c, 1', batch.users);
      await insert('user_values', 'a, b, c', batch.values);
      await client.query('COMMIT');
    }
    await client.query('TRUNCATE users, user_values');
    await client.end();
  });
  await compare('PostgreSQL: INSERT … SELECT … FROM unnest', bare, machine);
  await server.remove();
});

it('measures an import into SQLite', async () => {
  using machine = new Machine();
  const file = join(machine.folder, 'bare.db');
  await machine.run(['admin', 'migrate', '--database', file]);
  const bare = await timed(async () => {
    const database = new DatabaseSync(file);
    database.exec('PRAGMA synchronous = FULL; PRAGMA secure_delete = ON');
    const addUser = database.prepare('INSERT INTO users VALUES (?, ?, ?, 1)');
    const addValue = database.prepare('INSERT INTO user_values VALUES (?, ?, ?)');
    for (const batch of batches) {
      database.exec('BEGIN');
      for (const row of batch.users) addUser.run(...row);
      for (const row of batch.values) addValue.run(...row);
      database.exec('COMMIT');
    }
    database.close();
  });
  await compare('SQLite: INSERT, prepared', bare, machine);
});

/** Imports all users by the command, its start included. */
async function compare(baseline: string, bareSeconds: number, machine: Machine): Promise<void> {
  const file = join(machine.folder, 'users.ndjson');
  machine.apart = true;
  await writeFile(file, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  const before = childrenCpuSeconds();
  const seconds = await timed(async () => {
    const done = await machine.run(['admin', 'user', 'put', file, '--database', machine.database]);
    expect(done).toMatchObject({ status: 0, stderr: `put ${users} users\n` });
  });
  const cpu = (1e6 * (childrenCpuSeconds() - before)) / users;
  await rm(file);
  printRates(
    `An import of ${users} users`,
    { name: baseline, perSecond: users / bareSeconds },
    { name: `admin user put, ${cpu.toFixed(0)} µs of a core a user`, perSecond: users / seconds },
  );
}

async function timed(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}

/** CPU time of the children of this process that ended. */
function childrenCpuSeconds(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[13]) + Number(fields[14])) / ticksPerSecond;
}

function by(column: number) {
  return (one: readonly string[], other: readonly string[]) =>
    (one[column] ?? '') < (other[column] ?? '') ? -1 : 1;
}
