import { textFault } from '../../core/contract/unsafe-text.js';

/**
 * A statement that is written in several lines, as one line: so the log of a server shows it.
 * Brackets at the end or the start of a line have no space inside.
 */
export function oneLine(
  texts: TemplateStringsArray,
  ...parts: readonly (string | number)[]
): string {
  const statement = String.raw({ raw: texts }, ...parts).trim();
  return statement
    .replace(/\(\s*\n\s*/g, '(')
    .replace(/\s*\n\s*\)/g, ')')
    .replace(/\s*\n\s*/g, ' ');
}

/** A value of a statement or of a row. Numbers are safe integers. */
type SqlValue = string | number | null;

/** A value of a statement; arrays are for PostgreSQL alone. */
export type SqlParameter = SqlValue | readonly SqlValue[];

export type SqlRow = Readonly<Record<string, SqlValue>>;

/**
 * Runs statements with the parameters `$1…$n`, in any order, each used at least once. A caller
 * knows the columns of its statement: integers are numbers, all else is text.
 */
export interface Sql {
  /** Runs a statement and returns the number of changed rows. */
  run(statement: string, values?: readonly SqlParameter[]): Promise<number>;
  /** Runs a statement and returns its rows. */
  all<Row = SqlRow>(statement: string, values?: readonly SqlParameter[]): Promise<readonly Row[]>;
  /**
   * Runs a statement for each of many rows of text, in their order, and returns what it returns for
   * them. All its parameters stand in one list, each once: that of VALUES, or one that the key of a
   * row equals.
   */
  each<Row = SqlRow>(
    statement: string,
    rows: readonly (readonly string[])[],
  ): Promise<readonly Row[]>;
}

/** Use of the connections of a pool, named as in the metrics. */
export interface PoolUsage {
  readonly in_use: number;
  readonly idle: number;
  readonly waiting: number;
}

/**
 * The smallest interface that the store needs of a database. A unit of work awaits only its own statements,
 * and may be run again from its start. Errors of the database, not of a statement, are
 * StoreUnavailableErrors; so is the one at a deadline, after which nothing more is sent.
 */
export interface SqlDriver {
  /** Reads committed data. */
  read<T>(work: (sql: Sql) => Promise<T>, deadline?: number): Promise<T>;
  /** Runs work in a transaction: if it throws, nothing is stored. Resolves when it is durable. */
  write<T>(work: (sql: Sql) => Promise<T>, deadline?: number): Promise<T>;
  /** Runs one statement as a transaction, and returns its rows when it is durable. */
  writeOnce<Row = SqlRow>(
    statement: string,
    values: readonly SqlParameter[],
    deadline?: number,
  ): Promise<readonly Row[]>;
  /**
   * The deadline of a request that comes now, by `performance.now()`, for all its units of work.
   * SQLite has none: each of its waits is limited.
   */
  newDeadline(): number;
  /** The SQL that it understands besides what both have in common. */
  readonly engine: 'sqlite' | 'postgres';
  /**
   * Maximum number of rows that one statement may delete, so that others wait only some
   * milliseconds.
   */
  readonly purgeRows: number;
  /** Removes deleted data from the files of the database, if that is up to the driver. */
  checkpoint(): Promise<void>;
  /** The connections of a pool, and the units of work that wait for one; absent without a pool. */
  readonly connections?: () => PoolUsage;
  /** Waits for started work, then closes. Later calls are refused. */
  close(): Promise<void>;
}

/**
 * Checks values before a library truncates text at U+0000, takes `undefined` for null or rounds a
 * number.
 *
 * @throws TypeError that names the parameter, not its value
 */
export function checkValues(values: readonly SqlParameter[]): void {
  for (const [index, value] of values.entries()) {
    if (Array.isArray(value)) {
      checkValues(value);
      continue;
    }
    const fault = typeof value === 'string' ? textFault(value) : null;
    if (fault !== null) throw new TypeError(`the text for $${index + 1} ${fault}`);
    if (typeof value !== 'string' && value !== null && !Number.isSafeInteger(value)) {
      throw new TypeError(`the value for $${index + 1} is not text, a safe integer or null`);
    }
  }
}
