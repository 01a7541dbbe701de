import type PgBoss from 'pg-boss';
import type { Sql, SqlDriver, SqlRow, SqlValue } from '../database/sql-driver.js';
import type { ChunkPlace } from './lanes.js';

/** The schema of pg-boss's tables. */
const schema = 'userinfo_pgboss';

/** A chunk is offered again, however often its workers die. */
const retryLimit = 1_000_000_000;

/** A job of pg-boss: a chunk that is to be done. */
export interface ChunkJob extends ChunkPlace {
  readonly id: string;
}

/**
 * Hands out chunks through pg-boss, one queue for each run: each chunk to one worker at a time. `sql` is the
 * transaction to take part in.
 */
export class JobQueue {
  readonly #boss: PgBoss;

  private constructor(boss: PgBoss) {
    this.#boss = boss;
  }

  /** Creates the tables of pg-boss if they do not exist. */
  static async open(driver: SqlDriver): Promise<JobQueue> {
    const { default: Boss } = await import('pg-boss');
    const db = {
      executeSql: (text: string, values?: unknown[]) => driver.read((sql) => executeOver(sql, text, values)),
    };
    // Leases are in our own table: those of pg-boss need no supervision.
    const boss = new Boss({ db, schema, supervise: false, schedule: false });
    boss.on('error', () => {}); // every call throws its own errors
    await boss.start();
    return new JobQueue(boss);
  }

  create(run: string): Promise<void> {
    return this.#boss.createQueue(nameOf(run), { name: nameOf(run), retryLimit });
  }

  /** Makes chunks available. */
  async add(run: string, places: readonly ChunkPlace[], sql: Sql): Promise<void> {
    const jobs = places.map(({ lane, chunk }) => ({ name: nameOf(run), data: { lane, chunk } }));
    await this.#boss.insert(jobs, { db: overTransaction(sql) });
  }

  /** The chunk that has waited longest; `null` if none waits. */
  async take(run: string, sql: Sql): Promise<ChunkJob | null> {
    const db = overTransaction(sql);
    const [job] = await this.#boss.fetch<string>(nameOf(run), { db });
    if (db.error !== null) throw db.error; // pg-boss takes every error for "no job"
    return job === undefined ? null : { id: job.id, ...JSON.parse(job.data) };
  }

  /** Removes the job of a chunk that is done, or no longer to be done. */
  async remove(run: string, job: string, sql: Sql): Promise<void> {
    await this.#boss.deleteJob(nameOf(run), job, { db: overTransaction(sql) });
  }

  /** Makes the chunks of jobs available to other workers. */
  async giveBack(run: string, jobs: readonly string[], sql: Sql): Promise<void> {
    for (const job of jobs) await this.#boss.fail(nameOf(run), job, {}, { db: overTransaction(sql) });
  }

  /** Removes the jobs of a run that has ended; `taken` are those that workers still hold. */
  async drop(run: string, taken: readonly string[] = []): Promise<void> {
    const name = nameOf(run);
    await this.#boss.purgeQueue(name);
    if (taken.length > 0) await this.#boss.deleteJob(name, [...taken]);
    await this.#boss.deleteQueue(name);
  }
}

function nameOf(run: string): string {
  return `userinfo-${run}`;
}

interface TransactionDb extends PgBoss.Db {
  error: unknown;
}

function overTransaction(sql: Sql): TransactionDb {
  const db: TransactionDb = {
    error: null,
    async executeSql(text, values) {
      try {
        return await executeOver(sql, text, values);
      } catch (error) {
        db.error = error;
        throw error;
      }
    },
  };
  return db;
}

/** What pg-boss executes without values may be a transaction of its own: it must not stay open after an error. */
async function executeOver(
  sql: Sql,
  text: string,
  values?: readonly unknown[],
): Promise<{ rows: SqlRow[]; rowCount: number }> {
  try {
    const rows = [...((await sql.all(text, values?.map(toSqlValue))) ?? [])];
    return { rows, rowCount: rows.length };
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
