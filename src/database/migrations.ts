import { setTimeout as wait } from 'node:timers/promises';
import { missingDatabase, StartError, StoreUnavailableError } from './errors.js';
import { LockTimeoutError } from './postgres-errors.js';
import type { Sql, SqlDriver, SqlRow } from './sql-driver.js';

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
  /** PostgreSQL: the tables that a new database has in partitions. A database that is upgraded keeps them whole. */
  readonly partitioned?: readonly PartitionedTable[];
}

/** A table in hash partitions by a column of its primary key, each with storage parameters of PostgreSQL. */
export interface PartitionedTable {
  readonly table: string;
  readonly column: string;
  readonly storage: string;
  /** The columns of the primary key in another order, for the plans of PostgreSQL. */
  readonly key?: string;
}

/** Each is vacuumed by itself; a statement that names no partition has to look into all. */
const partitionCount = 4;

const attempts = 5;

/**
 * PostgreSQL: maximum wait for a table that another transaction reads, such as pg_dump. What the service does with that
 * table waits as long.
 */
const lockTimeout = '1s';

/**
 * Maximum number of waits for such a table, and the pauses between them, in milliseconds: each longer than the last.
 */
const maxLockTries = 20;
const pauseStepMs = 1000;
const longestPauseMs = 5000;

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
  const row = await lastApplied(sql, table);
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

/** The row of the last applied step; older tables have no column works_with. */
async function lastApplied(sql: Sql, table: string): Promise<SqlRow | undefined> {
  // Without values it is not prepared: a step may change its columns.
  return (await sql.all(`SELECT * FROM ${table} ORDER BY version DESC LIMIT 1`))[0];
}

function noTable(error: unknown): number {
  if (error instanceof StartError || error instanceof StoreUnavailableError) throw error;
  return 0;
}

/** Returns the number of the last step that was applied before; another process may have applied them all by now. */
function applyAll(driver: SqlDriver, schema: Schema): Promise<number> {
  return driver.write(async (sql) => {
    await sql.run(`CREATE TABLE IF NOT EXISTS ${schema.table} (version BIGINT NOT NULL PRIMARY KEY)`);
    const current = await readVersion(sql, schema);
    const isPartitioned = current === 0 && driver.engine === 'postgres' && (await canPartition(sql));
    const partitioned = isPartitioned ? (schema.partitioned ?? []) : [];
    const inPlace = (statement: string) => {
      const table = partitioned.find(({ table }) => statement.startsWith(`CREATE TABLE ${table} `));
      if (table === undefined) return statement;
      const { key, column } = table;
      const keyed =
        key === undefined ? statement : statement.replace(/PRIMARY KEY \(.*?\)/, `PRIMARY KEY (${key})`);
      return `${keyed} PARTITION BY HASH (${column})`;
    };
    for (const index of schema.steps.keys())
      if (index >= current) await applyStep(sql, schema, index, inPlace);
    // They get the indexes of their table.
    for (const table of partitioned) await createPartitions(sql, table);
    return current;
  });
}

/** Whether the engine has hash partitions: not all that speak PostgreSQL's protocol do. Citus has shards instead. */
async function canPartition(sql: Sql): Promise<boolean> {
  await sql.run('SAVEPOINT before_partitions');
  try {
    await sql.run('CREATE TABLE userinfo_partitions (id BIGINT) PARTITION BY HASH (id)');
    await sql.run('DROP TABLE userinfo_partitions');
    return (await sql.all("SELECT extname FROM pg_extension WHERE extname = 'citus'")).length === 0;
  } catch {
    await sql.run('ROLLBACK TO SAVEPOINT before_partitions');
    return false;
  }
}

async function createPartitions(sql: Sql, { table, storage }: PartitionedTable): Promise<void> {
  for (let remainder = 0; remainder < partitionCount; remainder++) {
    await sql.run(
      `CREATE TABLE ${table}_${remainder} PARTITION OF ${table}` +
        ` FOR VALUES WITH (MODULUS ${partitionCount}, REMAINDER ${remainder}) WITH (${storage})`,
    );
  }
}

/**
 * The same beside a service that runs. On SQLite in one transaction. On PostgreSQL each step is one, which waits for
 * its locks a second at a time, and in which one process at a time builds the indexes, beside reads and writes.
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
        // The index of a table in partitions consists of theirs.
        const partitions = await partitionsOf(sql, table);
        const missing = partitions.map((on, number) => ({ name: `${name}_${index + 1}_${number}`, on }));
        if (missing.length === 0) {
          missing.push({ name: `${name}_new`, on: table });
          renamed.set(statement, `ALTER INDEX ${name}_new RENAME TO ${name}`);
        }
        for (const { name, on } of missing) {
          const valid = `SELECT 1 FROM pg_index WHERE indexrelid = to_regclass('${name}') AND indisvalid`;
          if ((await sql.all(valid)).length > 0) continue;
          // Of a process that was killed.
          await runAlone.call(driver, `DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
          await runAlone.call(driver, `CREATE INDEX CONCURRENTLY ${name} ON ${on} ${columns}`);
        }
      }
      await applyStep(sql, schema, index, (statement) => renamed.get(statement) ?? statement);
      first = Math.min(first, index);
    };
    await whenUnlocked(schema, () => driver.write(step));
  }
  return first;
}

async function partitionsOf(sql: Sql, table: string): Promise<string[]> {
  const rows = await sql.all(
    `SELECT CAST(inhrelid AS regclass) AS name FROM pg_inherits WHERE inhparent = to_regclass('${table}') ORDER BY 1`,
  );
  return rows.map(({ name }) => String(name));
}

/** Runs the statements of a step, each as `inPlace` gives it, and records the step. */
async function applyStep(
  sql: Sql,
  { table, steps, worksWith }: Schema,
  index: number,
  inPlace: (statement: string) => string,
): Promise<void> {
  const version = index + 1;
  for (const statement of steps[index] ?? []) await sql.run(inPlace(statement));
  await sql.run(`INSERT INTO ${table} (version) VALUES ($1)`, [version]);
  // A later step adds the column.
  if (!('works_with' in ((await lastApplied(sql, table)) ?? {}))) return;
  await sql.run(`UPDATE ${table} SET works_with = $1 WHERE version = $2`, [
    Math.min(worksWith, version),
    version,
  ]);
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
    await wait(Math.min(count * pauseStepMs, longestPauseMs));
  }
}
