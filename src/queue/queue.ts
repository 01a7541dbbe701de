import { StartError, StoreUnavailableError } from '../database/errors.js';
import { migrate } from '../database/migrations.js';
import { describePostgres, openPostgresDriver } from '../database/postgres-driver.js';
import type { SqlDriver } from '../database/sql-driver.js';
import { Chunks } from './chunks.js';
import { JobQueue } from './job-queue.js';
import { Runs } from './runs.js';
import { queueSchema } from './schema.js';

/** A queue of runs in a PostgreSQL database, which many machines may share. */
export interface Queue {
  readonly driver: SqlDriver;
  readonly runs: Runs;
  readonly chunks: Chunks;
  close(): Promise<void>;
}

/** Connections: a process needs one for its work and one for its heartbeats. */
const poolSize = 3;

/**
 * Opens the queue in a PostgreSQL database, and creates its tables if they do not exist.
 *
 * @throws StartError, which shows no password
 */
export async function openQueue(url: string): Promise<Queue> {
  if (!/^postgres(?:ql)?:\/\//i.test(url)) {
    throw new StartError('CANNOT_OPEN_DATABASE', 'a queue is in PostgreSQL, and this is no URL of it', {
      hint: 'Give one such as postgres://user@host/database, the password in PGPASSWORD.',
    });
  }
  const name = describePostgres(url);
  try {
    return await openOver(await openPostgresDriver(url, { poolSize, prepares: false }));
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
    throw new StartError('CANNOT_OPEN_DATABASE', `cannot open the queue ${name}: ${error.message}`, {
      ...(error.hint === undefined ? {} : { hint: error.hint }),
      cause: error,
    });
  }
}

async function openOver(driver: SqlDriver): Promise<Queue> {
  try {
    await migrate(driver, queueSchema);
    const jobs = await JobQueue.open(driver);
    return {
      driver,
      runs: new Runs(driver, jobs),
      chunks: new Chunks(driver, jobs),
      close: () => driver.close(),
    };
  } catch (error) {
    await driver.close();
    throw error;
  }
}
