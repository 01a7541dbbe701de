import type PgBoss from 'pg-boss';
import type { Sql, SqlDriver, SqlRow, SqlValue } from '../database/sql-driver.js';
import type { Chunk, QueuedRow, TakenChunk } from './run.js';

/** The schema of pg-boss's tables. */
const schema = 'userinfo_pgboss';

/** How many times a chunk is offered again after its workers died or got nothing done; then it has failed. */
const retryLimit = 20;

/** How often workers look for jobs that have expired, in seconds. */
const maintenanceIntervalSeconds = 2;

/** pg-boss removes jobs that waited, have failed or are kept for longer; the default is hours or days. */
const retentionDays = 365 * 20;
const retentionSeconds = retentionDays * 86_400;

/** Maximum number of jobs that one statement changes: it must end before the time-out of statements. */
const jobsAtOnce = 1000;

/** The chunks of runs in pg-boss: a queue for each run, a job with their rows for each chunk. */
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
      archiveCompletedAfterSeconds: retentionSeconds,
      archiveFailedAfterSeconds: retentionSeconds,
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
    const expireInSeconds = Math.ceil(leaseMs / 1000);
    await this.#boss.createQueue(name, { name, policy, retryLimit, expireInSeconds });
  }

  async add(run: string, { chunk, rows }: Chunk, sql: Sql): Promise<void> {
    await this.#boss.insert([{ name: nameOf(run), id: idOf(chunk), data: { rows } }], { db: over(sql) });
  }

  /**
   * Takes the chunk that has waited longest; `null` if there is none to take now, or, as pg-boss does not tell the
   * difference, the database is lost.
   */
  async take(run: string): Promise<TakenChunk | null> {
    const [job] = await this.#boss.fetch(nameOf(run), { includeMetadata: true });
    if (job === undefined) return null;
    return {
      chunk: Number.parseInt(job.id.slice(-12), 16),
      rows: rowsOf(job),
      leaseMs: Number(job.expireInSeconds) * 1000,
      takenAt: String(job.startedOn),
    };
  }

  /** Ends a chunk, whoever holds it, and removes its rows or keeps them; returns whether it had not ended before. */
  async end(run: string, chunk: number, keepsRows: boolean, sql: Sql): Promise<boolean> {
    const ended = keepsRows
      ? this.#boss.complete(nameOf(run), idOf(chunk), {}, { db: over(sql) })
      : this.#boss.deleteJob(nameOf(run), idOf(chunk), { db: over(sql) });
    return (await affected(ended)) > 0;
  }

  /**
   * Offers a chunk again, unless another worker has it by now. One that was handed back too often without progress has
   * failed.
   */
  async handBack(run: string, { chunk, takenAt }: TakenChunk, hasProgress: boolean, sql: Sql): Promise<void> {
    const [name, id, db] = [nameOf(run), idOf(chunk), over(sql)];
    const job = await this.#boss.getJobById(name, id, { db, includeArchive: false });
    if (job?.state !== 'active' || String(job.startedOn) !== takenAt) return;
    if (!hasProgress) return await this.#boss.fail(name, id, {}, { db });
    await this.#boss.deleteJob(name, id, { db });
    await this.add(run, { chunk, rows: rowsOf(job) }, sql);
  }

  /** Offers the failed ones of this many chunks again, and returns their number. */
  retry(run: string, chunks: number): Promise<number> {
    return changeAll(chunks, (ids) => this.#boss.retry(nameOf(run), ids));
  }

  /** Lets no worker take a chunk any more. */
  async cancel(run: string, chunks: number): Promise<void> {
    await changeAll(chunks, (ids) => this.#boss.cancel(nameOf(run), ids));
  }

  /** How many chunks are not done and have not failed, and how many of them workers hold. */
  async count(run: string): Promise<{ open: number; held: number }> {
    const [waiting, open] = await Promise.all([
      this.#boss.getQueueSize(nameOf(run), { before: 'active' }),
      this.#boss.getQueueSize(nameOf(run), { before: 'completed' }),
    ]);
    return { open, held: Math.max(0, open - waiting) };
  }

  /** The rows of a chunk; none if they were removed. */
  async rows(run: string, chunk: number): Promise<readonly QueuedRow[]> {
    const job = await this.#boss.getJobById(nameOf(run), idOf(chunk));
    return job === null ? [] : rowsOf(job);
  }

  /** Removes the queue of a run with its chunks. */
  async drop(run: string, chunks: number): Promise<void> {
    await changeAll(chunks, (ids) => this.#boss.deleteJob(nameOf(run), ids));
    await this.#boss.deleteQueue(nameOf(run));
  }
}

/** The driver returns everything but integers as text, unlike the types of pg-boss. */
function rowsOf({ data }: { readonly data: unknown }): readonly QueuedRow[] {
  return JSON.parse(String(data)).rows;
}

function nameOf(run: string): string {
  return `userinfo-${run}`;
}

function idOf(chunk: number): string {
  return `00000000-0000-4000-8000-${chunk.toString(16).padStart(12, '0')}`;
}

/** Changes the jobs of this many chunks, and returns how many were changed. */
async function changeAll(chunks: number, change: (ids: string[]) => Promise<void>): Promise<number> {
  let changed = 0;
  for (let first = 0; first < chunks; first += jobsAtOnce) {
    const length = Math.min(jobsAtOnce, chunks - first);
    changed += await affected(change(Array.from({ length }, (_, i) => idOf(first + i))));
  }
  return changed;
}

/** The number of jobs that were changed, which the types of pg-boss leave out. */
async function affected(change: Promise<unknown>): Promise<number> {
  return ((await change) as { readonly affected: number }).affected;
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
