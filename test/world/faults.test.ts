import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Secret } from '../../src/core/signing/secret.js';
import { openAdmin } from '../../src/service/index.js';
import { draftPassback, draftRead, send, signDraft } from '../support/foreign-client.js';
import { PgBouncer } from '../support/postgres/pgbouncer.js';
import { PostgresServer } from '../support/postgres/postgres-server.js';
import { execute, query } from '../support/postgres/test-schema.js';
import { exchange, nextAnswer, openSocket } from '../support/raw-exchange.js';
import {
  calmMs,
  changeUnnoticed,
  endure,
  faultMs,
  type Instance,
  Operated,
  type Operation,
  runOnFile,
  thisVersion,
} from './operated.js';

/** Of the server; each service takes up to ten. */
const maxConnections = 40;

/**
 * A wall clock that steps, for processes with `env`, also of others; `null` without libfaketime
 * (Debian's package).
 */
function fakeClock() {
  const find = ['/usr/lib', '-name', 'libfaketimeMT.so.1'];
  const [library] = spawnSync('find', find, { encoding: 'utf8' }).stdout?.split('\n') ?? [];
  if (!library) return null;
  const folder = mkdtempSync(join(tmpdir(), 'userinfo-clock-'));
  chmodSync(folder, 0o755);
  const file = join(folder, 'offset');
  writeFileSync(file, '+0');
  return {
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_CACHE_DURATION: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    steps: 'steps by ±120 s, ±1 h',
    async step() {
      for (const seconds of ['+120', '-120', '+3600', '-3600', '+0']) {
        writeFileSync(file, seconds);
        await wait(faultMs / 2);
      }
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
}

describe('PostgreSQL', () => {
  let server: PostgresServer;
  let schemas = 0;
  const settings = ['shared_buffers=64MB', `max_connections=${maxConnections}`];

  beforeAll(async () => {
    server = await PostgresServer.create(settings);
  });
  afterAll(() => server.remove());

  async function operate(operation: Operation = {}, on = server): Promise<Operated> {
    const schema = `world${schemas++}`;
    await execute(on.url, `CREATE SCHEMA ${schema}`);
    const url = `${on.url}?options=${encodeURIComponent(`-c search_path=${schema}`)}`;
    const operated = new Operated(url, (statement) => query(url, statement), {
      programs: [thisVersion, thisVersion],
      ...operation,
    });
    await operated.start();
    return operated;
  }
  const onServer = (statement: string) => execute(server.url, statement);
  const disconnect = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'`;

  it('a rolling restart', async () => {
    await using operated = await operate();
    await changeUnnoticed(operated, 'rolling restart', async () => {
      for (const index of [0, 1]) await operated.replace(index);
    });
  });

  it('rotation of a secret', async () => {
    await using operated = await operate();
    await changeUnnoticed(operated, 'rotation of a secret', async () => {
      const admin = await openAdmin({ database: operated.database });
      const appKey = operated.app.app_key;
      const { app_secret } = await admin.rotateSecret({ appKey, overlapSeconds: 3600 });
      await wait(calmMs);
      operated.app = { ...operated.app, secret: app_secret.reveal() };
      await operated.answered();
      await admin.retireSecret({ appKey });
      await admin.close();
    });
  });

  it('rotation of the master key', async () => {
    const [old, next] = ['1'.repeat(64), '2'.repeat(64)] as const;
    await using operated = await operate({ env: { USERINFO_MASTER_KEY: old } });
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

  it('32 writers to one user, three processes', async () => {
    await using operated = await operate({
      programs: Array(3).fill(thisVersion),
      writers: 32,
      users: 1,
    });
    // On a busy machine some wait for too long.
    await endure(operated, '32 writers to one user, three processes', () => wait(faultMs));
  });

  it('the clock of one process is wrong', async ({ skip }) => {
    const clock = fakeClock();
    if (clock === null) return skip('needs libfaketime');
    await using operated = await operate({ programs: [thisVersion] });
    operated.env = clock.env;
    operated.instances.push(await operated.serve());
    await endure(operated, `the clock of one of two processes ${clock.steps}`, clock.step);
    clock.remove();
  });

  it('the clock of the database is wrong', async ({ skip }) => {
    const clock = fakeClock();
    if (clock === null) return skip('needs libfaketime');
    const wrong = await PostgresServer.create(settings, undefined, clock.env);
    {
      await using operated = await operate({}, wrong);
      await endure(operated, `the clock of the database ${clock.steps}`, clock.step);
    }
    await wrong.remove();
    clock.remove();
  });

  it('PgBouncer is killed', async ({ skip }) => {
    if (!PgBouncer.isInstalled) return skip('needs pgbouncer');
    await onServer('CREATE DATABASE pooled');
    const pooler = await PgBouncer.before(server.url.replace(/postgres$/, 'pooled'));
    {
      const url = `${pooler.url}?pgbouncer=true`;
      const programs = [thisVersion, thisVersion];
      await using operated = new Operated(url, (statement) => query(pooler.url, statement), {
        programs,
      });
      await operated.start();
      await endure(operated, 'PgBouncer: kill -9', async () => {
        await pooler.kill();
        await wait(calmMs);
        await pooler.start();
      });
    }
    await pooler.remove();
  });

  it('a standby is promoted', async () => {
    let primary = await PostgresServer.create([...settings, 'max_wal_senders=4']);
    const standby = await primary.createStandby();
    // The standby is asked first, and refused as read-only.
    const hosts = `127.0.0.1:${standby.port},127.0.0.1:${primary.port}`;
    const url = `postgres://userinfo@${hosts}/postgres?target_session_attrs=read-write`;
    await execute(primary.url, "ALTER SYSTEM SET synchronous_standby_names = '*'");
    await execute(primary.url, 'SELECT pg_reload_conf()');
    const first = primary;
    {
      const programs = [thisVersion, thisVersion];
      await using operated = new Operated(url, (statement) => query(primary.url, statement), {
        programs,
      });
      await operated.start();
      await endure(operated, 'kill -9 of the primary, the standby promoted', async () => {
        await first.signal('SIGKILL');
        await execute(standby.url, 'SELECT pg_promote()');
        primary = standby;
      });
    }
    await standby.remove();
    await first.remove();
  });

  it('a process hangs while it creates users: the other one does not', async () => {
    const options = ['--platform', join(import.meta.dirname, 'creates-users.json')];
    await using operated = await operate({ options, writers: 0, users: 1 });
    const [hanging, other] = operated.instances as [Instance, Instance];
    const app = operated.app;
    const refused: unknown[] = [];
    let [created, longest, isOver] = [0, 0, false];
    const create = async ({ url }: Instance, prefix: string) => {
      for (let n = 0; !isOver; n++) {
        const sentAt = performance.now();
        const draft = draftPassback(app, {
          union_id: `${prefix}-${n}`,
          user_info: '{"level":"gold"}',
        });
        const answer = await send(url, draft).catch(() => null);
        if (url !== other.url || isOver) continue;
        if (answer?.envelope.code === 200) created += 1;
        else refused.push(answer);
        longest = Math.max(longest, performance.now() - sentAt);
      }
    };
    const probe = async () => {
      while (!isOver) {
        const { status } = await fetch(`${other.adminUrl}/readyz`);
        if (status !== 200) refused.push(status);
        await wait(100);
      }
    };
    const load = [...Array(8).keys()].flatMap((i) => [
      create(hanging, `hanging${i}`),
      create(other, `other${i}`),
    ]);
    load.push(probe());
    await wait(calmMs);
    hanging.child.kill('SIGSTOP');
    const before = created;
    // Longer than work may wait for a lock.
    await wait(7000);
    expect(created - before).toBeGreaterThan(0);
    isOver = true;
    hanging.child.kill('SIGCONT');
    await Promise.all(load);
    expect(refused).toEqual([]);
    process.stdout.write(
      `| a process hangs while it creates users | longest wait ${(longest / 1000).toFixed(2)} s |\n`,
    );
  });

  it('answers on a server with its own defaults', async () => {
    const plain = await PostgresServer.create([]);
    {
      await using operated = await operate({ writers: 0, users: 1 }, plain);
      const [{ url }] = operated.instances as [Instance];
      const answers: number[] = [];
      const times: number[] = [];
      for (let n = 0; n < 40; n++) {
        const sentAt = performance.now();
        const form = { union_id: 'u0', user_info: `{"level":"${n}"}` };
        const draft =
          n % 2 === 0 ? draftPassback(operated.app, form) : draftRead(operated.app, `code${n}`);
        answers.push((await send(url, draft)).envelope.code);
        times.push(performance.now() - sentAt);
      }
      expect(answers).toEqual(Array(40).fill(200));
      const median = times.sort((a, b) => a - b)[20] ?? 0;
      process.stdout.write(
        `| 40 requests with the server's defaults | median ${median.toFixed(0)} ms |\n`,
      );
    }
    await plain.remove();
  });

  const faults: Record<string, (operated: Operated) => Promise<void>> = {
    'kill -9 of a service, three times': async (operated) => {
      for (const index of [0, 1, 0]) await operated.crash(index);
    },
    'kill -9 of a backend': async () => {
      const ofAService =
        "SELECT pid FROM pg_stat_activity WHERE application_name = 'userinfo' LIMIT 1";
      const [{ pid } = {}] = await query(server.url, ofAService);
      process.kill(Number(pid), 'SIGKILL');
      // PostgreSQL ends all of them.
      await wait(calmMs);
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
      // Longer than a statement may take.
      await wait(6000);
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
    await using operated = await operate();
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
      return skip('needs the right to mount a file system');
    }
    const { TMPDIR } = process.env;
    process.env.TMPDIR = folder;
    const small = await PostgresServer.create([...settings, 'max_wal_size=64MB']);
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
    try {
      await using operated = await operate({}, small);
      await endure(operated, "PostgreSQL's disk is full", async () => {
        // Until a table wants to grow. What it may fill in the meantime is filled again.
        const isRefused = () => (operated.counts['50301'] ?? 0) > 0;
        for (let part = 0; !isRefused(); part++) {
          const { bavail, bsize } = statfsSync(folder);
          try {
            if (bavail > 0)
              writeFileSync(join(folder, `large${part}`), Buffer.alloc(bavail * bsize));
          } catch {
            // The server was quicker.
          }
          await wait(20);
        }
        await wait(faultMs / 2);
        for (const name of readdirSync(folder))
          if (name.startsWith('large')) rmSync(join(folder, name));
      });
    } finally {
      await small.remove();
      execFileSync('umount', [folder]);
      rmSync(folder, { recursive: true });
    }
  });
});

describe('SQLite', () => {
  const faults: Record<string, (file: string, operated: Operated) => Promise<void>> = {
    'kill -9 of the service, three times': async (_, operated) => {
      for (const index of [0, 0, 0]) await operated.crash(index);
    },
    'SIGTERM of the service while bodies arrive': async (_, operated) => {
      const [late, tooLate] = [slowPassback(operated), slowPassback(operated)];
      const isReplaced = operated.replace(0);
      await wait(1000);
      late.finish();
      expect(await late.answer).toContain('"code":200');
      await isReplaced;
      expect(await tooLate.answer).toBeNull();
    },
    'connections that send too slowly': async (_, operated) => {
      const [{ url }] = operated.instances as [Instance];
      const starts = [
        'GET /healthz HTTP/1.1\r\nX: ',
        `PUT ${draftPassback(operated.app, {}).path} HTTP/1.1\r\nContent-Length: 9\r\n\r\n`,
      ];
      const slow = starts.flatMap((start) =>
        Array.from({ length: 30 }, () => exchange(url, start)),
      );
      // After --request-timeout.
      const answers = (await Promise.all(slow)).flat();
      expect(answers.map(({ status }) => status)).toEqual(Array(60).fill(408));
    },
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
  async function onFile(
    name: string,
    operation: Operation,
    fault: (file: string, operated: Operated) => Promise<void>,
  ): Promise<void> {
    const folder = mkdtempSync(join(tmpdir(), 'userinfo-world-'));
    const file = join(folder, 'world.db');
    {
      await using operated = new Operated(file, runOnFile(file), operation);
      await operated.start();
      await endure(operated, `SQLite: ${name}`, () => fault(file, operated));
    }
    rmSync(folder, { recursive: true });
  }
  const slow = 'connections that send too slowly';
  it.each(Object.entries(faults))('%s', (name, fault) =>
    onFile(name, name === slow ? { options: ['--request-timeout', '3s'] } : {}, fault),
  );

  it('the clock steps', async ({ skip }) => {
    const clock = fakeClock();
    if (clock === null) return skip('needs libfaketime');
    await onFile(`the clock ${clock.steps}`, { env: clock.env }, clock.step);
    clock.remove();
  });

  it('64 open files and 200 connections', () =>
    onFile('64 open files, 200 connections', { maxFiles: 64 }, async (_, operated) => {
      const [{ url }] = operated.instances as [Instance];
      const sockets = Array.from({ length: 200 }, () => openSocket(url));
      await wait(faultMs / 2);
      for (const socket of sockets) socket.destroy();
    }));
});

/** A passback whose body stops in the middle. */
function slowPassback({ app, instances: [instance] }: Operated) {
  const form = { union_id: 'u0', user_info: '{"slow":"1"}' };
  const { target, body } = signDraft(draftPassback(app, form));
  const socket = openSocket(instance?.url ?? '');
  const head = `PUT ${target} HTTP/1.1\r\nContent-Length: ${body?.length}\r\n\r\n`;
  socket.write(head + body?.slice(0, 9));
  return { answer: nextAnswer(socket), finish: () => socket.write(body?.slice(9) ?? '') };
}
