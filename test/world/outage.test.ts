import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createService, openAdmin } from '../../src/service/index.js';
import { Machine, printedBy } from '../support/cli.js';
import { type AppKeys, draftPassback, send } from '../support/foreign-client.js';
import { findBinaries } from '../support/postgres/binaries.js';
import { PostgresServer } from '../support/postgres/postgres-server.js';
import { execute, query } from '../support/postgres/test-schema.js';
import { tenant, user, withApp } from '../support/running-service.js';

/**
 * What the service promises, in milliseconds: until it answers a request, until it ends, until it
 * is back.
 */
const promised = { answer: 6000, ready: 1000, end: 8000, recovery: 3000 };

/** A machine on which much else runs may take this much longer. */
const slackMs = 9000;

/** Longer than a request that is never answered may be taken for one that is answered in time. */
const faultMs = 20_000;

/** Nothing was written for ten seconds, and the probe after that has ended. */
const unreadyAfterMs = 15_000;

const poolSize = 10;

/** Between two requests of a client. */
const pauseMs = 250;

const settings = ['fsync=off', 'max_connections=150'];

const patiently = { timeout: 60_000, interval: 20 };

interface Fault {
  /** Statements for a role. */
  begin(role: string): readonly string[];
  end(role: string): readonly string[];
  /** Whether nothing can be stored. */
  readonly isTotal: boolean;
}

const cut = (role: string) =>
  `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${role}'`;
const limit = (role: string, connections: number) =>
  `ALTER ROLE ${role} CONNECTION LIMIT ${connections}`;
const reload = 'SELECT pg_reload_conf()';

const faults: Readonly<Record<string, Fault>> = {
  'no connection': {
    begin: (role) => [limit(role, 0), cut(role)],
    end: (role) => [limit(role, -1)],
    isTotal: true,
  },
  'one connection': {
    begin: (role) => [limit(role, 1), cut(role)],
    end: (role) => [limit(role, -1)],
    isTotal: false,
  },
  // Of all roles whose commits wait for it.
  'a standby that does not exist': {
    begin: () => ["ALTER SYSTEM SET synchronous_standby_names = 'ghost'", reload],
    end: () => ['ALTER SYSTEM RESET synchronous_standby_names', reload],
    isTotal: true,
  },
};

/** A service with a role, a database and clients of its own. */
class Cell {
  readonly codes: Record<string, number> = {};
  readonly events: Record<string, number> = {};
  readonly slowest = { answer: 0, ready: 0 };
  /** The maximum number of its connections to PostgreSQL. */
  backends = 0;
  /** Whether `statuses` takes what `/readyz` says. */
  isWatched = false;
  readonly statuses = new Set<number>();
  /** Number of passbacks that were answered 200. */
  stored = 0;
  recoveryMs = Number.NaN;
  endMs = Number.NaN;
  lost = -1;
  readonly role: string;
  readonly fault: Fault;
  readonly clients: number;
  readonly #database: string;
  readonly #acknowledged = new Map<string, number>();
  #app!: AppKeys;
  #service!: { readonly child: ChildProcess; readonly url: string; readonly adminUrl: string };
  #isEnding = false;
  #loops: Promise<void>[] = [];

  constructor(role: string, fault: Fault, clients: number) {
    this.role = role;
    this.fault = fault;
    this.clients = clients;
    const url = new URL(server.url);
    url.pathname = role;
    this.#database = url.href;
  }

  async start(): Promise<void> {
    await administer(`CREATE ROLE ${this.role} LOGIN PASSWORD 'x'`);
    const isOfStandby = this.fault === faults['a standby that does not exist'];
    if (!isOfStandby) await administer(`ALTER ROLE ${this.role} SET synchronous_commit = local`);
    await administer(`CREATE DATABASE ${this.role} OWNER ${this.role}`);
    const own = new URL(this.#database);
    own.username = this.role;
    own.password = 'x';
    const admin = await openAdmin({ database: own.href });
    const { app_secret, ...rest } = await admin.createApp({ tenantCode: tenant, channel: 'web' });
    this.#app = { ...rest, secret: app_secret.reveal() };
    await admin.putUsers(Array.from({ length: this.clients }, (_, index) => user(`u${index}`)));
    await admin.close();
    this.#service = await this.#serve(own.href);
  }

  /** Starts its clients. */
  load(): void {
    this.#loops = Array.from({ length: this.clients }, (_, index) => this.#write(`u${index}`));
    this.#loops.push(this.#askReady());
  }

  /** Resolves when the next passback is stored. */
  async stores(): Promise<void> {
    const before = this.stored;
    await vi.waitFor(() => expect(this.stored).toBeGreaterThan(before), patiently);
  }

  async recover(): Promise<void> {
    const since = performance.now();
    await this.stores();
    this.recoveryMs = performance.now() - since;
  }

  async terminate(): Promise<void> {
    const since = performance.now();
    const { child } = this.#service;
    this.#isEnding = true;
    child.kill('SIGTERM');
    await Promise.race([once(child, 'exit'), wait(promised.end + 2 * slackMs)]);
    this.endMs = performance.now() - since;
    child.kill('SIGKILL');
    await Promise.all(this.#loops);
  }

  async compare(): Promise<void> {
    const rows = await query(this.#database, 'SELECT union_id, record FROM users');
    const stored = new Map(
      rows.map(({ union_id, record }) => [union_id, JSON.parse(String(record)).extension_info.n]),
    );
    this.lost = [...this.#acknowledged].filter(([id, n]) => !(Number(stored.get(id)) >= n)).length;
  }

  kill(): void {
    this.#isEnding = true;
    this.#service?.child.kill('SIGKILL');
  }

  async #serve(database: string) {
    const options = ['--admin-port', '0', '--log-format', 'json', '--pool-size', String(poolSize)];
    const child = machine.start(['serve', '--port', '0', ...options, '--database', database]);
    const urls: Record<string, string> = {};
    const lines = createInterface({ input: child.stderr as NodeJS.ReadableStream });
    lines.on('line', (line) => {
      const { event, url } = JSON.parse(line);
      if (url !== undefined) urls[event] = url;
      this.events[event] = (this.events[event] ?? 0) + 1;
    });
    await vi.waitFor(() => expect(urls.listening).toBeDefined(), patiently);
    return { child, url: urls.listening ?? '', adminUrl: urls.monitoring ?? '' };
  }

  async #write(unionId: string): Promise<void> {
    for (let n = 1; ; n++) {
      const since = performance.now();
      const draft = draftPassback(this.#app, { union_id: unionId, user_info: `{"n":"${n}"}` });
      const answer = await send(this.#service.url, draft).catch(() => null);
      // Connections end with the process.
      if (answer === null && this.#isEnding) return;
      const code = answer?.envelope.code ?? 'no answer';
      this.codes[code] = (this.codes[code] ?? 0) + 1;
      this.slowest.answer = Math.max(this.slowest.answer, performance.now() - since);
      if (code === 200) {
        this.stored += 1;
        this.#acknowledged.set(unionId, n);
      }
      await wait(pauseMs);
    }
  }

  async #askReady(): Promise<void> {
    for (;;) {
      const since = performance.now();
      const answer = await fetch(`${this.#service.adminUrl}/readyz`).catch(() => null);
      if (answer === null && this.#isEnding) return;
      if (this.isWatched) this.statuses.add(answer?.status ?? 0);
      this.slowest.ready = Math.max(this.slowest.ready, performance.now() - since);
      await wait(pauseMs);
    }
  }
}

/** npm's PostgreSQL, and the distribution's. */
const versions = [...new Set(['', process.env.USERINFO_TEST_POSTGRES_BIN ?? ''])];

const machine = new Machine();
let server: PostgresServer;
let cells: Cell[] = [];

const table = Object.entries(faults).flatMap(([fault, { isTotal }]) =>
  [1, 2, 12].map((clients) => ({ fault, clients, isTotal })),
);

/** Runs a statement of an administrator, who waits for no standby. */
const administer = (statement: string) =>
  execute(`${server.url}?options=${encodeURIComponent('-c synchronous_commit=local')}`, statement);

async function change(direction: 'begin' | 'end'): Promise<void> {
  for (const { fault, role } of cells)
    for (const statement of fault[direction](role)) await administer(statement);
}

/** Counts the connections of all cells until it is told to stop. */
function countBackends(): () => Promise<void> {
  const statement =
    'SELECT usename, count(*)::int AS backends FROM pg_stat_activity GROUP BY usename';
  let isOver = false;
  const count = async () => {
    while (!isOver) {
      const rows = await query(server.url, statement);
      for (const cell of cells) {
        const row = rows.find(({ usename }) => usename === cell.role);
        cell.backends = Math.max(cell.backends, Number(row?.backends ?? 0));
      }
      await wait(pauseMs);
    }
  };
  const counted = count();
  return () => {
    isOver = true;
    return counted;
  };
}

afterAll(() => machine[Symbol.dispose]());

describe.each(versions)('PostgreSQL that is reachable and gives nothing: %s', (folder) => {
  beforeAll(async () => {
    server = await PostgresServer.create(settings, await findBinaries(folder));
    cells = table.map(
      ({ fault, clients }, index) => new Cell(`cell${index}`, faults[fault] as Fault, clients),
    );
    // One after the other: each start has the machine for itself.
    for (const cell of cells) await cell.start();
    for (const cell of cells) cell.load();
    await Promise.all(cells.map((cell) => cell.stores()));
    const stopCounting = countBackends();
    await change('begin');
    await wait(unreadyAfterMs);
    for (const cell of cells) cell.isWatched = true;
    await wait(faultMs - unreadyAfterMs);
    for (const cell of cells) cell.isWatched = false;
    await change('end');
    await Promise.all(cells.map((cell) => cell.recover()));
    await change('begin');
    // The commits of all clients wait again.
    await wait(2000);
    await Promise.all(cells.map((cell) => cell.terminate()));
    await change('end');
    await stopCounting();
    for (const cell of cells) await cell.compare();
  }, 300_000);
  afterAll(async () => {
    for (const cell of cells) cell.kill();
    await server.remove();
  });

  it.each(table.map((row, index) => ({ ...row, index })))(
    '$fault, clients: $clients',
    ({ fault, clients, isTotal, index }) => {
      const cell = cells[index] as Cell;
      const { codes, slowest, backends, statuses, events, recoveryMs, endMs } = cell;
      const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
      const counts = Object.entries(codes).map(([code, count]) => `${count} ${code}`);
      const columns = [
        fault,
        clients,
        counts.join(', '),
        seconds(slowest.answer),
        seconds(slowest.ready),
      ];
      columns.push(
        [...statuses].join(', '),
        backends,
        seconds(recoveryMs),
        seconds(endMs),
        cell.lost,
      );
      process.stdout.write(`| ${columns.join(' | ')} |\n`);
      expect(Object.keys(codes).filter((code) => code !== '200' && code !== '50301')).toEqual([]);
      expect(slowest.answer).toBeLessThan(promised.answer + slackMs);
      expect(slowest.ready).toBeLessThan(promised.ready + slackMs);
      expect(endMs).toBeLessThan(promised.end + slackMs);
      expect(recoveryMs).toBeLessThan(promised.recovery + slackMs);
      expect(backends).toBeGreaterThan(0);
      expect(backends).toBeLessThanOrEqual(poolSize + 2);
      expect([...statuses]).toEqual([isTotal ? 503 : 200]);
      if (isTotal) expect(events.store_unavailable).toBeGreaterThan(0);
      expect(events.fault).toBeUndefined();
      expect(cell.lost).toBe(0);
    },
  );

  it('answers 50301 where the wait for a standby is cancelled: PostgreSQL calls that a success', async () => {
    const { begin, end } = faults['a standby that does not exist'] as Fault;
    const waiting = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    await using service = await createService({ database: server.url, log: () => {} });
    const { passback } = await withApp(service);
    await service.admin.putUser(user('u1'));
    for (const statement of begin('')) await administer(statement);
    try {
      const answer = passback({ union_id: 'u1', user_info: '{"a":"b"}' });
      await expect.poll(() => query(server.url, waiting)).toHaveLength(1);
      await query(server.url, `SELECT pg_cancel_backend(pid) FROM (${waiting}) AS found`);
      expect((await answer).envelope.code).toBe(50301);
    } finally {
      for (const statement of end('')) await administer(statement);
    }
    const stored = async () =>
      (await passback({ union_id: 'u1', user_info: '{"c":"d"}' })).envelope.code;
    await expect.poll(stored).toBe(200);
  });

  it('ends while PostgreSQL hangs', async () => {
    const child = machine.start(['serve', '--port', '0', '--database', server.url]);
    await printedBy(child, /listening/);
    child.stderr?.resume();
    await server.signal('SIGSTOP');
    try {
      child.kill('SIGTERM');
      expect(await once(child, 'exit')).toEqual([0, null]);
    } finally {
      await server.signal('SIGCONT');
    }
  });
});
