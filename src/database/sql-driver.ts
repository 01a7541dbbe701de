import { textFault } from '../protocol/text.js';

/** A value of a statement or of a row. Numbers are safe integers. */
export type SqlValue = string | number | null;

export type SqlRow = Readonly<Record<string, SqlValue>>;

/** Runs statements with the parameters `$1…$n`, in any order, each used at least once. */
export interface Sql {
  /** Runs a statement and returns the number of changed rows. */
  run(statement: string, values?: readonly SqlValue[]): Promise<number>;
  /** Runs a statement and returns its rows. */
  all(statement: string, values?: readonly SqlValue[]): Promise<readonly SqlRow[]>;
}

/**
 * A database, with as thin an interface as possible. A unit of work awaits only its own statements, and may be run
 * again from its start. Errors of the database, not of a statement, are StoreUnavailableErrors.
 */
export interface SqlDriver {
  /** Reads committed data. */
  read<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /**
   * Runs work in a transaction: if it throws, nothing is stored. Resolves when it is durable. Concurrent work may
   * share a commit, but not its failures.
   */
  write<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /** Maximum number of rows that one statement may delete, so that others wait only some milliseconds. */
  readonly purgeRows: number;
  /** Removes deleted data from the files of the database, if that is up to the driver. */
  checkpoint(): Promise<void>;
  /** Waits for started work, then closes. Later calls are refused. */
  close(): Promise<void>;
}

/**
 * Checks values before a library truncates text at U+0000, takes `undefined` for null or rounds a number.
 *
 * @throws TypeError that names the parameter, not its value
 */
export function checkValues(values: readonly SqlValue[]): void {
  for (const [index, value] of values.entries()) {
    const fault = typeof value === 'string' ? textFault(value) : null;
    if (fault !== null) throw new TypeError(`the text for $${index + 1} ${fault}`);
    if (typeof value !== 'string' && value !== null && !Number.isSafeInteger(value)) {
      throw new TypeError(`the value for $${index + 1} is not text, a safe integer or null`);
    }
  }
}
