import { StartError, StoreUnavailableError } from './errors.js';
import type { Sql, SqlDriver } from './sql-driver.js';

/** A schema, step by step; a step that was released is never changed. */
export interface Schema {
  /** The table that records which steps were taken. */
  readonly table: string;
  readonly steps: readonly (readonly string[])[];
  /** What owns the tables, in messages. */
  readonly owner: string;
}

const attempts = 5;

export interface MigrateOptions {
  /** Whether the tables are made where there are none, as they are unless told otherwise. */
  readonly create?: boolean;
}

/**
 * Brings the schema up to date. Two processes may do so at once: each step is recorded under its number, in the
 * transaction that takes it, so one of them fails and finds the step taken when it tries again.
 * Throws a StartError for a database of a newer version, or one that holds something else.
 */
export async function migrate(
  driver: SqlDriver,
  schema: Schema,
  { create = true }: MigrateOptions = {},
): Promise<void> {
  // Who may not make tables may use those that are there.
  const version = await driver.read((sql) => readVersion(sql, schema)).catch(noTable);
  if (version === schema.steps.length) return;
  if (version === 0 && !create) {
    throw new StartError('CANNOT_OPEN_DATABASE', `the database holds no tables of ${schema.owner}`, {
      hint: 'Name the database of the service with --database, or start the service first.',
    });
  }
  for (let attempt = 1; ; attempt++) {
    try {
      await takeSteps(driver, schema);
      return;
    } catch (error) {
      if (error instanceof StartError || error instanceof StoreUnavailableError) throw error;
      if (attempt === attempts) {
        const reason = error instanceof Error ? error.message : String(error);
        throw new StartError(
          'CANNOT_OPEN_DATABASE',
          `the tables of ${schema.owner} cannot be made: ${reason}`,
          {
            hint: `Use a database of its own for ${schema.owner}.`,
            cause: error,
          },
        );
      }
    }
  }
}

/** The number of the last step that was taken; 0 where none was. Throws a StartError for one of a newer version. */
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

async function takeSteps(driver: SqlDriver, schema: Schema): Promise<void> {
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
