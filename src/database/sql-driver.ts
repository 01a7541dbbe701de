import { textFault } from '../protocol/text.js';

/** What a statement can be given, and what a row can hold. Numbers are safe integers. */
export type SqlValue = string | number | null;

export type SqlRow = Readonly<Record<string, SqlValue>>;

/** Runs statements that are written with `$1…$n`, in any order, each number at least once. */
export interface Sql {
  /** Runs a statement and tells how many rows it changed. */
  run(statement: string, values?: readonly SqlValue[]): Promise<number>;
  /** Runs a statement and gives its rows. */
  all(statement: string, values?: readonly SqlValue[]): Promise<readonly SqlRow[]>;
}

/**
 * A database, as thin as can be: the statements are the store's. Work awaits nothing but its own statements, and
 * may be run again from its start. What keeps a database from answering is thrown as a StoreUnavailableError.
 */
export interface SqlDriver {
  /** Reads what is committed. */
  read<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /**
   * Runs work in a transaction: all of it or, where it throws, nothing. Resolves when it is durable. Works that
   * come together may share a commit, but not their failures.
   */
  write<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /** How many rows a statement may delete at once, so that others wait for it no longer than some milliseconds. */
  readonly purgeRows: number;
  /** Has what was deleted vanish from the files of the database, where that is up to the driver. */
  tidy(): Promise<void>;
  /** Lets what was begun end, then closes. Every later call is refused. */
  close(): Promise<void>;
}

/**
 * Checks what a statement is given, before a library cuts text at U+0000, takes `undefined` for null or rounds a
 * number. Throws a TypeError that names the place, not the value.
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
