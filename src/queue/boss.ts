import PgBoss from 'pg-boss';
import type { Sql, SqlDriver, SqlParameter, SqlRow } from '../database/sql-driver.js';
import { isObject } from '../protocol/fields.js';

/** The schema of pg-boss's tables. */
export const bossSchema = 'userinfo_pgboss';

/** pg-boss removes jobs that waited, have failed or are kept for longer; the default is hours or days. */
const retentionDays = 365 * 20;

/** Opens pg-boss, and creates its tables if they do not exist. Its maintenance offers the jobs of dead workers again. */
export async function openBoss(driver: SqlDriver): Promise<PgBoss> {
  const boss = new PgBoss({
    db: { executeSql: (text, values) => driver.read((sql) => execute(sql, text, values)) },
    schema: bossSchema,
    maintenanceIntervalSeconds: 2, // how often workers look for jobs that have expired
    schedule: false,
    retentionDays,
    archiveCompletedAfterSeconds: retentionDays * 86_400, // failed ones, too
  });
  boss.on('error', () => {}); // every call throws its own errors; maintenance is tried again
  try {
    return await boss.start();
  } catch (error) {
    // Another process has just created the tables: to PostgreSQL, CREATE … IF NOT EXISTS may be a duplicate then.
    if (isObject(error) && error.code === '23505') return openBoss(driver);
    throw error;
  }
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
  return isObject(value) ? JSON.stringify(value) : ((value ?? null) as SqlParameter);
}

/** Fetches a job. pg-boss takes any error for "no job"; only 23505 means that: one may be active, and one is. */
export async function fetchJob(boss: PgBoss, name: string) {
  const faults: { readonly code?: string }[] = [];
  const executeSql: PgBoss.Db['executeSql'] = (text, values) => {
    const result = boss.getDb().executeSql(text, values);
    result.catch((error) => faults.push(error));
    return result;
  };
  const [job] = await boss.fetch(name, { db: { executeSql } });
  for (const fault of faults) if (fault.code !== '23505') throw fault;
  return job;
}
