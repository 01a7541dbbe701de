import { setTimeout as wait } from 'node:timers/promises';
import type { SqlDriver } from '../../database/sql-driver.js';
import { statements } from './statements.js';

const intervalMs = 60_000;

/** Pause between two batches for other requests, in milliseconds. */
const pauseMs = 2;

/** Longer than the interval: the same process keeps purging until it ends. */
const leaseSeconds = 90;

const tables = [
  { table: 'nonces', firstExpired: statements.expiredNonce, purge: statements.purgeNonces, ages: false },
  { table: 'codes', firstExpired: statements.expiredCode, purge: statements.purgeCodes, ages: false },
  { table: 'audit', firstExpired: statements.expiredAudit, purge: statements.purgeAudit, ages: true },
];

/**
 * Deletes expired nonces and codes of all tenants, and lines of the audit that are older than `auditSeconds`, at once
 * and then every minute until it is stopped: in batches, and in one process at a time, whose `holder` is unique. A
 * failure goes to `onFault`, and ends that minute's purge.
 */
export class Purge {
  readonly #driver: SqlDriver;
  readonly #holder: string;
  readonly #auditSeconds: number;
  readonly #stopped = new AbortController();
  readonly #running: Promise<void>;
  /** For how many seconds the oldest expired row of each table had waited at the last check. */
  readonly backlog = new Map<string, number>();

  constructor(driver: SqlDriver, holder: string, auditSeconds: number, onFault: (error: unknown) => void) {
    this.#driver = driver;
    this.#holder = holder;
    this.#auditSeconds = auditSeconds;
    this.#running = this.#run(onFault);
  }

  /** Resolves when the current batch has ended, and another process may purge. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
    // If this fails, the lease expires.
    await this.#driver.write((sql) => sql.run(statements.releasePurge, [this.#holder])).catch(() => {});
  }

  async #run(onFault: (error: unknown) => void): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      try {
        await this.#purgeAll();
      } catch (error) {
        onFault(error);
      }
      await this.#pause(intervalMs);
    }
  }

  async #purgeAll(): Promise<void> {
    for (const { table, firstExpired, purge, ages } of tables) {
      const age = ages ? [this.#auditSeconds] : [];
      const [row] = await this.#driver.read((sql) => sql.all(firstExpired, age));
      this.backlog.set(table, Number(row?.waited ?? 0));
      if (row?.expires_at != null && !(await this.#purge(purge, Number(row.expires_at), age))) return;
    }
    await this.#driver.checkpoint();
  }

  /** Returns `false` if another process purges, or this one stops. */
  async #purge(statement: string, firstExpired: number, age: readonly number[]): Promise<boolean> {
    const { purgeRows } = this.#driver;
    for (let from = firstExpired; ; ) {
      const deleted = await this.#driver.write(async (sql) => {
        const leased = await sql.run(statements.leasePurge, [this.#holder, leaseSeconds]);
        return leased === 1 ? await sql.all(statement, [from, purgeRows, ...age]) : null;
      });
      if (deleted === null) return false;
      if (deleted.length < purgeRows) return true;
      from = Math.max(...deleted.map(({ expires_at }) => Number(expires_at)));
      await this.#pause(pauseMs);
      if (this.#stopped.signal.aborted) return false;
    }
  }

  /** Does not keep the process alive, and ends early when the purge is stopped. */
  async #pause(ms: number): Promise<void> {
    await wait(ms, undefined, { ref: false, signal: this.#stopped.signal }).catch(() => {});
  }
}
