import { quoteName } from '../../core/contract/errors.js';
import { missingDatabase, StartError, StoreUnavailableError } from './errors.js';
import { holdLock } from './sql-dialects.js';
import { oneLine, type Sql, type SqlDriver } from './sql-driver.js';

/**
 * A schema in steps. A released step never changes, and only adds to the tables: programs of an
 * older version that run go on beside it. A step that adds an index to an older table says IF NOT
 * EXISTS: an operator of a large database creates it before, beside the service.
 */
export interface Schema {
  /** The table that records which steps were applied. */
  readonly table: string;
  readonly steps: readonly (readonly string[])[];
  /** The owner of the tables, in messages. */
  readonly owner: string;
}

export interface MigrateOptions {
  /**
   * Whether missing tables are created.
   *
   * @default true
   */
  readonly create?: boolean;
  /**
   * Whether an older schema is brought up to date.
   *
   * @default true
   */
  readonly upgrade?: boolean;
}

/** The numbers of a schema before and after its migrations: 0 for no tables. */
export interface Migration {
  readonly from: number;
  readonly to: number;
}

/**
 * Brings the schema up to date, in one transaction; several processes do so one after the other.
 *
 * @throws StartError for a newer schema, an older one without `upgrade`, or the tables of another
 * application
 * @throws StoreUnavailableError if a table stays locked by another transaction, or the server does
 * not create it
 */
export async function migrate(
  driver: SqlDriver,
  schema: Schema,
  { create = true, upgrade = true }: MigrateOptions = {},
): Promise<Migration> {
  const to = schema.steps.length;
  // A user without the right to create tables may use existing ones.
  const from = await driver.read((sql) => readVersion(sql, schema)).catch(versionWithoutTable);
  if (from === to) return { from, to };
  if (from === 0 && !create) {
    throw new StartError(`the database holds no tables of ${schema.owner}`, missingDatabase);
  }
  if (!upgrade) {
    throw new StartError(`the database has schema ${from}, and this version needs ${to}`, {
      code: 'OLD_SCHEMA',
      hint: 'Apply the migrations:',
      commands: ['userinfo admin migrate'],
    });
  }
  if (from === 0 && driver.engine === 'postgres') {
    await driver.read((sql) => refuseForeignTables(sql, schema.owner));
  }
  return {
    from: await driver.write((sql) => applySteps(sql, schema, driver.engine)).catch(explainRefusal),
    to,
  };
}

/**
 * Adds what to do to the error of a server that does not let its user create tables, as with an
 * event trigger or without a schema to create them in. Other errors are thrown as they are.
 */
function explainRefusal(error: unknown): never {
  if (!(error instanceof Error && 'severity' in error)) throw error;
  throw new StoreUnavailableError(
    `the server refused to create the tables: ${quoteName(error.message)}`,
    {
      hint: 'Check the settings of its user and of the database, such as search_path.',
      cause: error,
    },
  );
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
  throw new StartError(`the database has schema ${version}, newer than this version`, {
    hint: 'Update userinfo-exchange, or use another database.',
  });
}

/** The version of a database without the table: what else failed is known by its class. */
function versionWithoutTable(error: unknown): 0 {
  if (error instanceof StartError || error instanceof StoreUnavailableError) throw error;
  return 0;
}

/**
 * Returns the number of the last step that was applied before; another process may have applied
 * them all by now.
 */
async function applySteps(sql: Sql, schema: Schema, engine: SqlDriver['engine']): Promise<number> {
  const { table, steps } = schema;
  if (engine === 'postgres') await lockMigrations(sql, table);
  await sql.run(`CREATE TABLE IF NOT EXISTS ${table} (version BIGINT NOT NULL PRIMARY KEY)`);
  const current = await readVersion(sql, schema);
  for (const [index, statements] of steps.entries()) {
    if (index < current) continue;
    for (const statement of statements) await sql.run(statement);
    await sql.run(`INSERT INTO ${table} (version) VALUES ($1)`, [index + 1]);
  }
  return current;
}

/** Makes other processes that migrate wait until the transaction ends. */
async function lockMigrations(sql: Sql, table: string): Promise<void> {
  // What the service does with a table waits as long as this for another transaction that reads it,
  // such as pg_dump. The driver runs the transaction again for some seconds.
  await sql.run("SET LOCAL lock_timeout = '100ms'");
  await sql.all(holdLock, [table]);
}

/** Tables of an extension may be there. */
async function refuseForeignTables(sql: Sql, owner: string): Promise<void> {
  const tables = await sql.all(oneLine`
    SELECT relname
    FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace
      AND relkind IN ('r', 'p')
      AND oid NOT IN (SELECT objid FROM pg_depend WHERE deptype = 'e')`);
  if (tables.length === 0) return;
  if (tables.some(({ relname }) => String(relname).startsWith('userinfo_'))) return;
  throw new StartError('the database holds the tables of another application', {
    hint: `Use a separate database for ${owner}.`,
  });
}
