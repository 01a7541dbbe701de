import { certificateFault } from '../../core/support/errors.js';
import { DatabaseBusyError, StoreUnavailableError } from './errors.js';

/** The database aborted the transaction in favour of another: it may be run again. */
export class ConflictError extends StoreUnavailableError {}

/** The connection is lost or unusable. What was not committed is not stored. */
export class ConnectionLostError extends StoreUnavailableError {}

/** The database did not answer at all. */
export class DatabaseNoAnswerError extends ConnectionLostError {}

/** All connections that the database allows are in use, by this process or by others. */
export class TooManyConnectionsError extends StoreUnavailableError {}

/** A lock was not free within `lock_timeout`. */
export class LockTimeoutError extends DatabaseBusyError {}

type FaultClass = new (
  message: string,
  options: { hint?: string; cause: unknown },
) => StoreUnavailableError;
/** `null` stands for StoreUnavailableError itself. */
type Fault = readonly [message: string, type?: FaultClass | null, hint?: string];

const tlsHint =
  'Set TLS up there, or add ?sslmode=disable to the URL: records then cross the network unencrypted.';
const rightsHint =
  'To create tables, make it owner of the database; else grant it SELECT, INSERT, UPDATE and DELETE on its tables.';
const passwordHint = 'Give the password in PGPASSWORD, or in the file that PGPASSFILE names.';

const poolerHint = 'Add ?pgbouncer=true to the URL.';
const ofSessions: Fault = [
  'a pooler gives the sessions of the database to several programs',
  null,
  poolerHint,
];
const tooLong: Fault = ['the database ended a transaction that took too long', ConnectionLostError];

/**
 * Errors of the database, not of the statement:
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const bySqlState: Readonly<Record<string, Fault>> = {
  '23505': ['another transaction stored the same at the same time', ConflictError],
  '25006': ['the database is read-only', ConnectionLostError],
  '25P03': tooLong,
  '25P04': tooLong,
  '26000': ofSessions,
  '28000': ['the database refuses the user', null, 'Check the user and pg_hba.conf of the server.'],
  '28P01': ['the database refuses the password, or does not know the user', null, passwordHint],
  '3D000': ['there is no such database on the server', null, 'Create it: createdb does.'],
  '40001': ['the database could not serialize its transactions', ConflictError],
  '40P01': ['the database could not serialize its transactions', ConflictError],
  '40003': ['it is not known whether the database stored the work'],
  '42P05': ofSessions,
  '42501': ['the user of the database may not do this', null, rightsHint],
  '53100': ['the disk of the database is full'],
  '53200': ['the database is out of memory'],
  '53300': ['the database allows no more connections', TooManyConnectionsError],
  '55P03': [
    'a table or a row stays locked by another transaction',
    LockTimeoutError,
    'End that transaction: pg_blocking_pids and pg_stat_activity show who has it.',
  ],
  '57014': ['the database did not answer in time', DatabaseBusyError],
  '57P01': ['the database shuts down', ConnectionLostError],
  '57P02': ['the database shuts down', ConnectionLostError],
  '57P03': ['the database starts or shuts down', ConnectionLostError],
  '57P05': ['the database closed an idle connection', ConnectionLostError],
  '58030': ['the disk of the database cannot be read or written'],
};

/**
 * What the other states of a class mean, whichever a later version adds: the database cannot answer
 * now.
 */
const byClass: Readonly<Record<string, Fault>> = {
  '08': ['the connection to the database was lost', ConnectionLostError],
  '25': ['the database does not carry out a transaction'],
  '53': ['the database lacks a resource'],
  '57': ['an operator, or a limit of the database, ended the connection', ConnectionLostError],
  '58': ['the database has a fault of its system'],
  XX: ['the database has an internal fault'],
};

const bySystemError: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'the host name cannot be resolved',
  EAI_AGAIN: 'the host name cannot be resolved',
  ENOENT: 'there is no such socket',
};

/**
 * `pg` gives these errors neither a code nor a class, and PgBouncer has one code for many: there is
 * only their text.
 */
const byMessage: readonly (readonly [RegExp, Fault])[] = [
  [
    /^unsupported startup parameter/,
    ['PgBouncer refuses the settings of a session', null, poolerHint],
  ],
  [
    /^timeout exceeded when trying to connect/,
    ['no connection to the database was free in time', DatabaseBusyError],
  ],
  [/timeout/i, ['the database does not answer', DatabaseNoAnswerError]],
  [
    /^SASL: .*password must be/,
    ['the database requires a password', ConnectionLostError, passwordHint],
  ],
  [/does not support SSL/, ['the database does not speak TLS', ConnectionLostError, tlsHint]],
];

const unverified: Fault = [
  'the certificate of the database cannot be verified',
  ConnectionLostError,
  'Name its authority: ?sslrootcert=<file>.',
];

/** Translates an error of `pg`, unless the statement is at fault. */
export function translatePostgresError(error: unknown): unknown {
  if (error instanceof StoreUnavailableError || !(error instanceof Error)) return error;
  const fault = faultOf(error);
  if (fault === null) return error;
  const [message, type, hint] = fault;
  return new (type ?? StoreUnavailableError)(message, {
    cause: error,
    ...(hint === undefined ? {} : { hint }),
  });
}

function faultOfClass(code: string): Fault | null {
  const fault = byClass[code.slice(0, 2)];
  if (fault === undefined) return null;
  const [message, ...rest] = fault;
  return [`${message} (SQLSTATE ${code})`, ...rest];
}

function faultOf(error: Error & { code?: unknown; severity?: unknown }): Fault | null {
  const code = typeof error.code === 'string' ? error.code : '';
  if (error instanceof TypeError || error instanceof RangeError) return null;
  const known =
    (code === '' || code === '08P01') && byMessage.find(([text]) => text.test(error.message));
  if (known) return known[1];
  if (error.severity !== undefined) return bySqlState[code] ?? faultOfClass(code);
  if (certificateFault.test(code)) return unverified;
  const reason = bySystemError[code] ?? code;
  const message = `the database cannot be reached${reason === '' ? '' : `: ${reason}`}`;
  return [message, ConnectionLostError, 'Check host and port, and that PostgreSQL runs there.'];
}
