import { StoreUnavailableError } from './errors.js';

/**
 * Errors of the database, not of the statement, by primary code:
 * https://www.sqlite.org/rescode.html. The library's `all` throws errors without a code, only with
 * SQLite's message.
 */
const unavailable: Readonly<Record<number, readonly [message: string, fault: string]>> = {
  5: ['database is locked', 'the database is locked by another process'],
  6: ['database table is locked', 'a table of the database is locked'],
  7: ['out of memory', 'the database is out of memory'],
  8: ['attempt to write a readonly database', 'the database is read-only'],
  10: ['disk I/O error', 'the disk of the database cannot be read or written'],
  11: ['database disk image is malformed', 'the database file is damaged'],
  13: ['database or disk is full', 'the database or its disk is full'],
  14: ['unable to open database file', 'the database file cannot be opened'],
  15: ['locking protocol', 'the database file is locked by a process that died'],
  26: ['file is not a database', 'the file is not a database'],
};

/** The next step, by primary code. */
const hints: Readonly<Record<number, string>> = {
  5: 'Wait for that process, or end it.',
  11: 'Restore a backup.',
  13: 'Free space on its disk, or use another database.',
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
  const code = primaryCode(error) ?? 0;
  const fault = unavailable[code]?.[1];
  return fault === undefined
    ? error
    : new StoreUnavailableError(fault, { cause: error, hint: hints[code] });
}

/** The low byte of an extended code is the primary code. */
function primaryCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('errcode' in error && typeof error.errcode === 'number') return error.errcode & 0xff;
  const known = Object.entries(unavailable).find(([, [message]]) => message === error.message);
  return known && Number(known[0]);
}
