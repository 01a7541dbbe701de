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
  options: { hint?: string | undefined; cause: unknown },
) => StoreUnavailableError;

/** What an error of `pg` means. */
interface Fault {
  readonly message: string;
  /** @default StoreUnavailableError itself */
  readonly type?: FaultClass;
  /** The next step. */
  readonly hint?: string;
}

const tlsHint =
  'Set TLS up there, or add ?sslmode=disable to the URL: records then cross the network unencrypted.';
const rightsHint =
  'To create tables, make it owner of the database;' +
  ' else grant it SELECT, INSERT, UPDATE and DELETE on its tables.';
const passwordHint = 'Give the password in PGPASSWORD, or in the file that PGPASSFILE names.';
const poolerHint = 'Add ?pgbouncer=true to the URL.';

const sharedSessions: Fault = {
  message: 'a pooler gives the sessions of the database to several programs',
  hint: poolerHint,
};
const tooLong: Fault = {
  message: 'the database ended a transaction that took too long',
  type: ConnectionLostError,
};
const notSerialized: Fault = {
  message: 'the database could not serialize its transactions',
  type: ConflictError,
};
const shutDown: Fault = { message: 'the database is shutting down', type: ConnectionLostError };

/**
 * Errors of the database, not of the statement:
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const bySqlState: Readonly<Record<string, Fault>> = {
  '23505': {
    message: 'another transaction stored the same at the same time',
    type: ConflictError,
  },
  '25006': { message: 'the database is read-only', type: ConnectionLostError },
  '25P03': tooLong,
  '25P04': tooLong,
  '26000': sharedSessions,
  '28000': {
    message: 'the database refuses the user',
    hint: 'Check the user and pg_hba.conf of the server.',
  },
  '28P01': {
    message: 'the database refuses the password, or does not know the user',
    hint: passwordHint,
  },
  '3D000': {
    message: 'there is no such database on the server',
    hint: 'Create it, for example with createdb.',
  },
  '40001': notSerialized,
  '40P01': notSerialized,
  '40003': { message: 'it is not known whether the database stored the work' },
  '42P05': sharedSessions,
  '42501': { message: 'the user of the database may not do this', hint: rightsHint },
  '53100': { message: 'the disk of the database is full' },
  '53200': { message: 'the database is out of memory' },
  '53300': {
    message: 'the database allows no more connections',
    type: TooManyConnectionsError,
  },
  '55P03': {
    message: 'a table or a row stays locked by another transaction',
    type: LockTimeoutError,
    hint: 'End that transaction: pg_blocking_pids and pg_stat_activity show who has it.',
  },
  '57014': { message: 'the database did not answer in time', type: DatabaseBusyError },
  '57P01': shutDown,
  '57P02': shutDown,
  '57P03': { message: 'the database is starting up or shutting down', type: ConnectionLostError },
  '57P05': { message: 'the database closed an idle connection', type: ConnectionLostError },
  '58030': { message: 'the disk of the database cannot be read or written' },
};

/**
 * What the other states of a class mean, whichever a later version adds: the database cannot answer
 * now.
 */
const byClass: Readonly<Record<string, Fault>> = {
  '08': { message: 'the connection to the database was lost', type: ConnectionLostError },
  '25': { message: 'the database does not carry out a transaction' },
  '53': { message: 'the database lacks a resource' },
  '57': {
    message: 'an operator, or a limit of the database, ended the connection',
    type: ConnectionLostError,
  },
  '58': { message: 'the database has a fault of its system' },
  XX: { message: 'the database has an internal fault' },
};

const bySystemError: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing is listening there',
  ENOTFOUND: 'the host name cannot be resolved',
  EAI_AGAIN: 'the host name cannot be resolved',
  ENOENT: 'there is no such socket',
};

/**
 * `pg` gives these errors neither a code nor a class, and PgBouncer has one code for many: there is
 * only their text.
 */
const byMessage: readonly { readonly pattern: RegExp; readonly fault: Fault }[] = [
  {
    pattern: /^unsupported startup parameter/,
    fault: { message: 'PgBouncer refuses the settings of a session', hint: poolerHint },
  },
  {
    pattern: /^timeout exceeded when trying to connect/,
    fault: {
      message: 'no connection to the database was free in time',
      type: DatabaseBusyError,
    },
  },
  {
    pattern: /timeout/i,
    fault: { message: 'the database does not answer', type: DatabaseNoAnswerError },
  },
  {
    pattern: /^SASL: .*password must be/,
    fault: {
      message: 'the database requires a password',
      type: ConnectionLostError,
      hint: passwordHint,
    },
  },
  {
    pattern: /does not support SSL/,
    fault: {
      message: 'the database does not speak TLS',
      type: ConnectionLostError,
      hint: tlsHint,
    },
  },
];

const unverified: Fault = {
  message: 'the certificate of the database cannot be verified',
  type: ConnectionLostError,
  hint: 'Name its authority: ?sslrootcert=<file>.',
};

/** Translates an error of `pg`, unless the statement is at fault. */
export function translatePostgresError(error: unknown): unknown {
  if (error instanceof StoreUnavailableError || !(error instanceof Error)) return error;
  const fault = faultOf(error);
  if (fault === null) return error;
  const { message, type: FaultType = StoreUnavailableError, hint } = fault;
  return new FaultType(message, { cause: error, hint });
}

/** `null` if the statement is at fault. */
function faultOf(error: Error & { code?: unknown; severity?: unknown }): Fault | null {
  if (error instanceof TypeError || error instanceof RangeError) return null;
  const code = typeof error.code === 'string' ? error.code : '';
  if (code === '' || code === '08P01') {
    const match = byMessage.find(({ pattern }) => pattern.test(error.message));
    if (match !== undefined) return match.fault;
  }
  if (error.severity !== undefined) return bySqlState[code] ?? faultOfClass(code);
  if (certificateFault.test(code)) return unverified;
  return unreachable(bySystemError[code] ?? code);
}

function faultOfClass(code: string): Fault | null {
  const fault = byClass[code.slice(0, 2)];
  if (fault === undefined) return null;
  return { ...fault, message: `${fault.message} (SQLSTATE ${code})` };
}

/** `reason` may be empty. */
function unreachable(reason: string): Fault {
  const problem = 'the database cannot be reached';
  return {
    message: reason === '' ? problem : `${problem}: ${reason}`,
    type: ConnectionLostError,
    hint: 'Check host and port, and that PostgreSQL runs there.',
  };
}
