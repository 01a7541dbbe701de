import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import { Pool } from 'undici';
import { expect } from 'vitest';
import { openAdmin } from '../../src/service/index.js';
import { printedBy } from '../support/cli.js';
import {
  type AppKeys,
  type Draft,
  draftPassback,
  draftRead,
  send,
  signDraft,
} from '../support/foreign-client.js';
import { tenant, user } from '../support/running-service.js';

/** The program of this tree. */
export const thisVersion = new URL('../../bin/userinfo.cjs', import.meta.url).pathname;

const codes = 100_000;

/** How many clients read with one code at once; one of them may. */
const readers = 4;

/** One of so many acknowledged passbacks is sent again at the end. */
const replayedOf = 20;

const records = 'SELECT union_id, record FROM users';

/** How often a load balancer asks `/readyz`, in milliseconds. */
const probeMs = 100;

/** A `userinfo serve` behind the balancer of `Operated`. */
export interface Instance {
  readonly child: ChildProcess;
  readonly url: string;
  readonly requests: Pool;
  /** Where `/readyz` is. */
  readonly adminUrl: string;
}

type RunSql = (statement: string) => Promise<readonly Record<string, unknown>[]>;

/** Runs statements on a SQLite file. */
export const runOnFile =
  (file: string): RunSql =>
  async (statement) => {
    const database = new DatabaseSync(file, { timeout: 5000 });
    try {
      return database.prepare(statement).all() as Record<string, unknown>[];
    } finally {
      database.close();
    }
  };

/** How requests ended: `200`, another result code, or `no answer`. */
type Counts = Record<string, number>;

/** What differs from fault to fault. */
export interface Operation {
  /** The `bin/userinfo.cjs` of each instance. */
  readonly programs?: readonly string[];
  readonly env?: Record<string, string>;
  /** Further options of `serve`. */
  readonly options?: readonly string[];
  /** Limit of open files of each instance. */
  readonly maxFiles?: number;
  /** Each passes values of its own back, and reads, one request after the other. */
  readonly writers?: number;
  /** How many users the writers share. */
  readonly users?: number;
  /** Pause of a writer between two rounds, in milliseconds. */
  readonly pauseMs?: number;
}

/**
 * Services on one database, behind a load balancer, with a load of passbacks and of reads by
 * several clients with one code. It knows what was acknowledged, and compares the tables with it.
 */
export class Operated {
  /** What requests are sent to, in turn. */
  readonly instances: Instance[] = [];
  app!: AppKeys;
  counts: Counts = {};
  /** How often a code or a request was accepted that was used before. */
  doubled = 0;
  /** The environment of further instances. */
  env: Record<string, string>;
  readonly database: string;
  readonly #sql: RunSql;
  readonly #operation: Required<Omit<Operation, 'env' | 'maxFiles'>> & Pick<Operation, 'maxFiles'>;
  /** The last acknowledged value of each writer. */
  readonly #acknowledged = new Map<string, number>();
  readonly #replayed: Draft[] = [];
  #serial = 0;
  #turn = 0;
  #stopped = false;
  #load: Promise<void>[] = [];
  #onSuccess: (() => void) | null = null;
  readonly #inFlight = new Set<Promise<unknown>>();

  constructor(database: string, sql: RunSql, { env = {}, ...operation }: Operation = {}) {
    this.database = database;
    this.#sql = sql;
    this.env = env;
    this.#operation = {
      programs: [thisVersion],
      options: [],
      writers: 8,
      users: operation.writers ?? 8,
      pauseMs: 0,
      ...operation,
    };
  }

  /** Starts the instances with an app, users and codes, and the load. */
  async start(): Promise<void> {
    const { programs, users, writers } = this.#operation;
    for (const program of programs) this.instances.push(await this.serve(program));
    const admin = await openAdmin({ database: this.database });
    const { app_secret, ...rest } = await admin.createApp({ tenantCode: tenant, channel: 'web' });
    this.app = { ...rest, secret: app_secret.reveal() };
    await admin.putUsers(Array.from({ length: users }, (_, i) => user(`u${i}`)));
    await admin.close();
    await this.#sql(
      `INSERT INTO codes WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${codes})
         SELECT '${tenant}', 'code' || n, 'u' || (n % ${users}), NULL, 9999999999, 1 FROM numbers`,
    );
    this.#load = Array.from({ length: writers }, (_, i) =>
      this.#callOnAndOn(`u${i % users}`, `w${i}`),
    );
  }

  async serve(program = thisVersion): Promise<Instance> {
    const { options, writers, maxFiles } = this.#operation;
    const args = [
      '--port',
      '0',
      '--admin-port',
      '0',
      '--drain-delay',
      '1s',
      '--database',
      this.database,
    ];
    const limit = maxFiles === undefined ? '' : `ulimit -n ${maxFiles}; `;
    const command = [process.execPath, program, 'serve', ...args, ...options];
    const child = spawn('sh', ['-c', `${limit}exec "$@"`, 'sh', ...command], {
      env: { ...process.env, ...this.env },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const printed = await printedBy(child, /monitoring on (\S+)[\s\S]*listening on (\S+)/);
    child.stderr?.resume();
    const [, adminUrl = '', url = ''] = printed;
    return { child, adminUrl, url, requests: new Pool(url, { connections: writers * readers }) };
  }

  /** As a balancer does it: the new instance first, then the old one until it is not ready. */
  async replace(index: number, program?: string): Promise<void> {
    const old = this.instances[index] as Instance;
    this.instances[index] = await this.serve(program);
    this.instances.push(old);
    old.child.kill('SIGTERM');
    while ((await fetch(`${old.adminUrl}/readyz`)).ok) await wait(probeMs);
    this.instances.pop();
    await old.requests.close();
    if (old.child.exitCode === null) await once(old.child, 'exit');
  }

  /** Kills an instance, which is started again. */
  async crash(index: number): Promise<void> {
    const old = this.instances[index] as Instance;
    old.child.kill('SIGKILL');
    await once(old.child, 'exit');
    this.instances[index] = await this.serve();
    await old.requests.destroy();
  }

  /** Resolves when the requests are answered that are under way. */
  async answered(): Promise<void> {
    await Promise.all(this.#inFlight);
  }

  /** Milliseconds until the next request succeeds. */
  async recovery(): Promise<number> {
    const since = performance.now();
    await new Promise<void>((resolve) => {
      this.#onSuccess = resolve;
    });
    return performance.now() - since;
  }

  /**
   * Ends the load, and gives for how many writers the acknowledged value is not stored, nor a later
   * one.
   */
  async lost(): Promise<number> {
    this.#stopped = true;
    await Promise.all(this.#load);
    for (const draft of this.#replayed) {
      const { envelope } = await send(this.#nextInstance().url, draft);
      if (envelope.code === 200) this.doubled += 1;
    }
    let rows = await this.#sql(records).catch(() => null);
    // A database that was killed recovers first.
    for (; rows === null; rows = await this.#sql(records).catch(() => null)) await wait(probeMs);
    const stored = Object.assign(
      {},
      ...rows.map(({ record }) => JSON.parse(String(record)).extension_info),
    );
    return [...this.#acknowledged].filter(([writer, n]) => !(Number(stored[writer]) >= n)).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true;
    for (const { child } of this.instances) child.kill('SIGKILL');
    await Promise.all(this.instances.map(({ requests }) => requests.destroy()));
    await Promise.all(this.#load);
  }

  async #callOnAndOn(unionId: string, writer: string): Promise<void> {
    while (!this.#stopped) {
      const n = ++this.#serial;
      const passback = draftPassback(this.app, {
        union_id: unionId,
        user_info: `{"${writer}":"${n}"}`,
      });
      if ((await this.#send(passback)) === 200) {
        this.#acknowledged.set(writer, n);
        if (n % replayedOf === 0) this.#replayed.push(passback);
      }
      expect(n).toBeLessThan(codes);
      const read = () => this.#send(draftRead(this.app, `code${n}`));
      const answers = await Promise.all(Array.from({ length: readers }, read));
      const countOf = (code: number) => answers.filter((answer) => answer === code).length;
      if (countOf(200) > 1) this.doubled += 1;
      // The others are refused.
      else if (countOf(200) === 1) this.#count('40106', -countOf(40106));
      await wait(this.#operation.pauseMs);
    }
  }

  #send(draft: Draft): Promise<number | 'no answer'> {
    const sent = this.#exchange(draft);
    this.#inFlight.add(sent);
    void sent.then(() => this.#inFlight.delete(sent));
    return sent;
  }

  async #exchange(draft: Draft): Promise<number | 'no answer'> {
    const instance = this.#nextInstance();
    const { target, body } = signDraft(draft);
    const headers = body === null ? {} : { 'content-type': 'application/x-www-form-urlencoded' };
    let code: number | 'no answer' = 'no answer';
    try {
      const answer = await instance.requests.request({
        method: draft.method as 'GET',
        path: target,
        body,
        headers,
      });
      code = JSON.parse(await answer.body.text()).code;
    } catch {
      await wait(20);
    }
    this.#count(String(code), 1);
    if (code === 200) this.#onSuccess?.();
    return code;
  }

  #nextInstance(): Instance {
    return this.instances[this.#turn++ % this.instances.length] as Instance;
  }

  #count(code: string, by: number): void {
    this.counts[code] = (this.counts[code] ?? 0) + by;
  }
}

/** How long the load lasts before and after a fault, in milliseconds. */
export const calmMs = 500;

/** How long a fault lasts. */
export const faultMs = 2000;

/**
 * Runs a fault under load: nothing acknowledged is lost, nothing is accepted twice, and the service
 * recovers.
 */
export async function endure(
  operated: Operated,
  name: string,
  fault: () => Promise<void>,
): Promise<void> {
  await wait(calmMs);
  await fault();
  const recovery = await operated.recovery();
  await wait(calmMs);
  await judge(operated, name, recovery);
}

/** Changes something under load: no request fails. */
export async function changeUnnoticed(
  operated: Operated,
  name: string,
  change: () => Promise<void>,
): Promise<void> {
  await wait(calmMs);
  await change();
  await wait(calmMs);
  await judge(operated, name);
  expect(Object.keys(operated.counts).filter((code) => !['200', '40106'].includes(code))).toEqual(
    [],
  );
}

/**
 * Prints a line of a table: fault, requests, other answers than 200, time of recovery. Requests
 * with a code that is used up count as answered 200.
 */
async function judge(operated: Operated, fault: string, recovery?: number): Promise<void> {
  const lost = await operated.lost();
  const { counts, doubled } = operated;
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const { 200: ok = 0, ...others } = counts;
  const rest = Object.entries(others).flatMap(([code, count]) =>
    count === 0 ? [] : [`${count} ${code}`],
  );
  const time = recovery === undefined ? '–' : `${(recovery / 1000).toFixed(2)} s`;
  const columns = [fault, all, rest.join(', ') || '–', time];
  process.stdout.write(`| ${columns.join(' | ')} |\n`);
  expect([lost, doubled]).toEqual([0, 0]);
  expect(ok).toBeGreaterThan(0);
}
