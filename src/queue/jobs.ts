import type PgBoss from 'pg-boss';
import type { Sql, SqlDriver, SqlRow, SqlValue } from '../database/sql-driver.js';

/** The schema of pg-boss's tables. */
const schema = 'userinfo_pgboss';

/** How many times a chunk is offered again after its workers died or got nothing done; then it has failed. */
const retryLimit = 20;

/** How often workers look for jobs that have expired, in seconds. */
const maintenanceIntervalSeconds = 2;

/** pg-boss removes jobs that waited, or have failed, for longer; the default is days. */
const retentionDays = 365 * 20;

/** The SQL state of a fetch from a queue that allows one active job, and has one. */
const uniqueViolation = '23505';

/** A job of pg-boss is a chunk to be done. It has no data but its number, in its ID. */
export interface Job {
  readonly chunk: number;
  /** After this time others may take the chunk; in milliseconds. */
  readonly leaseMs: number;
}

/** The chunks to be done, in pg-boss: a queue for each run, a job for each chunk. */
export class Jobs {
  readonly #boss: PgBoss;

  private constructor(boss: PgBoss) {
    this.#boss = boss;
  }

  /** Creates the tables of pg-boss if they do not exist. Maintenance offers the jobs of dead workers again. */
  static async open(driver: SqlDriver, { maintains }: { readonly maintains: boolean }): Promise<Jobs> {
    const { default: Boss } = await import('pg-boss');
    const db = {
      executeSql: (text: string, values?: unknown[]) => driver.read((sql) => execute(sql, text, values)),
    };
    const boss = new Boss({
      db,
      schema,
      supervise: maintains,
      maintenanceIntervalSeconds,
      schedule: false,
      retentionDays,
      archiveFailedAfterSeconds: retentionDays * 86_400,
    });
    boss.on('error', () => {}); // every call throws its own errors; maintenance is tried again
    await boss.start();
    return new Jobs(boss);
  }

  /** Stops maintenance. */
  close(): Promise<void> {
    return this.#boss.stop({ graceful: false });
  }

  /** Creates the queue of a run. A run with a rate has one chunk under way at a time. */
  async create(run: string, leaseMs: number, hasRate: boolean): Promise<void> {
    const name = nameOf(run);
    const policy = hasRate ? 'singleton' : 'standard';
    await this.#boss.createQueue(name, {
      name,
      policy,
      retryLimit,
      expireInSeconds: Math.ceil(leaseMs / 1000),
    });
  }

  /** Adds chunks, in a transaction. */
  async add(run: string, chunks: readonly number[], sql: Sql): Promise<void> {
    const jobs = chunks.map((chunk) => ({ name: nameOf(run), id: idOf(chunk) }));
    await this.#boss.insert(jobs, { db: over(sql) });
  }

  /** Takes the chunk that has waited longest, in a transaction; `null` if there is none to take now. */
  async take(run: string, sql: Sql): Promise<Job | null> {
    let fault: unknown = null;
    const executeSql = async (text: string, values: unknown[]) => {
      try {
        return await execute(sql, text, values);
      } catch (error) {
        fault = error; // pg-boss takes every error for "no job"
        throw error;
      }
    };
    const [job] = await this.#boss.fetch(nameOf(run), { db: { executeSql } });
    if (fault !== null) throw fault;
    if (job === undefined) return null;
    return { chunk: Number.parseInt(job.id.slice(-12), 16), leaseMs: Number(job.expireInSeconds) * 1000 };
  }

  /** Removes a chunk that is done, in a transaction. */
  async remove(run: string, chunk: number, sql: Sql): Promise<void> {
    await this.#boss.deleteJob(nameOf(run), idOf(chunk), { db: over(sql) });
  }

  /** Offers a chunk again that got nothing done, in a transaction: at some time it has failed. */
  async fail(run: string, chunk: number, sql: Sql): Promise<void> {
    await this.#boss.fail(nameOf(run), idOf(chunk), {}, { db: over(sql) });
  }

  /** Offers chunks again that have failed. */
  async retry(run: string, chunks: readonly number[]): Promise<void> {
    await this.#boss.retry(nameOf(run), chunks.map(idOf));
  }

  /** The number of chunks that wait or are under way. */
  count(run: string): Promise<number> {
    return this.#boss.getQueueSize(nameOf(run), { before: 'completed' });
  }

  /** Removes the queue of a run; `open` are its chunks that are not done. */
  async drop(run: string, open: readonly number[]): Promise<void> {
    if (open.length > 0) await this.#boss.deleteJob(nameOf(run), open.map(idOf));
    await this.#boss.deleteQueue(nameOf(run));
  }
}

/** Whether the run has a chunk under way, and allows no other. */
export function isOneAtATime(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === uniqueViolation;
}

function nameOf(run: string): string {
  return `userinfo-${run}`;
}

function idOf(chunk: number): string {
  return `00000000-0000-4000-8000-${chunk.toString(16).padStart(12, '0')}`;
}

function over(sql: Sql): PgBoss.Db {
  return { executeSql: (text, values) => execute(sql, text, values) };
}

/** What pg-boss executes without values may be a transaction of its own: it must not stay open after an error. */
async function execute(sql: Sql, text: string, values?: readonly unknown[]): Promise<{ rows: SqlRow[] }> {
  try {
    return { rows: [...((await sql.all(text, values?.map(toSqlValue))) ?? [])] };
  } catch (error) {
    if (values === undefined) await sql.run('ROLLBACK').catch(() => {});
    throw error;
  }
}

/** pg-boss passes lists of UUIDs, and objects for JSON. */
function toSqlValue(value: unknown): SqlValue {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string' || typeof value === 'number') return value;
  return Array.isArray(value) ? `{${value.join(',')}}` : JSON.stringify(value);
}
