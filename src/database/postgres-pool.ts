import { Pool, type PoolClient } from 'pg';
import { DatabaseBusyError, StoreUnavailableError } from './errors.js';
import type { PostgresConfig } from './postgres-config.js';
import {
  ConnectionLostError,
  DatabaseNoAnswerError,
  TooManyConnectionsError,
  translatePostgresError,
} from './postgres-errors.js';
import type { PoolUsage } from './sql-driver.js';

/** Maximum number of units of work per connection, running and waiting: further ones are refused. */
const maxPerConnection = 51;

/** Interval of connection attempts while the database is lost, in milliseconds. */
const probeIntervalMs = 250;

/** Time for which the pool is smaller after the database refused a connection, in milliseconds. */
const scarceMs = 5000;

/**
 * The connections of a pool, one per unit of work. While the database is lost, work is refused at once instead of
 * queued, and the pool tries to connect until the database is back.
 */
export function openPool({ hosts: given, ...config }: Omit<PostgresConfig, 'isPooled'>, size: number) {
  /** The server that is tried first, and the others. */
  let hosts = given;
  const pool = new Pool({ ...config, ...hosts[0], max: size });
  // A connection that breaks while idle leaves the pool.
  pool.on('error', () => {});
  /** Number of units of work that run or wait. */
  let started = 0;
  /** Why the database is lost, by the last attempt to connect, or `null`. */
  let outage: StoreUnavailableError | null = null;
  let probe: NodeJS.Timeout | undefined;
  let closed = false;
  let onIdle = () => {};

  async function connect(): Promise<PoolClient> {
    try {
      return await tryHosts();
    } catch (fault) {
      if (fault instanceof TooManyConnectionsError && pool.totalCount > 0) {
        shrink(pool.totalCount);
        return await connect();
      }
      if (!(fault instanceof ConnectionLostError)) throw fault;
      lose(fault);
      throw outageError(fault);
    }
  }

  /** Tries each server once, first the one that was last connected to. */
  async function tryHosts(): Promise<PoolClient> {
    for (let left = hosts.length; ; left--) {
      const tried = hosts;
      try {
        return await pool.connect();
      } catch (error) {
        const fault = translatePostgresError(error);
        if (!(fault instanceof ConnectionLostError)) throw fault;
        // Unless another unit of work did so meanwhile.
        if (hosts === tried) {
          hosts = [...tried.slice(1), ...tried.slice(0, 1)];
          Object.assign(pool.options, hosts[0]);
        }
        if (left <= 1) throw fault;
      }
    }
  }

  /** Uses fewer connections for a while, because the database allows no more. */
  function shrink(allowed: number): void {
    if (pool.options.max === size) {
      setTimeout(() => {
        pool.options.max = size;
      }, scarceMs).unref();
    }
    pool.options.max = allowed;
  }

  function lose(fault: StoreUnavailableError): void {
    if (outage !== null) return;
    outage = fault;
    probeLater();
  }

  function probeLater(): void {
    probe = setTimeout(async () => {
      try {
        (await tryHosts()).release();
        outage = null;
      } catch (error) {
        if (error instanceof StoreUnavailableError) outage = error;
        if (!closed) probeLater();
      }
    }, probeIntervalMs);
  }

  return {
    /** @throws StoreUnavailableError if there is no connection, otherwise what the work throws */
    async use<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
      if (closed) throw new StoreUnavailableError('the database is closed');
      if (outage !== null) throw outageError(outage);
      if (started >= size * maxPerConnection) {
        throw new DatabaseBusyError('the database is too slow for the load');
      }
      started += 1;
      let client: PoolClient | undefined;
      let broken = false;
      try {
        client = await connect();
        return await work(client);
      } catch (error) {
        broken = error instanceof ConnectionLostError;
        if (error instanceof DatabaseNoAnswerError) lose(error);
        throw error;
      } finally {
        client?.release(broken);
        started -= 1;
        if (started === 0) onIdle();
      }
    },
    usage(): PoolUsage {
      const { totalCount, idleCount, waitingCount } = pool;
      return { in_use: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
    },
    /** Waits for started work, then closes all connections. */
    async close(): Promise<void> {
      if (closed) return;
      closed = true;
      if (started > 0) {
        await new Promise<void>((resolve) => {
          onIdle = resolve;
        });
      }
      clearTimeout(probe);
      await pool.end();
    },
  };
}

/** The error for other work that the same outage refuses: of a class that is not retried at once. */
function outageError({ message, hint, cause }: StoreUnavailableError): StoreUnavailableError {
  return new StoreUnavailableError(message, { cause, ...(hint === undefined ? {} : { hint }) });
}
