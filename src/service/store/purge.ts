import { setTimeout as wait } from 'node:timers/promises';
import type { SqlDriver } from '../../database/sql-driver.js';
import { statements } from './statements.js';

const intervalMs = 60_000;

/** Pause between two batches for other requests, in milliseconds. */
const pauseMs = 2;

const tables = [
  { table: 'nonces', firstExpired: statements.expiredNonce, purge: statements.purgeNonces, ages: false },
  { table: 'codes', firstExpired: statements.expiredCode, purge: statements.purgeCodes, ages: false },
  { table: 'audit', firstExpired: statements.expiredAudit, purge: statements.purgeAudit, ages: true },
];

/**
 * Deletes expired nonces and codes of all tenants, and lines of the audit that are older than `auditSeconds`, at once
 * and then every minute until it is stopped, in batches; processes that do so at once delete other rows. A failure goes
 * to `onFault`, and ends that minute's purge.
 */
export class Purge {
  readonly #driver: SqlDriver;
  readonly #auditSeconds: number;
  readonly #stopped = new AbortController();
  readonly #running: Promise<void>;
  /** For how many seconds the oldest expired row of each table had waited at the last check. */
  readonly backlog = new Map<string, number>();

  constructor(driver: SqlDriver, auditSeconds: number, onFault: (error: unknown) => void) {
    this.#driver = driver;
    this.#auditSeconds = auditSeconds;
    this.#running = this.#run(onFault);
  }

  /** Resolves when the current batch has ended. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
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
      if (row?.expires_at != null) await this.#purge(purge, Number(row.expires_at), age);
    }
    await this.#driver.checkpoint();
  }

  async #purge(statement: string, firstExpired: number, age: readonly number[]): Promise<void> {
    const { purgeRows } = this.#driver;
    for (let from = firstExpired; !this.#stopped.signal.aborted; ) {
      const deleted = await this.#driver.write((sql) => sql.all(statement, [from, purgeRows, ...age]));
      if (deleted.length < purgeRows) return;
      from = Math.max(...deleted.map(({ expires_at }) => Number(expires_at)));
      await this.#pause(pauseMs);
    }
  }

  /** Does not keep the process alive, and ends early when the purge is stopped. */
  async #pause(ms: number): Promise<void> {
    await wait(ms, undefined, { ref: false, signal: this.#stopped.signal }).catch(() => {});
  }
}
