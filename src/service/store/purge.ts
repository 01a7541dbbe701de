import { setTimeout as wait } from 'node:timers/promises';
import type { SqlDriver } from '../database/sql-driver.js';
import { statements } from './statements.js';

const intervalMs = 60_000;

/** Pause between two batches for other requests, in milliseconds. */
const pauseMs = 2;

const tables = [
  {
    table: 'nonces',
    firstExpired: statements.expiredNonce,
    purge: statements.purgeNonces,
    ages: false,
  },
  {
    table: 'codes',
    firstExpired: statements.expiredCode,
    purge: statements.purgeCodes,
    ages: false,
  },
  {
    table: 'audit',
    firstExpired: statements.expiredAudit,
    purge: statements.purgeAudit,
    ages: true,
  },
];

/**
 * Deletes expired nonces and codes of all tenants, and lines of the audit that are older than
 * `auditSeconds`, at once and then every minute until it is stopped, in batches; processes that do
 * so at once delete other rows. `backlog` receives for how many seconds the oldest expired row of
 * each table had waited. A failure goes to `onFault`, and ends that minute's purge.
 *
 * @returns what stops it: that resolves when the current batch has ended
 */
export function startPurge(
  driver: SqlDriver,
  auditSeconds: number,
  backlog: Map<string, number>,
  onFault: (error: unknown) => void,
): () => Promise<void> {
  const stopped = new AbortController();
  const { signal } = stopped;
  /** Does not keep the process alive, and ends early when the purge is stopped. */
  const pause = (ms: number) => wait(ms, undefined, { ref: false, signal }).catch(() => {});

  async function purgeTable(
    statement: string,
    firstExpired: number,
    age: readonly number[],
  ): Promise<void> {
    const { purgeRows } = driver;
    for (let from = firstExpired; !signal.aborted; ) {
      const deleted = await driver.write((sql) => sql.all(statement, [from, purgeRows, ...age]));
      if (deleted.length < purgeRows) return;
      from = Math.max(...deleted.map(({ expires_at }) => Number(expires_at)));
      await pause(pauseMs);
    }
  }

  async function purgeAll(): Promise<void> {
    for (const { table, firstExpired, purge, ages } of tables) {
      const age = ages ? [auditSeconds] : [];
      const [row] = await driver.read((sql) => sql.all(firstExpired, age));
      backlog.set(table, Number(row?.waited ?? 0));
      if (row?.expires_at != null) await purgeTable(purge, Number(row.expires_at), age);
    }
    await driver.checkpoint();
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      await purgeAll().catch((error: unknown) => {
        // The database may be closed already.
        if (!signal.aborted) onFault(error);
      });
      await pause(intervalMs);
    }
  }

  const running = run();
  return () => {
    stopped.abort();
    return running;
  };
}
