import type { Pool, PoolClient } from 'pg';
import { StoreUnavailableError } from './errors.js';
import {
  ConnectionLostError,
  NoAnswerError,
  NoConnectionLeftError,
  toStoreFault,
} from './postgres-errors.js';

/** Works that may wait for each connection: those that come later are refused. */
const waitingPerConnection = 50;

/** How long a work waits for a connection, in milliseconds. */
const waitTimeoutMs = 5000;

/** How often a database that was lost is looked for, in milliseconds. */
const probeIntervalMs = 250;

/** How long fewer connections are asked for than the pool may have, where the database gave no more, in milliseconds. */
const scarceMs = 5000;

interface Waiter {
  readonly enter: () => void;
  readonly refuse: (error: unknown) => void;
}

/**
 * Lends the connections of a pool, each to one work at a time. While the database is lost, works are refused at
 * once instead of piling up, and it is looked for until it is back.
 */
export class PostgresPool {
  readonly #pool: Pool;
  readonly #size: number;
  #lent = 0;
  /** How many connections the database gives, as far as is known. */
  #given: number;
  #waiters: Waiter[] = [];
  /** Why the database is lost; `null` where it is not. */
  #outage: StoreUnavailableError | null = null;
  #probe: NodeJS.Timeout | undefined;
  #closed = false;
  #onIdle: (() => void) | null = null;

  constructor(pool: Pool, size: number) {
    this.#pool = pool;
    this.#size = size;
    this.#given = size;
    // A connection that breaks while nobody uses it is no longer in the pool; in use, its statement tells.
    pool.on('error', () => {});
    pool.on('connect', (client) => client.on('error', () => {}));
  }

  /** Throws a StoreUnavailableError where there is no connection, else what the work throws. */
  async use<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    await this.#enter();
    try {
      const client = await this.#connect();
      let broken = false;
      try {
        return await work(client);
      } catch (error) {
        broken = error instanceof ConnectionLostError;
        if (error instanceof NoAnswerError) this.#lose(error);
        throw error;
      } finally {
        client.release(broken);
      }
    } finally {
      this.#leave();
    }
  }

  /** Lets what was begun end, then closes every connection. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#lent > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
    clearTimeout(this.#probe);
    await this.#pool.end();
  }

  async #enter(): Promise<void> {
    if (this.#closed) throw new StoreUnavailableError('the database is closed');
    if (this.#outage !== null) throw again(this.#outage);
    if (this.#lent < this.#given) {
      this.#lent += 1;
      return;
    }
    if (this.#waiters.length >= this.#size * waitingPerConnection) {
      throw new StoreUnavailableError('the database is too slow for all that is asked');
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
    this.#lent -= 1;
    if (this.#lent === 0) this.#onIdle?.();
  }

  async #connect(): Promise<PoolClient> {
    try {
      return await this.#pool.connect();
    } catch (error) {
      const fault = toStoreFault(error);
      if (fault instanceof NoConnectionLeftError && this.#lent > 1) {
        await this.#waitForAnother();
        return await this.#connect();
      }
      if (fault instanceof StoreUnavailableError && !(fault instanceof NoConnectionLeftError)) {
        this.#lose(fault);
        throw again(fault);
      }
      throw fault;
    }
  }

  /** Waits for a connection that another work has, where the database gives no more than those. */
  async #waitForAnother(): Promise<void> {
    this.#lent -= 1;
    if (this.#given === this.#size) {
      setTimeout(() => {
        this.#given = this.#size;
      }, scarceMs).unref();
    }
    this.#given = this.#lent;
    try {
      await this.#waitForTurn();
    } catch (error) {
      // The caller gives its place back in any case.
      this.#lent += 1;
      throw error;
    }
  }

  #lose(outage: StoreUnavailableError): void {
    if (this.#outage !== null) return;
    this.#outage = outage;
    for (const waiter of this.#waiters.splice(0)) waiter.refuse(again(outage));
    this.#probeLater();
  }

  #probeLater(): void {
    this.#probe = setTimeout(() => this.#lookForDatabase(), probeIntervalMs);
  }

  async #lookForDatabase(): Promise<void> {
    try {
      (await this.#pool.connect()).release();
      this.#outage = null;
    } catch {
      if (!this.#closed) this.#probeLater();
    }
  }
}

/** For another work that the same outage refuses: not one that is tried again at once. */
function again({ message, hint, cause }: StoreUnavailableError): StoreUnavailableError {
  return new StoreUnavailableError(message, { cause, ...(hint === undefined ? {} : { hint }) });
}
