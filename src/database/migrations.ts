import { missingDatabase, StartError, StoreUnavailableError } from './errors.js';
import { LockTimeoutError } from './postgres-errors.js';
import type { Sql, SqlDriver } from './sql-driver.js';

/**
 * A schema in steps; a released step never changes. An index of an older table stands in a step after the columns that
 * it names.
 */
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

/**
 * PostgreSQL: maximum wait for a table that another transaction reads, such as pg_dump. What the service does with that
 * table waits as long. The driver runs a step that waited in vain again for some seconds.
 */
const lockTimeout = '100ms';

/** Maximum number of times that the driver does so, for a minute in all. */
const maxLockTries = 12;

export interface MigrateOptions {
  /** Whether missing tables are created. Default: true. */
  readonly create?: boolean;
  /** Whether an older schema is brought up to date. Default: true. */
  readonly upgrade?: boolean;
}

/** The numbers of a schema before and after its migrations: 0 for no tables. */
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
    throw new StartError(
      'CANNOT_OPEN_DATABASE',
      `the database holds no tables of ${schema.owner}`,
      missingDatabase,
    );
  }
  if (!upgrade) {
    throw new StartError('OLD_SCHEMA', `the database has schema ${from}, and this version needs ${last}`, {
      hint: 'Apply the migrations:',
      commands: ['userinfo migrate'],
    });
  }
  for (let attempt = 1; ; attempt++) {
    try {
      return { from: await (from === 0 ? applyAll : applyEach)(driver, schema), to: last };
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
  // Without values it is not prepared: a step may change its columns.
  const [row] = await sql.all(`SELECT * FROM ${table} ORDER BY version DESC LIMIT 1`);
  const version = Number(row?.version ?? 0);
  if (version <= steps.length || Number(row?.works_with) <= steps.length) return version;
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
function applyAll(driver: SqlDriver, schema: Schema): Promise<number> {
  return driver.write(async (sql) => {
    await sql.run(
      `CREATE TABLE IF NOT EXISTS ${schema.table} (version BIGINT NOT NULL PRIMARY KEY, works_with BIGINT NOT NULL)`,
    );
    const current = await readVersion(sql, schema);
    for (const index of schema.steps.keys()) {
      if (index >= current) await applyStep(sql, schema, index, schema.steps[index] ?? []);
    }
    return current;
  });
}

/**
 * The same beside a service that runs. On SQLite in one transaction. On PostgreSQL each step is one, which waits
 * for its locks a moment at a time, and in which one process at a time builds the indexes, beside reads and writes.
 */
async function applyEach(driver: SqlDriver, schema: Schema): Promise<number> {
  const { runAlone } = driver;
  if (runAlone === undefined) return await applyAll(driver, schema);
  let first = schema.steps.length;
  for (const [index, statements] of schema.steps.entries()) {
    const indexes = statements.flatMap((statement) => newIndex(statement, statements));
    const step = async (sql: Sql) => {
      await sql.run(`SET LOCAL lock_timeout = '${lockTimeout}'`);
      // An index may take hours.
      await sql.run('SET LOCAL idle_in_transaction_session_timeout = 0');
      await sql.run(`LOCK TABLE ${schema.table} IN SHARE UPDATE EXCLUSIVE MODE`);
      if ((await readVersion(sql, schema)) > index) return;
      const renamed = new Map<string, string>();
      for (const { statement, name, table, columns } of indexes) {
        // That of a table in partitions can only be built with them.
        if (await hasRow(sql, `SELECT FROM pg_partitioned_table WHERE partrelid = to_regclass('${table}')`))
          continue;
        renamed.set(statement, `ALTER INDEX ${name}_new RENAME TO ${name}`);
        const isBuilt = `SELECT FROM pg_index WHERE indexrelid = to_regclass('${name}_new') AND indisvalid`;
        if (await hasRow(sql, isBuilt)) continue;
        // Of a process that was killed.
        await runAlone.call(driver, `DROP INDEX CONCURRENTLY IF EXISTS ${name}_new`);
        await runAlone.call(driver, `CREATE INDEX CONCURRENTLY ${name}_new ON ${table} ${columns}`);
      }
      const inPlace = statements.map((statement) => renamed.get(statement) ?? statement);
      await applyStep(sql, schema, index, inPlace);
      first = Math.min(first, index);
    };
    await whenUnlocked(schema, () => driver.write(step));
  }
  return first;
}

async function hasRow(sql: Sql, query: string): Promise<boolean> {
  return (await sql.all(query)).length > 0;
}

/** Runs the statements of a step, and records it. */
async function applyStep(
  sql: Sql,
  { table, worksWith }: Schema,
  index: number,
  statements: readonly string[],
): Promise<void> {
  const version = index + 1;
  for (const statement of statements) await sql.run(statement);
  const values = [version, Math.min(worksWith, version)];
  await sql.run(`INSERT INTO ${table} (version, works_with) VALUES ($1, $2)`, values);
}

interface NewIndex {
  readonly statement: string;
  readonly name: string;
  readonly table: string;
  readonly columns: string;
}

/** The index that a statement of a step creates, unless its table is new, too. */
function newIndex(statement: string, statements: readonly string[]): NewIndex[] {
  const [, name, table, columns] = /^CREATE INDEX (\w+) ON (\w+) (.*)$/s.exec(statement) ?? [];
  if (name === undefined || table === undefined || columns === undefined) return [];
  const isNew = statements.some((other) => other.startsWith(`CREATE TABLE ${table} `));
  return isNew ? [] : [{ statement, name, table, columns }];
}

/** @throws StartError if a table stays locked */
async function whenUnlocked<T>({ owner }: Schema, work: () => Promise<T>): Promise<T> {
  for (let count = 1; ; count++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof LockTimeoutError)) throw error;
      if (count === maxLockTries) {
        throw new StartError(
          'CANNOT_OPEN_DATABASE',
          `a table of ${owner} stays in use by another transaction`,
          {
            hint: 'Wait for it or end it (pg_stat_activity shows it; pg_dump is one), then migrate again.',
            cause: error,
          },
        );
      }
    }
  }
}
