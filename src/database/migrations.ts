import { missingHint, StartError, StoreUnavailableError } from './errors.js';
import type { Sql, SqlDriver } from './sql-driver.js';

/** A schema in steps; a released step never changes. */
export interface Schema {
  /** The table that records which steps were applied. */
  readonly table: string;
  readonly steps: readonly (readonly string[])[];
  /** The oldest step whose programs work with all steps, too: they run beside those of this version. */
  readonly worksWith: number;
  /** The owner of the tables, in messages. */
  readonly owner: string;
}

const attempts = 5;

export interface MigrateOptions {
  /** Whether missing tables are created. Default: true. */
  readonly create?: boolean;
  /** Whether an older schema is brought up to date. Default: true. */
  readonly upgrade?: boolean;
}

/**
 * The numbers of a schema before and after its migrations: 0 for no tables.
 *
 * @example
 * const { from, to }: Migration = await migrateDatabase({ database: 'users.db' });
 */
export interface Migration {
  readonly from: number;
  readonly to: number;
}

/**
 * Brings the schema up to date; a newer one that works with this version stays as it is. Two processes may do so at
 * once: each step is recorded under its number, in the transaction that applies it, so one of them fails and finds the
 * step applied when it tries again.
 *
 * @throws StartError for a newer schema that does not work with this version, an older one without `upgrade`, or the
 * tables of another application
 */
export async function migrate(
  driver: SqlDriver,
  schema: Schema,
  { create = true, upgrade = true }: MigrateOptions = {},
): Promise<Migration> {
  const last = schema.steps.length;
  // A user without the right to create tables may use existing ones.
  const from = await driver.read((sql) => readVersion(sql, schema)).catch(noTable);
  if (from >= last) return { from, to: from };
  if (from === 0 && !create) {
    throw new StartError('CANNOT_OPEN_DATABASE', `the database holds no tables of ${schema.owner}`, {
      hint: missingHint,
    });
  }
  if (!upgrade) {
    throw new StartError('OLD_SCHEMA', `the database has schema ${from}, and this version needs ${last}`, {
      hint: 'Apply the migrations: userinfo migrate',
    });
  }
  for (let attempt = 1; ; attempt++) {
    try {
      return { from: await applySteps(driver, schema), to: last };
    } catch (error) {
      if (error instanceof StartError || error instanceof StoreUnavailableError) throw error;
      if (attempt === attempts) {
        const reason = error instanceof Error ? error.message : String(error);
        throw new StartError(
          'CANNOT_OPEN_DATABASE',
          `the tables of ${schema.owner} cannot be created: ${reason}`,
          {
            hint: `Use a separate database for ${schema.owner}.`,
            cause: error,
          },
        );
      }
    }
  }
}

/**
 * The number of the last applied step, or 0.
 *
 * @throws StartError for that of a newer version that does not work with this one
 */
async function readVersion(sql: Sql, { table, steps }: Schema): Promise<number> {
  // Older tables have no column works_with.
  const [row] = await sql.all(`SELECT * FROM ${table} ORDER BY version DESC LIMIT 1`);
  const version = Number(row?.version ?? 0);
  if (version <= steps.length || Number(row?.works_with ?? version) <= steps.length) return version;
  throw new StartError(
    'CANNOT_OPEN_DATABASE',
    `the database has schema ${version}, newer than this version`,
    {
      hint: 'Update userinfo-cli, or use another database.',
    },
  );
}

function noTable(error: unknown): number {
  if (error instanceof StartError || error instanceof StoreUnavailableError) throw error;
  return 0;
}

/** Returns the number of the last step that was applied before; another process may have applied them all by now. */
async function applySteps(driver: SqlDriver, schema: Schema): Promise<number> {
  const { table, steps: all, worksWith } = schema;
  return await driver.write(async (sql) => {
    await sql.run(`CREATE TABLE IF NOT EXISTS ${table} (version BIGINT NOT NULL PRIMARY KEY)`);
    const current = await readVersion(sql, schema);
    for (const [index, steps] of all.entries()) {
      if (index < current) continue;
      for (const step of steps) await sql.run(step);
      await sql.run(`INSERT INTO ${table} (version) VALUES ($1)`, [index + 1]);
    }
    await sql.run(`UPDATE ${table} SET works_with = $1 WHERE version = $2`, [worksWith, all.length]);
    return current;
  });
}
