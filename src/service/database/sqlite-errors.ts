import { StoreUnavailableError } from './errors.js';

/** An error of the database, not of the statement. */
interface SqliteFault {
  /** The primary code: https://www.sqlite.org/rescode.html. */
  readonly code: number;
  /** The message of SQLite. */
  readonly text: string;
  readonly message: string;
  /** The next step. */
  readonly hint?: string;
  /** Whether another connection holds the lock: waiting may help. */
  readonly isBusy?: boolean;
  /** Whether the connection may have cached wrong data, or stays read-only. */
  readonly breaksConnection?: boolean;
}

const faults: readonly SqliteFault[] = [
  {
    code: 5,
    text: 'database is locked',
    message: 'the database is locked by another process',
    hint: 'Wait for that process, or end it.',
    isBusy: true,
  },
  {
    code: 6,
    text: 'database table is locked',
    message: 'a table of the database is locked',
    isBusy: true,
  },
  { code: 7, text: 'out of memory', message: 'the database is out of memory' },
  {
    code: 8,
    text: 'attempt to write a readonly database',
    message: 'the database is read-only',
    breaksConnection: true,
  },
  {
    code: 10,
    text: 'disk I/O error',
    message: 'the disk of the database cannot be read or written',
    breaksConnection: true,
  },
  {
    code: 11,
    text: 'database disk image is malformed',
    message: 'the database file is damaged',
    hint: 'Restore a backup.',
    breaksConnection: true,
  },
  {
    code: 13,
    text: 'database or disk is full',
    message: 'the database or its disk is full',
    hint: 'Free space on its disk, or use another database.',
  },
  {
    code: 14,
    text: 'unable to open database file',
    message: 'the database file cannot be opened',
    breaksConnection: true,
  },
  {
    code: 15,
    text: 'locking protocol',
    message: 'the database file is locked by a process that died',
  },
  {
    code: 26,
    text: 'file is not a database',
    message: 'the file is not a database',
    breaksConnection: true,
  },
];

/** Whether another connection holds the lock: waiting may help. */
export function isBusy(error: unknown): boolean {
  return error instanceof StoreUnavailableError && faultOf(error.cause)?.isBusy === true;
}

/** Whether the connection is unusable: a new one may find the file intact. */
export function needsReconnect(error: unknown): boolean {
  return faultOf(error)?.breaksConnection === true;
}

/** Translates an error of the library, unless the statement is at fault. */
export function translateSqliteError(error: unknown): unknown {
  const fault = faultOf(error);
  if (fault === undefined) return error;
  return new StoreUnavailableError(fault.message, { cause: error, hint: fault.hint });
}

/** The library's `all` throws errors without a code, only with SQLite's message. */
function faultOf(error: unknown): SqliteFault | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('errcode' in error && typeof error.errcode === 'number') {
    // The low byte of an extended code is the primary code.
    const code = error.errcode & 0xff;
    return faults.find((fault) => fault.code === code);
  }
  return faults.find(({ text }) => text === error.message);
}
