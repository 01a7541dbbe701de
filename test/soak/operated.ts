import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { Pool } from 'undici';
import { expect } from 'vitest';
import { openAdmin } from '../../src/service/index.js';
import { printedBy } from '../support/cli.js';
import { type AppKeys, type Draft, draftPassback, draftRead, signDraft } from '../support/foreign-client.js';
import { tenant, user } from '../support/running-service.js';

/** The program of this tree. */
export const thisVersion = new URL('../../bin/userinfo.cjs', import.meta.url).pathname;

const users = 8;
const codes = 100_000;

const records = 'SELECT union_id, record FROM users';

/** How often a load balancer asks `/readyz`, in milliseconds. */
const probeMs = 100;

/** A `userinfo serve` behind the balancer of `Operated`. */
export interface Instance {
  readonly child: ChildProcess;
  readonly requests: Pool;
  /** Where `/readyz` is. */
  readonly adminUrl: string;
}

export type RunSql = (statement: string) => Promise<readonly Record<string, unknown>[]>;

/** How requests ended: `200`, another result code, or `no answer`. */
type Counts = Record<string, number>;

/**
 * Services on one database, behind a load balancer, with a load of passbacks and of pairs of reads with one code. It
 * knows what was acknowledged, and compares the tables with it.
 */
export class Operated {
  /** What requests are sent to, in turn. */
  readonly instances: Instance[] = [];
  app!: AppKeys;
  counts: Counts = {};
  doubled = 0;
  /** The environment of further instances. */
  env: Record<string, string> = {};
  readonly database: string;
  readonly #sql: RunSql;
  readonly #acknowledged = new Map<string, number>();
  #serial = 0;
  #turn = 0;
  #stopped = false;
  #load: Promise<void>[] = [];
  #onSuccess: (() => void) | null = null;

  constructor(database: string, sql: RunSql) {
    this.database = database;
    this.#sql = sql;
  }

  /** Starts instances with an app, users and codes, and the load. */
  async start(programs: readonly string[]): Promise<void> {
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
    this.#load = Array.from({ length: users }, (_, i) => this.#callOnAndOn(`u${i}`));
  }

  async serve(program = thisVersion): Promise<Instance> {
    const args = ['--port', '0', '--admin-port', '0', '--drain-delay', '1s', '--database', this.database];
    const child = spawn(process.execPath, [program, 'serve', ...args], {
      env: { ...process.env, ...this.env },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const printed = await printedBy(child, /monitoring on (\S+)[\s\S]*listening on (\S+)/);
    child.stderr?.resume();
    const [, adminUrl = '', url = ''] = printed;
    return { child, adminUrl, requests: new Pool(url, { connections: users * 2 }) };
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

  /** Milliseconds until the next request succeeds. */
  async recovery(): Promise<number> {
    const since = performance.now();
    await new Promise<void>((resolve) => {
      this.#onSuccess = resolve;
    });
    return performance.now() - since;
  }

  /** Ends the load, and gives for how many users the acknowledged value is not stored, nor a later one. */
  async lost(): Promise<number> {
    this.#stopped = true;
    await Promise.all(this.#load);
    let rows = await this.#sql(records).catch(() => null);
    // A database that was killed recovers first.
    for (; rows === null; rows = await this.#sql(records).catch(() => null)) await wait(probeMs);
    const stored = new Map(
      rows.map((row) => [row.union_id, JSON.parse(String(row.record)).extension_info.n]),
    );
    return [...this.#acknowledged].filter(([unionId, n]) => !(Number(stored.get(unionId)) >= n)).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true;
    for (const { child } of this.instances) child.kill('SIGKILL');
    await Promise.all(this.instances.map(({ requests }) => requests.destroy()));
    await Promise.all(this.#load);
  }

  async #callOnAndOn(unionId: string): Promise<void> {
    while (!this.#stopped) {
      const n = ++this.#serial;
      const form = { union_id: unionId, user_info: `{"n":"${n}"}` };
      if ((await this.#send(draftPassback(this.app, form))) === 200) this.#acknowledged.set(unionId, n);
      expect(n).toBeLessThan(codes);
      const pair = await Promise.all([1, 2].map(() => this.#send(draftRead(this.app, `code${n}`))));
      if (pair.every((code) => code === 200)) this.doubled += 1;
      // One of the two is refused.
      else if (pair.includes(200) && pair.includes(40106)) this.#count('40106', -1);
    }
  }

  async #send(draft: Draft): Promise<number | 'no answer'> {
    const instance = this.instances[this.#turn++ % this.instances.length] as Instance;
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

  #count(code: string, by: number): void {
    this.counts[code] = (this.counts[code] ?? 0) + by;
  }
}
