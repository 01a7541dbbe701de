import type PgBoss from 'pg-boss';
import type { Sql, SqlDriver, SqlParameter, SqlRow } from '../database/sql-driver.js';
import type { QueuedRow } from './run.js';

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

/** Opens pg-boss, and creates its tables if they do not exist. Its maintenance offers the jobs of dead workers again. */
export async function openBoss(driver: SqlDriver): Promise<PgBoss> {
  const { default: Boss } = await import('pg-boss');
  const db = {
    executeSql: (text: string, values?: unknown[]) => driver.read((sql) => execute(sql, text, values)),
  };
  const boss = new Boss({
    db,
    schema,
    maintenanceIntervalSeconds,
    schedule: false,
    retentionDays,
    archiveCompletedAfterSeconds: retentionSeconds,
    archiveFailedAfterSeconds: retentionSeconds,
  });
  boss.on('error', () => {}); // every call throws its own errors; maintenance is tried again
  return await boss.start();
}

/** The options of the queue of a run. A run with a rate has one chunk under way at a time. */
export function queueOptions(run: string, leaseMs: number, hasRate: boolean): PgBoss.Queue {
  const policy = hasRate ? 'singleton' : 'standard';
  return { name: nameOf(run), policy, retryLimit, expireInSeconds: Math.ceil(leaseMs / 1000) };
}

export function nameOf(run: string): string {
  return `userinfo-${run}`;
}

export function idOf(chunk: number): string {
  return `00000000-0000-4000-8000-${chunk.toString(16).padStart(12, '0')}`;
}

/** The SQL state of a fetch from a queue that allows one active job, and has one. */
const uniqueViolation = '23505';

/** Fetches a job of a run. pg-boss takes every error for "no job"; of these, only one means that. */
export async function fetchJob(boss: PgBoss, run: string) {
  const faults: unknown[] = [];
  const executeSql: PgBoss.Db['executeSql'] = async (text, values) => {
    try {
      return await boss.getDb().executeSql(text, values);
    } catch (error) {
      faults.push(error);
      throw error;
    }
  };
  const [job] = await boss.fetch(nameOf(run), { includeMetadata: true, db: { executeSql } });
  for (const fault of faults) {
    if (!(fault instanceof Error && 'code' in fault && fault.code === uniqueViolation)) throw fault;
  }
  return job;
}

/** The driver returns everything but integers as text, unlike the types of pg-boss. */
export function rowsOf({ data }: { readonly data: unknown }): readonly QueuedRow[] {
  return JSON.parse(String(data)).rows;
}

/** Changes the jobs of this many chunks, and returns how many were changed. */
export async function changeAll(chunks: number, change: (ids: string[]) => Promise<void>): Promise<number> {
  let changed = 0;
  for (let first = 0; first < chunks; first += jobsAtOnce) {
    const length = Math.min(jobsAtOnce, chunks - first);
    changed += await affected(change(Array.from({ length }, (_, i) => idOf(first + i))));
  }
  return changed;
}

/** The number of jobs that were changed, which the types of pg-boss leave out. */
export async function affected(change: Promise<unknown>): Promise<number> {
  return ((await change) as { readonly affected: number }).affected;
}

/** Has pg-boss execute a call in a transaction. */
export function over(sql: Sql): PgBoss.ConnectionOptions {
  return { db: { executeSql: (text, values) => execute(sql, text, values) } };
}

/** What pg-boss executes without values may be a transaction of its own: it must not stay open after an error. */
async function execute(sql: Sql, text: string, values?: readonly unknown[]): Promise<{ rows: SqlRow[] }> {
  try {
    return { rows: [...((await sql.all(text, values?.map(toParameter))) ?? [])] };
  } catch (error) {
    if (values === undefined) await sql.run('ROLLBACK').catch(() => {});
    throw error;
  }
}

/** pg-boss passes objects for JSON. */
function toParameter(value: unknown): SqlParameter {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? JSON.stringify(value) : ((value ?? null) as SqlParameter);
}
