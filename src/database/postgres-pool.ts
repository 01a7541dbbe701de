import type { Pool, PoolClient } from 'pg';
import { StoreUnavailableError } from './errors.js';
import {
  ConnectionLostError,
  DatabaseNoAnswerError,
  TooManyConnectionsError,
  translatePostgresError,
} from './postgres-errors.js';

/** Maximum number of waiting units of work per connection: further ones are refused. */
const waitingPerConnection = 50;

/** Maximum wait for a connection, in milliseconds. */
const waitTimeoutMs = 5000;

/** Interval of connection attempts while the database is lost, in milliseconds. */
const probeIntervalMs = 250;

/** How long the pool is smaller after the database refused a connection, in milliseconds. */
const scarceMs = 5000;

interface Waiter {
  readonly enter: () => void;
  readonly refuse: (error: unknown) => void;
}

/**
 * Leases the connections of a pool, one per unit of work. While the database is lost, work is refused at once
 * instead of queued, and the pool tries to connect until the database is back.
 */
export class PostgresPool {
  readonly #pool: Pool;
  readonly #size: number;
  #leased = 0;
  /** How many connections the database allows, as far as known. */
  #given: number;
  #waiters: Waiter[] = [];
  /** Why the database is lost, or `null`. */
  #outage: StoreUnavailableError | null = null;
  #probe: NodeJS.Timeout | undefined;
  #closed = false;
  #onIdle: (() => void) | null = null;

  constructor(pool: Pool, size: number) {
    this.#pool = pool;
    this.#size = size;
    this.#given = size;
    // A connection that breaks while idle leaves the pool; while leased, its statement fails.
    pool.on('error', () => {});
    pool.on('connect', (client) => client.on('error', () => {}));
  }

  /** @throws StoreUnavailableError if there is no connection, otherwise what the work throws */
  async use<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    await this.#enter();
    try {
      const client = await this.#connect();
      let broken = false;
      try {
        return await work(client);
      } catch (error) {
        broken = error instanceof ConnectionLostError;
        if (error instanceof DatabaseNoAnswerError) this.#lose(error);
        throw error;
      } finally {
        client.release(broken);
      }
    } finally {
      this.#leave();
    }
  }

  /** Waits for started work, then closes all connections. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#leased > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
    clearTimeout(this.#probe);
    await this.#pool.end();
  }

  async #enter(): Promise<void> {
    if (this.#closed) throw new StoreUnavailableError('the database is closed');
    if (this.#outage !== null) throw outageError(this.#outage);
    if (this.#leased < this.#given) {
      this.#leased += 1;
      return;
    }
    if (this.#waiters.length >= this.#size * waitingPerConnection) {
      throw new StoreUnavailableError('the database is too slow for the load');
    }
    await this.#waitForTurn();
  }

  #waitForTurn(): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        enter: () => {
          clearTimeout(timer);
          resolve();
        },
        refuse: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      };
      const timer = setTimeout(() => {
        this.#waiters = this.#waiters.filter((other) => other !== waiter);
        reject(new StoreUnavailableError('no connection to the database was free in time'));
      }, waitTimeoutMs);
      this.#waiters.push(waiter);
    });
  }

  #leave(): void {
    const next = this.#waiters.shift();
    if (next !== undefined) {
      next.enter();
      return;
    }
    this.#leased -= 1;
    if (this.#leased === 0) this.#onIdle?.();
  }

  async #connect(): Promise<PoolClient> {
    try {
      return await this.#pool.connect();
    } catch (error) {
      const fault = translatePostgresError(error);
      if (fault instanceof TooManyConnectionsError && this.#leased > 1) {
        await this.#waitForAnother();
        return await this.#connect();
      }
      if (fault instanceof StoreUnavailableError && !(fault instanceof TooManyConnectionsError)) {
        this.#lose(fault);
        throw outageError(fault);
      }
      throw fault;
    }
  }

  /** Waits for a connection of another unit of work, because the database allows no more. */
  async #waitForAnother(): Promise<void> {
    this.#leased -= 1;
    if (this.#given === this.#size) {
      setTimeout(() => {
        this.#given = this.#size;
      }, scarceMs).unref();
    }
    this.#given = this.#leased;
    try {
      await this.#waitForTurn();
    } catch (error) {
      // The caller always releases its lease.
      this.#leased += 1;
      throw error;
    }
  }

  #lose(outage: StoreUnavailableError): void {
    if (this.#outage !== null) return;
    this.#outage = outage;
    for (const waiter of this.#waiters.splice(0)) waiter.refuse(outageError(outage));
    this.#probeLater();
  }

  #probeLater(): void {
    this.#probe = setTimeout(() => this.#reconnect(), probeIntervalMs);
  }

  async #reconnect(): Promise<void> {
    try {
      (await this.#pool.connect()).release();
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
