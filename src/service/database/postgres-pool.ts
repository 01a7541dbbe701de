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

/**
 * Maximum wait for work under way when the pool is closed, and then for the end of its connections,
 * in milliseconds.
 */
const [closeWorkMs, closeConnectionsMs] = [1000, 500];

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
export function openPool(
  { hosts: given, answerMs, ...config }: Omit<PostgresConfig, 'isPooled' | 'workMs'>,
  size: number,
  probe: string,
) {
  /** All that have a socket. */
  const clients = new Set<PostgresClient>();
  class KnownClient extends PostgresClient {
    constructor(own?: string | ClientConfig) {
      super(own);
      clients.add(this);
      this.once('end', () => clients.delete(this));
    }
  }
  /** The server that is tried first, and the others. */
  let hosts = given;
  const settings = { ...config, ...hosts[0], Client: KnownClient };
  const pool = new Pool({ ...settings, max: size });
  const spare = new Pool({ ...settings, max: 1, maxUses: 1 });
  /** The connections of the pool that were accepted. */
  const accepted = new Set<PoolClient>();
  pool.on('connect', (client) => accepted.add(client));
  pool.on('remove', (client) => accepted.delete(client));
  // A connection that breaks while idle leaves the pool.
  pool.on('error', () => {});
  spare.on('error', () => {});
  /** Connections whose work has ended, but not its last statement. */
  const silent = new Set<Checkout>();
  /** Number of units of work that run or wait. */
  let started = 0;
  /** Why the database is lost, by the last attempt to write, or `null`. */
  let outage: StoreUnavailableError | null = null;
  const closing = new AbortController();
  let onIdle = () => {};

  async function connect(): Promise<Checkout> {
    try {
      return await tryHosts(pool).catch(connectAgain);
    } catch (fault) {
      const isFull = fault instanceof TooManyConnectionsError && accepted.size === 0;
      if (!isFull && !(fault instanceof ConnectionLostError)) throw fault;
      lose(fault);
      throw outageError(fault);
    }
  }

  /** Once the server accepts no more: waits for a connection that others use. */
  async function connectAgain(fault: unknown): Promise<Checkout> {
    if (!(fault instanceof TooManyConnectionsError) || accepted.size === 0) throw fault;
    shrink(accepted.size);
    return await tryHosts(pool);
  }

  /**
   * A connection for a probe: a new one, which shows most, or one of the pool where none can be
   * had.
   */
  async function connectSpare(): Promise<Checkout> {
    try {
      return await tryHosts(spare);
    } catch (fault) {
      if (pool.idleCount === 0) throw fault;
      return await tryHosts(pool);
    }
  }

  /** Tries each server once, first the one that was last connected to. */
  async function tryHosts(from: Pool): Promise<Checkout> {
    for (let left = hosts.length; ; left--) {
      const tried = hosts;
      try {
        return (await from.connect()) as Checkout;
      } catch (error) {
        const fault = translatePostgresError(error);
        if (!(fault instanceof ConnectionLostError)) throw fault;
        // Unless another unit of work did so meanwhile.
        if (hosts === tried) {
          hosts = [...tried.slice(1), ...tried.slice(0, 1)];
          for (const each of [pool, spare]) Object.assign(each.options, hosts[0]);
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

  /** Gives a connection back once all is answered that was sent. */
  function giveBack(client: Checkout, connection: PostgresConnection, isBroken: boolean): void {
    const release = () => {
      silent.delete(client);
      client.release(!connection.release() || isBroken);
    };
    if (connection.isAnswered) {
      release();
      return;
    }
    silent.add(client);
    connection.whenAnswered(release);
  }

  function lose(fault: StoreUnavailableError): void {
    if (outage !== null || closing.signal.aborted) return;
    outage = fault;
    void endOutage();
  }

  async function endOutage(): Promise<void> {
    while (outage !== null && !closing.signal.aborted) {
      try {
        await wait(probeIntervalMs, undefined, { signal: closing.signal });
        await writeProbe();
        outage = null;
        for (const client of silent) client.cut();
      } catch (error) {
        const isCause =
          error instanceof StoreUnavailableError && !(error instanceof DatabaseBusyError);
        if (isCause) outage = error;
      }
    }
  }

  /** Resolves when a row is changed durably. */
  async function writeProbe(): Promise<void> {
    const client = await connectSpare();
    const limits = { deadline: Number.POSITIVE_INFINITY, answerMs, onSilence: () => {} };
    const connection = new PostgresConnection(client, limits);
    let isBroken = true;
    try {
      const results = [await connection.query(probe)].flat();
      if (results.at(-1)?.rowCount === 0) throw new StoreUnavailableError(nothingWritten);
      isBroken = false;
    } finally {
      if (!connection.isAnswered) client.cut();
      giveBack(client, connection, isBroken);
    }
  }

  return {
    /**
     * Runs work with a connection of its own, until `deadline`, a time of `performance.now()`. The
     * work may still be under way then, but sends nothing more.
     *
     * @throws StoreUnavailableError if there is no connection or no answer in time, otherwise what
     * the work throws
     */
    async use<T>(work: Work<T>, deadline: number): Promise<T> {
      if (closing.signal.aborted) throw new StoreUnavailableError('the database is closed');
      if (outage !== null) throw outageError(outage);
      if (performance.now() >= deadline) throw notInTime();
      if (started >= size * maxPerConnection) {
        throw new DatabaseBusyError('the database is too slow for the load');
      }
      let connection: PostgresConnection | undefined;
      const run = async () => {
        const client = await connect();
        connection = new PostgresConnection(client, { deadline, answerMs, onSilence: lose });
        let isBroken = false;
        try {
          return await work(connection);
        } catch (error) {
          isBroken = error instanceof ConnectionLostError;
          throw error;
        } finally {
          giveBack(client, connection, isBroken);
        }
      };
      started += 1;
      const running = run().finally(() => {
        started -= 1;
        if (started === 0) onIdle();
      });
      const late = () => (connection?.isCommitting ? outcomeUnknown() : notInTime());
      return await endBy(deadline, running, late);
    },
    usage(): PoolUsage {
      const { totalCount, idleCount, waitingCount } = pool;
      return { in_use: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
    },
    /** Waits for started work, then closes all connections. */
    async close(): Promise<void> {
      if (closing.signal.aborted) return;
      closing.abort();
      if (started > 0) {
        const idle = new Promise<void>((resolve) => {
          onIdle = resolve;
        });
        await atMost(closeWorkMs, idle);
      }
      await atMost(closeConnectionsMs, Promise.all([pool.end(), spare.end()]));
      for (const client of clients) client.cut();
    },
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
  return new StoreUnavailableError(message, { cause, ...(hint === undefined ? {} : { hint }) });
}
