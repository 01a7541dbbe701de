import { describeSystemError, isSystemError } from '../support/errors.js';
import { StoreUnavailableError } from './errors.js';

/** Errors of the database, not of the statement: https://www.sqlite.org/rescode.html */
const unavailable: Readonly<Record<number, string>> = {
  5: 'the database is locked by another process',
  6: 'a table of the database is locked',
  7: 'the database is out of memory',
  8: 'the database is read-only',
  10: 'the disk of the database cannot be read or written',
  11: 'the database file is damaged',
  13: 'the database or its disk is full',
  14: 'the database file cannot be opened',
  15: 'the database file is locked by a process that died',
  26: 'the file is not a database',
};

/** The same by message: the library's `all` throws errors without a code. */
const codeByMessage: Readonly<Record<string, number>> = {
  'database is locked': 5,
  'database table is locked': 6,
  'out of memory': 7,
  'attempt to write a readonly database': 8,
  'disk I/O error': 10,
  'database disk image is malformed': 11,
  'database or disk is full': 13,
  'unable to open database file': 14,
  'locking protocol': 15,
  'file is not a database': 26,
};

const busy = [5, 6];

/** Errors after which the connection may have cached wrong data, or stays read-only. */
const breaking = [8, 10, 11, 14, 26];

/** Whether another connection holds the lock: waiting may help. */
export function isBusy(error: unknown): boolean {
  return error instanceof StoreUnavailableError && busy.includes(primaryCode(error.cause) ?? 0);
}

/** Whether the connection is unusable: a new one may find the file intact. */
export function needsReconnect(error: unknown): boolean {
  return breaking.includes(primaryCode(error) ?? 0);
}

/** Translates an error of the library, unless the statement is at fault. */
export function translateSqliteError(error: unknown): unknown {
  const fault = faultOf(error);
  return fault === undefined ? error : new StoreUnavailableError(fault, { cause: error });
}

/** Describes the error of a database that cannot be opened. */
export function describeSqliteError(error: unknown): string {
  const fault = faultOf(error) ?? (isSystemError(error) ? describeSystemError(error) : undefined);
  return fault ?? (error instanceof Error ? error.message : String(error));
}

function faultOf(error: unknown): string | undefined {
  const code = primaryCode(error);
  if (code !== undefined) return unavailable[code];
  const closed =
    error instanceof Error && /^database (?:is not open|connection is closed)$/i.test(error.message);
  return closed ? 'the database is closed' : undefined;
}

/** The low byte of an extended code is the primary code. */
function primaryCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('errcode' in error && typeof error.errcode === 'number') return error.errcode & 0xff;
  return Object.hasOwn(codeByMessage, error.message) ? codeByMessage[error.message] : undefined;
}
