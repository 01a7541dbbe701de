import { Client, type ClientConfig, type CustomTypesConfig, type PoolConfig } from 'pg';
import { parseIntoClientConfig } from 'pg-connection-string';
import pgpass from 'pgpass';
import { StartError } from './errors.js';

type Done = Parameters<Client['connect']>[0];

/** A client that closes its socket where it cannot connect: `pg` leaves it open when it has no password to give. */
class PostgresClient extends Client {
  override connect(): Promise<Client>;
  override connect(done: Done): void;
  override connect(done?: Done): Promise<Client> | undefined {
    const connecting = super.connect();
    connecting.catch(() => this.end());
    if (done === undefined) return connecting;
    const tell = done as (error: Error | null, client?: Client) => void;
    connecting.then((client) => tell(null, client), tell);
    return undefined;
  }
}

/** How long a statement may take unless the URL says otherwise, in milliseconds. */
const defaultStatementTimeoutMs = 5000;

/** How much longer its answer may be on the way, in milliseconds. */
const answerGraceMs = 1000;

const connectTimeoutMs = 3000;

/** How long a connection is kept that nobody needs, in milliseconds. */
const idleTimeoutMs = 60_000;

const integerTypes = new Set([20, 21, 23]);

/**
 * What the pool connects with: the URL, and what it leaves open as libpq fills it in: PGUSER and its like, PGPASSWORD
 * or the password file. Throws a StartError that holds nothing of a URL it cannot read.
 */
export function postgresConfig(url: string, poolSize: number): PoolConfig {
  const given = readUrl(url);
  const statementTimeoutMs = Number(given.statement_timeout ?? defaultStatementTimeoutMs);
  return {
    application_name: 'userinfo',
    ...given,
    ...passwordFrom(given),
    Client: PostgresClient,
    types: valueTypes,
    // BEGIN does not wait for its answer before the first statement is sent.
    pipeline: true,
    max: poolSize,
    keepAlive: true,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: idleTimeoutMs,
    statement_timeout: statementTimeoutMs,
    // A process that was stopped or cut off in the middle of a transaction must not hold its locks for ever.
    idle_in_transaction_session_timeout: 2 * statementTimeoutMs,
    query_timeout: statementTimeoutMs + answerGraceMs,
  };
}

/** Where a database is, for a message: without password and options. */
export function describePostgres(url: string): string {
  const { user, host, port, database } = new Client(readUrl(url));
  return `postgres://${user === undefined ? '' : `${user}@`}${host}:${port}/${database ?? ''}`;
}

function readUrl(url: string): ClientConfig {
  // A password with an unescaped / ? or # would make the rest of it a part of the host.
  if (/^[^:]+:\/\/[^/?#]*[/?#].*[@#]/.test(url)) throw unreadableUrl();
  const config = parseUrl(url);
  if (/^[1-9]\d*$/.test(String(config.statement_timeout ?? defaultStatementTimeoutMs))) return config;
  throw unreadableUrl();
}

/** Without what the parser throws: it may show the URL. */
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
  return new StartError('CANNOT_OPEN_DATABASE', 'the URL of the database cannot be read', {
    hint: 'Write it as postgres://user@host:5432/database, special characters percent-encoded, the password in PGPASSWORD.',
  });
}

/** The password file, where neither the URL nor PGPASSWORD has one. */
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

/** Integers as numbers, everything else as the text that it is. */
const valueTypes: CustomTypesConfig = {
  getTypeParser: (type: number) => (integerTypes.has(type) ? toSafeInteger : String),
};

function toSafeInteger(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number)) throw new RangeError('an integer of the database is too large');
  return number;
}
