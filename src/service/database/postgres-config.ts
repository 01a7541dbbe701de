import { env } from 'node:process';
import {
  Client,
  type ClientBase,
  type ClientConfig,
  type CustomTypesConfig,
  type PoolConfig,
} from 'pg';
import { parseIntoClientConfig } from 'pg-connection-string';
import pgpass from 'pgpass';
import { isLoopback, urlHost } from '../../core/contract/base-url.js';
import { StartError } from './errors.js';
import { type PostgresClient, refuseStandby } from './postgres-connection.js';

/** A server of the database. */
export type PostgresHost = Readonly<Pick<Client, 'host' | 'port'>>;

/** The configuration of a pool, and the servers that it tries in this order. */
export interface PostgresConfig extends PoolConfig {
  readonly hosts: readonly PostgresHost[];
  /**
   * Whether the URL says, by `?pgbouncer=true`, that a pooler in transaction mode gives each
   * transaction another session: nothing may be prepared or set in one.
   */
  readonly isPooled: boolean;
  /** Maximum wait for the answer to a statement, in milliseconds. */
  readonly answerMs: number;
  /** Maximum duration of a unit of work with all its waits, in milliseconds. */
  readonly workMs: number;
  /** Checks a new connection. The types of pg-pool do not have this option yet. */
  readonly onConnect?: (client: ClientBase) => Promise<void>;
}

/** Maximum duration of a statement in milliseconds, unless the URL sets another. */
const defaultStatementTimeoutMs = 5000;

/** Time for the answer to a statement to arrive, in milliseconds, after its maximum duration. */
const answerGraceMs = 1000;

/**
 * Time that a unit of work has, in milliseconds, beside the longest statement, or the longest wait
 * for a connection.
 */
const workGraceMs = 500;

/** Maximum wait for a connection, free or new, unless the URL sets another. */
const defaultConnectTimeoutSeconds = 3;

/** Time for which an idle connection is kept, in milliseconds. */
const idleTimeoutMs = 60_000;

/**
 * Time after which a connection is replaced, in seconds, and with it its prepared plans: one that
 * was made while a table was empty would read all of it.
 */
const maxLifetimeSeconds = 60;

/**
 * Maximum wait for a locked row, in milliseconds: longer, work waits without keeping a connection.
 */
export const lockTimeoutMs = 100;

/**
 * Time after which the system asks whether the other side of an idle connection is still there, in
 * milliseconds: once a second from then on, ten times. Its default is two hours.
 */
const keepAliveInitialDelayMillis = 5000;

const integerTypes = new Set([20, 21, 23]);

/**
 * The configuration of the pool: the URL, completed as libpq does it, from PGUSER and other
 * variables, PGPASSWORD or the password file.
 *
 * @throws StartError that shows nothing of an invalid URL
 */
export function postgresConfig(url: string): PostgresConfig {
  const { urlSettings, clients } = readUrl(url);
  const { pgbouncer, target_session_attrs, connect_timeout, ...settings } = urlSettings;
  const hosts = clients.map(({ host, port }) => ({ host, port }));
  const isPooled = pgbouncer === 'true';
  const statementTimeoutMs = Number(settings.statement_timeout ?? defaultStatementTimeoutMs);
  const connectTimeoutMs = Number(connect_timeout ?? defaultConnectTimeoutSeconds) * 1000;
  const config: PostgresConfig = {
    application_name: 'userinfo',
    ...settings,
    ...passwordFrom(clients),
    ...verifiedTls(settings, hosts),
    hosts,
    isPooled,
    answerMs: statementTimeoutMs + answerGraceMs,
    workMs: Math.max(statementTimeoutMs, connectTimeoutMs) + workGraceMs,
    types: valueTypes,
    // BEGIN is sent together with the first statement.
    pipeline: true,
    keepAlive: true,
    keepAliveInitialDelayMillis,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: idleTimeoutMs,
    maxLifetimeSeconds,
  };
  // PgBouncer refuses these settings at the start of a session.
  if (!isPooled) Object.assign(config, sessionTimeouts(statementTimeoutMs));
  if (target_session_attrs !== 'read-write') return config;
  return {
    ...config,
    onConnect: (client) => refuseStandby(client as PostgresClient, connectTimeoutMs),
  };
}

/**
 * TLS with a verified certificate to another machine, unless `sslmode` of the URL or PGSSLMODE says
 * otherwise.
 */
function verifiedTls(
  settings: ClientConfig,
  hosts: readonly PostgresHost[],
): Pick<PoolConfig, 'ssl'> {
  if (settings.ssl !== undefined) return {};
  const mode = env.PGSSLMODE;
  if (mode) {
    // `pg` takes another one for no TLS.
    if (!sslModes.pattern.test(mode)) throw new StartError(`PGSSLMODE can be ${sslModes.words}`);
    return {};
  }
  const isHere = hosts.every(({ host }) => host.startsWith('/') || isLoopback(urlHost(host)));
  return isHere ? {} : { ssl: true };
}

function sessionTimeouts(statementTimeoutMs: number): ClientConfig {
  return {
    statement_timeout: statementTimeoutMs,
    lock_timeout: lockTimeoutMs,
    // A process that is stopped or cut off in a transaction must not hold its locks forever.
    idle_in_transaction_session_timeout: 2 * statementTimeoutMs,
  };
}

/** The URL of a database for messages, without password and options. */
export function describePostgres(url: string): string {
  const { clients } = readUrl(url);
  const hosts = clients.map(({ host, port }) => `${urlHost(host)}:${port}`).join(',');
  const [{ user, database = '' } = {}] = clients;
  const login = user === undefined ? '' : `${user}@`;
  return `postgres://${login}${hosts}/${database}`;
}

interface UrlSettings extends ClientConfig {
  readonly pgbouncer?: string;
  readonly target_session_attrs?: string;
  /** In seconds, as for libpq. */
  readonly connect_timeout?: string;
}

/** The values that an option of the URL can have. */
interface OptionValues {
  readonly pattern: RegExp;
  /** The same in words: `it can be …`. */
  readonly words: string;
}

/** The values of `sslmode` and PGSSLMODE. */
const sslModes: OptionValues = {
  pattern: /^(?:disable|prefer|require|verify-ca|verify-full|no-verify)$/,
  words:
    'verify-full, or disable for no TLS; prefer, require and verify-ca verify as verify-full does',
};

/** The values of options that would otherwise do nothing, or something else, without a word. */
const optionValues: Readonly<Record<string, OptionValues>> = {
  statement_timeout: {
    pattern: /^[1-9]\d{0,8}$/,
    words: 'a number of milliseconds, such as 5000',
  },
  target_session_attrs: { pattern: /^(?:any|read-write)$/, words: 'any or read-write' },
  pgbouncer: { pattern: /^(?:true|false)$/, words: 'true or false' },
  connect_timeout: { pattern: /^[1-9]\d{0,5}$/, words: 'a number of seconds, such as 10' },
  sslmode: sslModes,
};

/**
 * The settings of the URL, and a client for each of its servers, in which the environment has
 * completed it.
 */
function readUrl(url: string): {
  readonly urlSettings: UrlSettings;
  readonly clients: readonly Client[];
} {
  // With an unescaped / ? or # in the password, the rest of it would become part of the host.
  if (!/^postgres(?:ql)?:\/\//i.test(url) || /^[^:]+:\/\/[^/?#]*[/?#].*[@#]/.test(url))
    throw unreadableUrl();
  // Several hosts are no URL: each is parsed by itself.
  const [, start = '', servers = '', end = ''] =
    /^([^:]+:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/s.exec(url) ?? [];
  const parsed = servers.split(',').map((server) => parseUrl(start + server + end));
  const [urlSettings = {}] = parsed;
  for (const [name, { pattern, words }] of Object.entries(optionValues)) {
    const value = (urlSettings as Readonly<Record<string, unknown>>)[name];
    if (value === undefined || pattern.test(String(value))) continue;
    throw new StartError(`the URL of the database is invalid: ${name} can be ${words}`);
  }
  return { urlSettings, clients: parsed.map((config) => new Client(config)) };
}

/** Hides the error of the parser: it may show the URL. */
function parseUrl(url: string): UrlSettings {
  try {
    return parseIntoClientConfig(withVerifyFull(url));
  } catch (error) {
    const { syscall, code } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw unreadableUrl();
    throw new StartError(
      `a certificate that the URL of the database names cannot be read: ${code}`,
    );
  }
}

/**
 * Writes `verify-full` for the modes that mean it already: the parser would print a warning for
 * them, which advises to verify less.
 */
function withVerifyFull(url: string): string {
  const isCompatible = /[?&]uselibpqcompat=/.test(url);
  if (isCompatible) return url;
  return url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/g, '$1verify-full');
}

function unreadableUrl(): StartError {
  return new StartError('the URL of the database is invalid', {
    hint:
      'Write it as postgres://user@host:5432/database, special characters percent-encoded,' +
      ' the password in PGPASSWORD.',
  });
}

/** The password file, if neither the URL nor PGPASSWORD has a password. */
function passwordFrom([first]: readonly Client[]): Pick<PoolConfig, 'password'> {
  if (first?.password) return {};
  // pg passes on the server; its types do not say so.
  const password = (server: Client) =>
    new Promise<string>((resolve) => {
      pgpass(server, (entry) => resolve(entry ?? ''));
    });
  return { password: password as () => Promise<string> };
}

/** Integers as numbers, everything else as text. */
const valueTypes: CustomTypesConfig = {
  getTypeParser: (type: number) => (integerTypes.has(type) ? toSafeInteger : String),
};

function toSafeInteger(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number))
    throw new RangeError('an integer of the database is too large');
  return number;
}
