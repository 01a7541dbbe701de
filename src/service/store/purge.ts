import { setTimeout as wait } from 'node:timers/promises';
import type { SqlDriver } from '../database/sql-driver.js';
import { statements } from './statements.js';

const intervalMs = 60_000;

/** Pause between two batches for other requests, in milliseconds. */
const pauseMs = 2;

/** A table whose rows expire. */
interface PurgedTable {
  readonly name: string;
  /** Finds when its first row expired. */
  readonly firstExpired: string;
  readonly purge: string;
  /** The last value of both statements, if they have one: the age at which a row expires. */
  readonly age: readonly number[];
}

function purgedTables(auditSeconds: number): readonly PurgedTable[] {
  return [
    {
      name: 'nonces',
      firstExpired: statements.expiredNonce,
      purge: statements.purgeNonces,
      age: [],
    },
    { name: 'codes', firstExpired: statements.expiredCode, purge: statements.purgeCodes, age: [] },
    {
      name: 'audit',
      firstExpired: statements.expiredAudit,
      purge: statements.purgeAudit,
      age: [auditSeconds],
    },
  ];
}

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

  async function purgeTable({ name, firstExpired, purge, age }: PurgedTable): Promise<void> {
    const [first] = await driver.read((sql) => sql.all(firstExpired, age));
    backlog.set(name, Number(first?.waited ?? 0));
    if (first?.expires_at == null) return;
    const { purgeRows } = driver;
    for (let from = Number(first.expires_at); !signal.aborted; ) {
      const deleted = await driver.write((sql) => sql.all(purge, [from, purgeRows, ...age]));
      if (deleted.length < purgeRows) return;
      from = Math.max(...deleted.map(({ expires_at }) => Number(expires_at)));
      await pause(pauseMs);
    }
  }

  async function purgeAll(): Promise<void> {
    for (const table of purgedTables(auditSeconds)) await purgeTable(table);
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
