import { Pool, type PoolClient } from 'pg';
import { DatabaseBusyError, StoreUnavailableError } from './errors.js';
import type { PostgresConfig, PostgresHost } from './postgres-config.js';
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
export class PostgresPool {
  readonly #pool: Pool;
  readonly #size: number;
  /** The server that is tried first, and the others. */
  #hosts: readonly PostgresHost[];
  /** Number of units of work that run or wait. */
  #started = 0;
  /** Why the database is lost, or `null`. */
  #outage: StoreUnavailableError | null = null;
  #probe: NodeJS.Timeout | undefined;
  #closed = false;
  #onIdle: (() => void) | null = null;

  constructor({ hosts, ...config }: PostgresConfig, size: number) {
    this.#pool = new Pool({ ...config, ...hosts[0], max: size });
    this.#hosts = hosts;
    this.#size = size;
    // A connection that breaks while idle leaves the pool.
    this.#pool.on('error', () => {});
  }

  /** @throws StoreUnavailableError if there is no connection, otherwise what the work throws */
  async use<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    if (this.#closed) throw new StoreUnavailableError('the database is closed');
    if (this.#outage !== null) throw outageError(this.#outage);
    if (this.#started >= this.#size * maxPerConnection) {
      throw new DatabaseBusyError('the database is too slow for the load');
    }
    this.#started += 1;
    let client: PoolClient | undefined;
    let broken = false;
    try {
      client = await this.#connect();
      return await work(client);
    } catch (error) {
      broken = error instanceof ConnectionLostError;
      if (error instanceof DatabaseNoAnswerError) this.#lose(error);
      throw error;
    } finally {
      client?.release(broken);
      this.#started -= 1;
      if (this.#started === 0) this.#onIdle?.();
    }
  }

  get usage(): PoolUsage {
    const { totalCount, idleCount, waitingCount } = this.#pool;
    return { inUse: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
  }

  /** Waits for started work, then closes all connections. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#started > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
    clearTimeout(this.#probe);
    await this.#pool.end();
  }

  async #connect(): Promise<PoolClient> {
    try {
      return await this.#open();
    } catch (fault) {
      if (fault instanceof TooManyConnectionsError && this.#pool.totalCount > 0) {
        this.#shrink(this.#pool.totalCount);
        return await this.#connect();
      }
      if (!(fault instanceof ConnectionLostError)) throw fault;
      this.#lose(fault);
      throw outageError(fault);
    }
  }

  /** Tries each server once, first the one that was last connected to. */
  async #open(): Promise<PoolClient> {
    for (let left = this.#hosts.length; ; left--) {
      const tried = this.#hosts;
      try {
        return await this.#pool.connect();
      } catch (error) {
        const fault = translatePostgresError(error);
        if (!(fault instanceof ConnectionLostError)) throw fault;
        // Unless another unit of work did so meanwhile.
        if (this.#hosts === tried) {
          this.#hosts = [...tried.slice(1), ...tried.slice(0, 1)];
          Object.assign(this.#pool.options, this.#hosts[0]);
        }
        if (left <= 1) throw fault;
      }
    }
  }

  /** Uses fewer connections for a while, because the database allows no more. */
  #shrink(size: number): void {
    if (this.#pool.options.max === this.#size) {
      setTimeout(() => {
        this.#pool.options.max = this.#size;
      }, scarceMs).unref();
    }
    this.#pool.options.max = size;
  }

  #lose(outage: StoreUnavailableError): void {
    if (this.#outage !== null) return;
    this.#outage = outage;
    this.#probeLater();
  }

  #probeLater(): void {
    this.#probe = setTimeout(() => this.#reconnect(), probeIntervalMs);
  }

  async #reconnect(): Promise<void> {
    try {
      (await this.#open()).release();
      this.#outage = null;
    } catch {
      if (!this.#closed) this.#probeLater();
    }
  }
}

/** The error for other work that the same outage refuses: of a class that is not retried at once. */
function outageError({ message, hint, cause }: StoreUnavailableError): StoreUnavailableError {
  return new StoreUnavailableError(message, { cause, ...(hint === undefined ? {} : { hint }) });
}
