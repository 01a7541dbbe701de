import type PgBoss from 'pg-boss';
import type { Sql, SqlDriver, SqlRow, SqlValue } from '../database/sql-driver.js';
import type { ChunkPlace } from './lanes.js';

/** What pg-boss keeps its tables in. */
const schema = 'userinfo_pgboss';

/** A chunk comes back however often its workers die. */
const retryLimit = 1_000_000_000;

/** A job of pg-boss: that a chunk is to be done. */
export interface ChunkJob extends ChunkPlace {
  readonly id: string;
}

/**
 * Hands chunks out through pg-boss, a queue a run: each to one worker at a time. What it is given as `sql` is the
 * transaction that it takes part in.
 */
export class JobQueue {
  readonly #boss: PgBoss;

  private constructor(boss: PgBoss) {
    this.#boss = boss;
  }

  /** Makes the tables of pg-boss where there are none. */
  static async open(driver: SqlDriver): Promise<JobQueue> {
    const { default: Boss } = await import('pg-boss');
    const db = {
      executeSql: (text: string, values?: unknown[]) => driver.read((sql) => executeOver(sql, text, values)),
    };
    // Leases are kept in our own table: no process has to look after those of pg-boss.
    const boss = new Boss({ db, schema, supervise: false, schedule: false });
    boss.on('error', () => {}); // it is thrown where it is met
    await boss.start();
    return new JobQueue(boss);
  }

  create(run: string): Promise<void> {
    return this.#boss.createQueue(nameOf(run), { name: nameOf(run), retryLimit });
  }

  /** Chunks may be done from now on. */
  async add(run: string, places: readonly ChunkPlace[], sql: Sql): Promise<void> {
    const jobs = places.map(({ lane, chunk }) => ({ name: nameOf(run), data: { lane, chunk } }));
    await this.#boss.insert(jobs, { db: overTransaction(sql) });
  }

  /** The chunk that has waited longest; `null` where none does. */
  async take(run: string, sql: Sql): Promise<ChunkJob | null> {
    const db = overTransaction(sql);
    const [job] = await this.#boss.fetch<string>(nameOf(run), { db });
    if (db.error !== null) throw db.error; // pg-boss takes every error for no job
    return job === undefined ? null : { id: job.id, ...JSON.parse(job.data) };
  }

  /** The chunk is done, or not to be done any more: nothing is left of its job. */
  async remove(run: string, job: string, sql: Sql): Promise<void> {
    await this.#boss.deleteJob(nameOf(run), job, { db: overTransaction(sql) });
  }

  /** For another worker. */
  async giveBack(run: string, jobs: readonly string[], sql: Sql): Promise<void> {
    for (const job of jobs) await this.#boss.fail(nameOf(run), job, {}, { db: overTransaction(sql) });
  }

  /** The run is over; `taken` are the jobs that workers still have. */
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

/** What pg-boss writes without values may be a transaction of its own: it must not stay open where it fails. */
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

/** pg-boss gives lists of UUIDs, and objects for JSON. */
function toSqlValue(value: unknown): SqlValue {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string' || typeof value === 'number') return value;
  return Array.isArray(value) ? `{${value.join(',')}}` : JSON.stringify(value);
}
