import { StartError, StoreUnavailableError } from './errors.js';
import type { Sql, SqlDriver } from './sql-driver.js';

/** A schema in steps; a released step never changes. */
export interface Schema {
  /** The table that records which steps were applied. */
  readonly table: string;
  readonly steps: readonly (readonly string[])[];
  /** The owner of the tables, in messages. */
  readonly owner: string;
}

const attempts = 5;

export interface MigrateOptions {
  /** Whether missing tables are created. Default: true. */
  readonly create?: boolean;
}

/**
 * Brings the schema up to date. Two processes may do so at once: each step is recorded under its number, in the
 * transaction that applies it, so one of them fails and finds the step applied when it tries again.
 *
 * @throws StartError for a database of a newer version, or with the tables of another application
 */
export async function migrate(
  driver: SqlDriver,
  schema: Schema,
  { create = true }: MigrateOptions = {},
): Promise<void> {
  // A user without the right to create tables may use existing ones.
  const version = await driver.read((sql) => readVersion(sql, schema)).catch(noTable);
  if (version === schema.steps.length) return;
  if (version === 0 && !create) {
    throw new StartError('CANNOT_OPEN_DATABASE', `the database holds no tables of ${schema.owner}`, {
      hint: 'Name the database of the service with --database, or start the service first.',
    });
  }
  for (let attempt = 1; ; attempt++) {
    try {
      await applySteps(driver, schema);
      return;
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
 * @throws StartError for that of a newer version
 */
async function readVersion(sql: Sql, { table, steps }: Schema): Promise<number> {
  const [row] = await sql.all(`SELECT MAX(version) AS version FROM ${table}`);
  const version = Number(row?.version ?? 0);
  if (version <= steps.length) return version;
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

async function applySteps(driver: SqlDriver, schema: Schema): Promise<void> {
  const { table, steps: all } = schema;
  await driver.write(async (sql) => {
    await sql.run(`CREATE TABLE IF NOT EXISTS ${table} (version BIGINT NOT NULL PRIMARY KEY)`);
    const current = await readVersion(sql, schema);
    for (const [index, steps] of all.entries()) {
      if (index < current) continue;
      for (const step of steps) await sql.run(step);
      await sql.run(`INSERT INTO ${table} (version) VALUES ($1)`, [index + 1]);
    }
  });
}
