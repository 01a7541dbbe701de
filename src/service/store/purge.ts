import { setTimeout as wait } from 'node:timers/promises';
import type { Sql, SqlDriver } from './sql-driver.js';
import { statements } from './statements.js';

const intervalMs = 60_000;

/** So that requests come between two batches, in milliseconds. */
const pauseMs = 2;

/** Longer than the interval: who purges goes on purging, until its process ends. */
const holdSeconds = 90;

const tables = [
  { firstExpired: statements.expiredNonce, purge: statements.purgeNonces },
  { firstExpired: statements.expiredCode, purge: statements.purgeCodes },
];

/**
 * Deletes what has expired, nonces and codes of every tenant, now and once a minute until it is stopped: in batches,
 * and in one process at a time, whose `holder` no other has. A failure goes to `onFault`, and ends that minute's turn.
 */
export class Purge {
  readonly #driver: SqlDriver;
  readonly #holder: string;
  readonly #stopped = new AbortController();
  readonly #running: Promise<void>;

  constructor(driver: SqlDriver, holder: string, onFault: (error: unknown) => void) {
    this.#driver = driver;
    this.#holder = holder;
    this.#running = this.#run(onFault);
  }

  /** Resolves when the batch that runs has ended, and another process may purge. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
    // Where this fails, the hold ends by itself.
    await this.#driver.write((sql) => sql.run(statements.releasePurge, [this.#holder])).catch(() => {});
  }

  async #run(onFault: (error: unknown) => void): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      try {
        await this.#takeTurn();
      } catch (error) {
        onFault(error);
      }
      await this.#pause(intervalMs);
    }
  }

  async #takeTurn(): Promise<void> {
    for (const { firstExpired, purge } of tables) {
      const [row] = await this.#driver.read((sql) => sql.all(firstExpired));
      if (row?.expires_at != null && !(await this.#purge(purge, Number(row.expires_at)))) return;
    }
    await this.#driver.tidy();
  }

  /** `false` where another process purges, or this one stops. */
  async #purge(statement: string, firstExpired: number): Promise<boolean> {
    const { purgeRows } = this.#driver;
    for (let from = firstExpired; ; ) {
      const deleted = await this.#driver.write(async (sql) =>
        (await this.#hold(sql)) ? await sql.all(statement, [from, purgeRows]) : null,
      );
      if (deleted === null) return false;
      if (deleted.length < purgeRows) return true;
      from = Math.max(...deleted.map(({ expires_at }) => Number(expires_at)));
      await this.#pause(pauseMs);
      if (this.#stopped.signal.aborted) return false;
    }
  }

  async #hold(sql: Sql): Promise<boolean> {
    return (await sql.run(statements.holdPurge, [this.#holder, holdSeconds])) === 1;
  }

  /** Keeps no process alive, and ends when it is stopped. */
  async #pause(ms: number): Promise<void> {
    await wait(ms, undefined, { ref: false, signal: this.#stopped.signal }).catch(() => {});
  }
}
