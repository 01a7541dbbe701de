import { env } from 'node:process';
import { Client, type ClientConfig, type CustomTypesConfig, type PoolConfig } from 'pg';
import { parseIntoClientConfig } from 'pg-connection-string';
import pgpass from 'pgpass';
import { isLoopback, urlHost } from '../protocol/base-url.js';
import { StartError } from './errors.js';

type Done = Parameters<Client['connect']>[0];

/** A client that closes its socket if it cannot connect: `pg` leaves it open when it has no password. */
class PostgresClient extends Client {
  override connect(): Promise<Client>;
  override connect(done: Done): void;
  override connect(done?: Done): Promise<Client> | undefined {
    const connecting = super.connect();
    connecting.catch(() => this.end());
    if (done === undefined) return connecting;
    const report = done as (error: Error | null, client?: Client) => void;
    connecting.then((client) => report(null, client), report);
    return undefined;
  }
}

/** Maximum duration of a statement in milliseconds, unless the URL sets another. */
const defaultStatementTimeoutMs = 5000;

/** Time for the answer to a statement to arrive, in milliseconds, after its maximum duration. */
const answerGraceMs = 1000;

/** Maximum wait for a connection, free or new, in milliseconds. */
const connectTimeoutMs = 3000;

/** How long an idle connection is kept, in milliseconds. */
const idleTimeoutMs = 60_000;

const integerTypes = new Set([20, 21, 23]);

/**
 * The configuration of the pool: the URL, completed as libpq does it, from PGUSER and other variables, PGPASSWORD
 * or the password file.
 *
 * @throws StartError that shows nothing of an invalid URL
 */
export function postgresConfig(url: string): PoolConfig {
  const { pgbouncer, ...given } = readUrl(url);
  const statementTimeoutMs = Number(given.statement_timeout ?? defaultStatementTimeoutMs);
  return {
    application_name: 'userinfo',
    ...given,
    ...passwordFrom(given),
    ...verifiedTls(given),
    Client: PostgresClient,
    types: valueTypes,
    // BEGIN is sent together with the first statement.
    pipeline: true,
    keepAlive: true,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: idleTimeoutMs,
    ...(pgbouncer === 'true' ? {} : sessionTimeouts(statementTimeoutMs)),
    query_timeout: statementTimeoutMs + answerGraceMs,
  };
}

/** TLS with a verified certificate to another machine, unless `sslmode` of the URL or PGSSLMODE says otherwise. */
function verifiedTls(given: ClientConfig): Pick<PoolConfig, 'ssl'> {
  const { host } = new Client(given);
  const isHere = host.startsWith('/') || isLoopback(urlHost(host));
  return given.ssl !== undefined || env.PGSSLMODE || isHere ? {} : { ssl: true };
}

/** PgBouncer refuses them at the start of a session. */
function sessionTimeouts(statementTimeoutMs: number): ClientConfig {
  return {
    statement_timeout: statementTimeoutMs,
    // A process that is stopped or cut off in a transaction must not hold its locks forever.
    idle_in_transaction_session_timeout: 2 * statementTimeoutMs,
  };
}

/**
 * Whether the URL says, by `?pgbouncer=true`, that a pooler in transaction mode gives each transaction another session:
 * nothing may be prepared or set in one.
 */
export function isPooled(url: string): boolean {
  return readUrl(url).pgbouncer === 'true';
}

/** The URL of a database for messages, without password and options. */
export function describePostgres(url: string): string {
  const { user, host, port, database } = new Client(readUrl(url));
  return `postgres://${user === undefined ? '' : `${user}@`}${host}:${port}/${database ?? ''}`;
}

function readUrl(url: string): ClientConfig & { readonly pgbouncer?: string } {
  // With an unescaped / ? or # in the password, the rest of it would become part of the host.
  if (/^[^:]+:\/\/[^/?#]*[/?#].*[@#]/.test(url)) throw unreadableUrl();
  const config = parseUrl(url);
  if (/^[1-9]\d*$/.test(String(config.statement_timeout ?? defaultStatementTimeoutMs))) return config;
  throw unreadableUrl();
}

/** Hides the error of the parser: it may show the URL. */
function parseUrl(url: string): ClientConfig {
  try {
    return parseIntoClientConfig(url);
  } catch (error) {
    const { syscall, code } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw unreadableUrl();
    throw new StartError(
      'CANNOT_OPEN_DATABASE',
      `a certificate that the URL of the database names cannot be read: ${code}`,
    );
  }
}

function unreadableUrl(): StartError {
  return new StartError('CANNOT_OPEN_DATABASE', 'the URL of the database is invalid', {
    hint: 'Write it as postgres://user@host:5432/database, special characters percent-encoded, the password in PGPASSWORD.',
  });
}

/** The password file, if neither the URL nor PGPASSWORD has a password. */
function passwordFrom(given: ClientConfig): Pick<PoolConfig, 'password'> {
  const client = new Client(given);
  if (client.password) return {};
  return {
    password: () =>
      new Promise((resolve) => {
        pgpass(client, (password) => resolve(password ?? ''));
      }),
  };
}

/** Integers as numbers, everything else as text. */
const valueTypes: CustomTypesConfig = {
  getTypeParser: (type: number) => (integerTypes.has(type) ? toSafeInteger : String),
};

function toSafeInteger(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number)) throw new RangeError('an integer of the database is too large');
  return number;
}
