import { setTimeout as wait } from 'node:timers/promises';
import { type ClientConfig, Pool, type PoolClient } from 'pg';
import { atMost } from '../../core/support/at-most.js';
import { DatabaseBusyError, nothingWritten, StoreUnavailableError } from './errors.js';
import type { PostgresConfig } from './postgres-config.js';
import {
  notInTime,
  outcomeUnknown,
  PostgresClient,
  PostgresConnection,
} from './postgres-connection.js';
import {
  ConnectionLostError,
  TooManyConnectionsError,
  translatePostgresError,
} from './postgres-errors.js';
import type { PoolUsage } from './sql-driver.js';

/**
 * Maximum number of units of work per connection, running and waiting: further ones are refused.
 */
const maxPerConnection = 51;

/** Interval of attempts to write while the database is lost, in milliseconds. */
const probeIntervalMs = 250;

/** Time for which the pool is smaller after the database refused a connection, in milliseconds. */
const scarceMs = 5000;

/** Maximum wait for work under way when the pool is closed, in milliseconds. */
const closeWorkMs = 1000;

/** Maximum wait for the end of its connections after that, in milliseconds. */
const closeConnectionsMs = 500;

type Checkout = PoolClient & PostgresClient;
type Work<T> = (connection: PostgresConnection) => Promise<T>;

/**
 * The connections of a pool, one per unit of work, and one more that `probe` uses, a statement that
 * changes a row.
 *
 * While the database is lost, work is refused at once instead of queued. It is lost until a probe
 * has changed its row durably. So the server never has more connections of this pool than its size
 * and two: one whose COMMIT is not answered, as the standby is missing that it waits for, stays in
 * the pool. It is given up only when a later write is durable, since standbys confirm in order. A
 * probe that is given up has locked its row, and so keeps others short.
 */
export class PostgresPool {
  readonly #size: number;
  readonly #answerMs: number;
  readonly #probe: string;
  /** The server that is tried first, and the others. */
  #hosts: PostgresConfig['hosts'];
  readonly #pool: Pool;
  /** For probes: a connection for each. */
  readonly #spare: Pool;
  /** All that have a socket. */
  readonly #clients = new Set<PostgresClient>();
  /** The connections of the pool that were accepted. */
  readonly #accepted = new Set<PoolClient>();
  /** Connections whose work has ended, but not its last statement. */
  readonly #silent = new Set<Checkout>();
  /** Number of units of work that run or wait. */
  #started = 0;
  /** Why the database is lost, by the last attempt to write, or `null`. */
  #outage: StoreUnavailableError | null = null;
  readonly #closing = new AbortController();
  #onIdle = () => {};

  constructor(
    { hosts, answerMs, ...config }: Omit<PostgresConfig, 'isPooled' | 'workMs'>,
    size: number,
    probe: string,
  ) {
    this.#size = size;
    this.#answerMs = answerMs;
    this.#probe = probe;
    this.#hosts = hosts;
    const settings = { ...config, ...hosts[0], Client: listedClient(this.#clients) };
    this.#pool = new Pool({ ...settings, max: size });
    this.#spare = new Pool({ ...settings, max: 1, maxUses: 1 });
    this.#pool.on('connect', (client) => this.#accepted.add(client));
    this.#pool.on('remove', (client) => this.#accepted.delete(client));
    // A connection that breaks while idle leaves the pool.
    this.#pool.on('error', () => {});
    this.#spare.on('error', () => {});
  }

  /**
   * Runs work with a connection of its own, until `deadline`, a time of `performance.now()`. The
   * work may still be under way then, but sends nothing more.
   *
   * @throws StoreUnavailableError if there is no connection or no answer in time, otherwise what
   * the work throws
   */
  async use<T>(work: Work<T>, deadline: number): Promise<T> {
    if (this.#closing.signal.aborted) throw new StoreUnavailableError('the database is closed');
    if (this.#outage !== null) throw outageError(this.#outage);
    if (performance.now() >= deadline) throw notInTime();
    if (this.#started >= this.#size * maxPerConnection) {
      throw new DatabaseBusyError('the database is too slow for the load');
    }
    let connection: PostgresConnection | undefined;
    const run = async () => {
      const client = await this.#connect();
      connection = new PostgresConnection(client, {
        deadline,
        answerMs: this.#answerMs,
        onSilence: (fault) => this.#lose(fault),
      });
      return await this.#runOn(client, connection, work);
    };
    this.#started += 1;
    const running = run().finally(() => {
      this.#started -= 1;
      if (this.#started === 0) this.#onIdle();
    });
    const late = () => (connection?.isCommitting ? outcomeUnknown() : notInTime());
    return await endBy(deadline, running, late);
  }

  usage(): PoolUsage {
    const { totalCount, idleCount, waitingCount } = this.#pool;
    return { in_use: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
  }

  /** Waits for started work, then closes all connections. */
  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    if (this.#started > 0) {
      const idle = new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
      await atMost(closeWorkMs, idle);
    }
    await atMost(closeConnectionsMs, Promise.all([this.#pool.end(), this.#spare.end()]));
    for (const client of this.#clients) client.cut();
  }

  async #runOn<T>(client: Checkout, connection: PostgresConnection, work: Work<T>): Promise<T> {
    let isBroken = false;
    try {
      return await work(connection);
    } catch (error) {
      isBroken = error instanceof ConnectionLostError;
      throw error;
    } finally {
      this.#giveBack(client, connection, isBroken);
    }
  }

  async #connect(): Promise<Checkout> {
    try {
      return await this.#tryHosts(this.#pool).catch((fault) => this.#connectAgain(fault));
    } catch (fault) {
      const isFull = fault instanceof TooManyConnectionsError && this.#accepted.size === 0;
      if (!isFull && !(fault instanceof ConnectionLostError)) throw fault;
      this.#lose(fault);
      throw outageError(fault);
    }
  }

  /** Once the server accepts no more: waits for a connection that others use. */
  async #connectAgain(fault: unknown): Promise<Checkout> {
    const { size } = this.#accepted;
    if (!(fault instanceof TooManyConnectionsError) || size === 0) throw fault;
    this.#shrink(size);
    return await this.#tryHosts(this.#pool);
  }

  /**
   * A connection for a probe: a new one, which shows most, or one of the pool where none can be
   * had.
   */
  async #connectSpare(): Promise<Checkout> {
    try {
      return await this.#tryHosts(this.#spare);
    } catch (fault) {
      if (this.#pool.idleCount === 0) throw fault;
      return await this.#tryHosts(this.#pool);
    }
  }

  /** Tries each server once, first the one that was last connected to. */
  async #tryHosts(pool: Pool): Promise<Checkout> {
    for (let left = this.#hosts.length; ; left--) {
      const tried = this.#hosts;
      try {
        return (await pool.connect()) as Checkout;
      } catch (error) {
        const fault = translatePostgresError(error);
        if (!(fault instanceof ConnectionLostError)) throw fault;
        // Unless another unit of work did so meanwhile.
        if (this.#hosts === tried) this.#tryNextHostFirst();
        if (left <= 1) throw fault;
      }
    }
  }

  #tryNextHostFirst(): void {
    this.#hosts = [...this.#hosts.slice(1), ...this.#hosts.slice(0, 1)];
    for (const { options } of [this.#pool, this.#spare]) Object.assign(options, this.#hosts[0]);
  }

  /** Uses fewer connections for a while, because the database allows no more. */
  #shrink(allowed: number): void {
    const { options } = this.#pool;
    if (options.max === this.#size) {
      const restore = () => {
        options.max = this.#size;
      };
      setTimeout(restore, scarceMs).unref();
    }
    options.max = allowed;
  }

  /** Gives a connection back once all is answered that was sent. */
  #giveBack(client: Checkout, connection: PostgresConnection, isBroken: boolean): void {
    const release = () => {
      this.#silent.delete(client);
      client.release(!connection.release() || isBroken);
    };
    if (connection.isAnswered) {
      release();
      return;
    }
    this.#silent.add(client);
    connection.whenAnswered(release);
  }

  #lose(fault: StoreUnavailableError): void {
    if (this.#outage !== null || this.#closing.signal.aborted) return;
    this.#outage = fault;
    void this.#endOutage();
  }

  async #endOutage(): Promise<void> {
    const { signal } = this.#closing;
    while (this.#outage !== null && !signal.aborted) {
      try {
        await wait(probeIntervalMs, undefined, { signal });
        await this.#writeProbe();
        this.#outage = null;
        for (const client of this.#silent) client.cut();
      } catch (error) {
        const isCause =
          error instanceof StoreUnavailableError && !(error instanceof DatabaseBusyError);
        if (isCause) this.#outage = error;
      }
    }
  }

  /** Resolves when a row is changed durably. */
  async #writeProbe(): Promise<void> {
    const client = await this.#connectSpare();
    const connection = new PostgresConnection(client, {
      deadline: Number.POSITIVE_INFINITY,
      answerMs: this.#answerMs,
      onSilence: () => {},
    });
    let isBroken = true;
    try {
      const results = [await connection.query(this.#probe)].flat();
      if (results.at(-1)?.rowCount === 0) throw new StoreUnavailableError(nothingWritten);
      isBroken = false;
    } finally {
      if (!connection.isAnswered) client.cut();
      this.#giveBack(client, connection, isBroken);
    }
  }
}

/** A class of clients that are in a set while they have a socket. */
function listedClient(clients: Set<PostgresClient>) {
  return class extends PostgresClient {
    constructor(config?: string | ClientConfig) {
      super(config);
      clients.add(this);
      this.once('end', () => clients.delete(this));
    }
  };
}

/** Settles as a promise does, or rejects at a time of `performance.now()`. The promise goes on. */
function endBy<T>(deadline: number, promise: Promise<T>, late: () => Error): Promise<T> {
  if (deadline === Number.POSITIVE_INFINITY) return promise;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), deadline - performance.now());
    const clear = () => clearTimeout(timer);
    promise.then(resolve, reject).then(clear, clear);
  });
}

/**
 * The error for other work that the same outage refuses: of a class that is not retried at once.
 */
function outageError({ message, hint, cause }: StoreUnavailableError): StoreUnavailableError {
  return new StoreUnavailableError(message, { cause, hint });
}
