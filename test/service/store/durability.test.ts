import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openAdmin } from '../../../src/service/index.js';
import { printedBy } from '../../support/cli.js';
import { draftPassback, fetchAnswer, send } from '../../support/foreign-client.js';
import { createAppKeys, tenant, user } from '../../support/running-service.js';
import { ServedMachine } from '../../support/served.js';
import { startServiceProcesses } from '../../support/service-process.js';

const users = 50;

const bin = new URL('../../../bin/userinfo.cjs', import.meta.url).pathname;

let folder: string;
let child: ChildProcess | undefined;
let other: ChildProcess | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'userinfo-kill-'));
});
afterEach(async () => {
  child?.kill('SIGKILL');
  other?.kill('SIGKILL');
  await rm(folder, { recursive: true, maxRetries: 3 });
});

/**
 * Another SQLite program, which opens the file for each thing that it does, and says when it has
 * done it.
 */
function startOtherProgram(database: string): ChildProcess {
  const script = `
import os, sqlite3, sys
file = sys.argv[1]
def back_up(database):
    with sqlite3.connect(file + '.backup') as copy:
        database.backup(copy)
tasks = [
    lambda database: database.execute('SELECT count(*) FROM users').fetchall(),
    back_up,
    lambda database: database.execute("VACUUM INTO '" + file + ".vacuumed'"),
    lambda database: database.execute('VACUUM'),
]
while True:
    for task in tasks:
        database = sqlite3.connect(file, timeout=1, isolation_level=None)
        try:
            task(database)
            print('done', flush=True)
        except sqlite3.OperationalError as error:
            if 'locked' not in str(error): raise
        finally:
            database.close()
            for end in ('.backup', '.vacuumed'):
                if os.path.exists(file + end): os.remove(file + end)
`;
  return spawn('python3', ['-c', script, database], { stdio: ['ignore', 'pipe', 'inherit'] });
}

it('has everything it acknowledged after kill -9, while another program reads, copies and vacuums', async () => {
  const database = join(folder, 'killed.db');
  const admin = await openAdmin({ database });
  const app = await createAppKeys({ admin }, tenant);
  await admin.putUsers(Array.from({ length: users }, (_, i) => user(`u${i}`)));
  await admin.close();

  const acknowledged: number[] = [];
  for (const round of [1, 2]) {
    const [started] = await startServiceProcesses(database, 1);
    child = started?.child;
    const url = started?.url ?? '';
    other = startOtherProgram(database);
    let done = 0;
    other.stdout?.on('data', (lines: Buffer) => {
      done += lines.toString().split('\n').length - 1;
    });
    const openFiles = filesIn(folder);
    let next = round * 100_000;
    const passBackUntilKilled = async () => {
      for (;;) {
        const n = next++;
        const form = { union_id: `u${n % users}`, user_info: `{"key${n}":"${n}"}` };
        const answer = await send(url, draftPassback(app, form)).catch(() => null);
        if (answer === null) return;
        expect(answer.envelope.code).toBe(200);
        acknowledged.push(n);
        if (acknowledged.length < round * 300 || done < 12 || child?.killed) continue;
        // The other program believes itself alone, where the service holds no lock, and takes the
        // -wal file away.
        expect(filesIn(folder)).toEqual(openFiles);
        child?.kill('SIGKILL');
      }
    };
    await Promise.all(Array.from({ length: 32 }, passBackUntilKilled));
    expect(other.exitCode).toBeNull();
    other.kill('SIGKILL');
    await once(other, 'exit');
  }

  expect(acknowledged.length).toBeGreaterThanOrEqual(600);
  const reopened = await openAdmin({ database });
  const stored = new Map<string, string>();
  for await (const { extension_info } of reopened.listUsers({ tenantCode: tenant })) {
    for (const [key, value] of Object.entries(extension_info)) stored.set(key, value);
  }
  await reopened.close();
  const lost = acknowledged.filter((n) => stored.get(`key${n}`) !== String(n));
  expect(lost).toEqual([]);
});

/** The files of the database, each with what tells it from another in its place. */
function filesIn(folder: string): Record<string, number> {
  const names = readdirSync(folder).filter((name) => /\.db(-wal|-shm)?$/.test(name));
  return Object.fromEntries(names.map((name) => [name, statSync(join(folder, name)).ino]));
}

it('leaves one file when stopped, which is the whole database', async () => {
  await using machine = await ServedMachine.create();
  const ofDatabase = async () =>
    (await readdir(machine.folder)).filter((name) => name.includes('.db'));
  for (const union_id of ['u1', 'u2']) {
    if (union_id === 'u2') await machine.serve();
    await machine.admin(['user', 'put'], JSON.stringify({ tenant_code: tenant, union_id }));
    expect(await ofDatabase()).toEqual(['userinfo.db', 'userinfo.db-shm', 'userinfo.db-wal']);
    await machine.stop('SIGTERM');
    expect(await ofDatabase()).toEqual(['userinfo.db']);
  }
  const cold = `${machine.database}.cold`;
  await cp(machine.database, cold);
  expect(await usersOf(machine, cold)).toEqual(['u001', 'u1', 'u2']);
});

it('can be backed up while running, and restored from the copy', async () => {
  await using machine = await ServedMachine.create();
  const copy = join(machine.folder, 'backup.db');
  const script =
    "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('VACUUM INTO ?', [sys.argv[2]])";
  const backup = spawn('python3', ['-c', script, machine.database, copy], { stdio: 'inherit' });
  expect(await once(backup, 'exit')).toEqual([0, null]);
  await machine.admin(['user', 'delete', '--tenant-code', tenant, '--union-id', 'u001', '--yes']);
  expect(await usersOf(machine, copy)).toEqual(['u001']);
  await machine.stop('SIGTERM');
  await cp(copy, machine.database);
  await machine.serve();
  expect(await usersOf(machine, machine.database)).toEqual(['u001']);
});

it('is unhealthy when its file cannot grow, and loses nothing it acknowledged', async () => {
  const database = join(folder, 'full.db');
  const admin = await openAdmin({ database });
  const app = await createAppKeys({ admin }, tenant);
  // More than the file can hold: no record comes to its own limit.
  await admin.putUsers(Array.from({ length: 100 }, (_, n) => user(`u${n}`)));
  await admin.close();
  const limited = 'ulimit -f 1000; exec "$@"';
  const serve = [bin, 'serve', '--port', '0', '--database', database];
  const service = spawn('sh', ['-c', limited, 'sh', process.execPath, ...serve], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  child = service;
  const url = (await printedBy(service, /listening on (http:\S+)/))[1] ?? '';
  const health = async () => (await fetchAnswer(`${url}/healthz`)).status;
  expect(await health()).toBe(200);
  const acknowledged: string[] = [];
  for (let code = 200; code === 200; ) {
    const unionId = `u${acknowledged.length}`;
    const form = { union_id: unionId, user_info: JSON.stringify({ key: 'x'.repeat(12_000) }) };
    code = (await send(url, draftPassback(app, form))).envelope.code;
    if (code === 200) acknowledged.push(unionId);
    else expect(code).toBe(50301);
  }
  await expect.poll(health).toBe(503);
  service.kill('SIGKILL');
  await once(service, 'exit');
  const reopened = await openAdmin({ database });
  for (const unionId of acknowledged) {
    const { extension_info } = await reopened.getUser({ tenantCode: tenant, unionId });
    expect(extension_info.key).toHaveLength(12_000);
  }
  await reopened.close();
});

async function usersOf(machine: ServedMachine, database: string): Promise<string[]> {
  const list = [
    'admin',
    'user',
    'list',
    '--tenant-code',
    tenant,
    '-o',
    'ndjson',
    '--database',
    database,
  ];
  const { stdout } = await machine.run(list);
  return stdout.split('\n').flatMap((line) => (line === '' ? [] : JSON.parse(line).union_id));
}
