import { setTimeout as wait } from 'node:timers/promises';
import { StartError, StoreUnavailableError } from '../../database/errors.js';
import { type MigrateOptions, type Migration, migrate } from '../../database/migrations.js';
import type { PoolUsage, Sql, SqlDriver } from '../../database/sql-driver.js';
import { quoteName } from '../../protocol/text.js';
import type { Secret } from '../../signing/secret.js';
import { loadPart } from '../../support/errors.js';
import { type App, Apps } from './apps.js';
import { Audit } from './audit.js';
import { Codes } from './codes.js';
import { Nonces } from './nonces.js';
import {
  type PassbackOutcome,
  type PassbackRequest,
  passBackInTransaction,
  type ReadOutcome,
  type ReadRequest,
  readInTransaction,
} from './operations.js';
import { PostgresGroups } from './postgres-groups.js';
import { SecretCipher } from './secret-cipher.js';
import { emptyStatements, statements, storeSchema } from './statements.js';
import { Users } from './users.js';

/** The tables of the store, inside one read or one transaction. */
export interface Records {
  readonly apps: Apps;
  readonly users: Users;
  readonly codes: Codes;
  readonly nonces: Nonces;
  readonly audit: Audit;
}

/**
 * The store of the service and of its admin. A unit of work awaits only the records that it receives, and may be
 * run again from its start. Methods throw a StoreUnavailableError if the database does not answer.
 */
export interface Store {
  /** What opening it made of its schema. */
  readonly migration: Migration;
  /** Reads committed data. */
  read<T>(work: (records: Records) => Promise<T>): Promise<T>;
  /** Runs work in a transaction: if it throws, nothing is stored. Resolves when it is durable. */
  write<T>(work: (records: Records) => Promise<T>): Promise<T>;
  /** An app as last read; `undefined` if it was not. It may have changed. */
  knownApp(appKey: string): App | undefined;
  /** Reads an app from the database. */
  findApp(appKey: string): Promise<App | null>;
  /** Carries out a read (§4.1). Its random, and its code, are used up durably when this resolves. */
  readUser(request: ReadRequest): Promise<ReadOutcome>;
  /** Carries out a passback (§4.2). Resolves when it is durable. */
  passBack(request: PassbackRequest): Promise<PassbackOutcome>;
  /** Resolves if the store is writable, and the last write since the last check did not fail because of the store. */
  check(): Promise<void>;
  /**
   * Deletes expired rows periodically until the store is closed. `holder` is unique to the process; failures go to
   * `onFault`.
   */
  startPurge(holder: string, onFault: (error: unknown) => void): void;
  /** How busy the connections to the database are; `null` for a database without connections. */
  connections(): PoolUsage | null;
  /** Empties the store. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

/** Maximum number of apps in memory. */
const maxKnownApps = 10_000;

/** Number of apps whose secrets are decrypted to check the master keys. */
const checkedApps = 100;

interface CreateStoreOptions extends MigrateOptions {
  /** Keys for the secrets of apps: the first encrypts, all of them decrypt. Default: none, nothing is encrypted. */
  readonly masterKeys?: readonly Secret[];
}

/**
 * Creates the store over a driver, and brings its schema up to date. If that fails, it closes the driver.
 *
 * @throws StartError as `migrate` does
 */
export async function createStore(driver: SqlDriver, options: CreateStoreOptions = {}): Promise<Store> {
  const cipher = new SecretCipher(options.masterKeys ?? []);
  const recordsOf = (sql: Sql): Records => ({
    apps: new Apps(sql, cipher),
    users: new Users(sql),
    codes: new Codes(sql),
    nonces: new Nonces(sql),
    audit: new Audit(sql),
  });
  let migration: Migration;
  try {
    migration = await migrate(driver, storeSchema, options);
    // A key that is missing is noticed now, not at the first request.
    await driver.read((sql) => recordsOf(sql).apps.list('', checkedApps));
  } catch (error) {
    await driver.close();
    throw error;
  }
  let purge: Purge | undefined;
  /** Of the last write: data that a full disk refuses may be larger than what `check` writes. */
  let fault: StoreUnavailableError | null = null;
  const noting = async <T>(written: Promise<T>): Promise<T> => {
    try {
      const result = await written;
      fault = null;
      return result;
    } catch (error) {
      if (error instanceof StoreUnavailableError) fault = error;
      throw error;
    }
  };
  const write: Store['write'] = (work) => noting(driver.write((sql) => work(recordsOf(sql))));
  const groups = driver.engine === 'postgres' ? new PostgresGroups(driver) : null;
  const apps = new Map<string, App>();
  return {
    migration,
    read: (work) => driver.read((sql) => work(recordsOf(sql))),
    write,
    knownApp: (appKey) => apps.get(appKey),
    async findApp(appKey) {
      const app = await driver.read((sql) => recordsOf(sql).apps.find(appKey));
      if (apps.size >= maxKnownApps) apps.clear();
      if (app === null) apps.delete(appKey);
      else apps.set(appKey, app);
      return app;
    },
    readUser: (request) =>
      groups === null
        ? write((records) => readInTransaction(records, request))
        : noting(groups.read(request)),
    passBack: (request) =>
      groups === null
        ? write((records) => passBackInTransaction(records, request))
        : noting(groups.passBack(request)),
    async check() {
      // One statement without a transaction: a process that is stopped in the middle holds no lock.
      const written = await driver.read((sql) => sql.run(statements.probe));
      if (written !== 1) throw new StoreUnavailableError('the database has lost its table service_state');
      const last = fault;
      fault = null;
      if (last !== null) throw last;
    },
    startPurge(holder, onFault) {
      purge ??= new Purge(driver, holder, onFault);
    },
    connections: () => driver.connections?.() ?? null,
    reset: () =>
      driver.write(async (sql) => {
        for (const statement of emptyStatements) await sql.run(statement);
      }),
    async close() {
      await purge?.stop();
      await driver.close();
    },
  };
}

interface OpenStoreOptions extends CreateStoreOptions {
  /** PostgreSQL: maximum number of connections. Default: 10. */
  readonly poolSize?: number;
}

/** A mistyped URL, which may hold a password: no message may show it as the name of a file. */
const likeUrl = /^\W*postgres(?:ql)?(?::|\/\/)|:\/\/|:[^/\\]*@/i;

/**
 * Opens a database: a SQLite file, which is created if missing, `:memory:`, or PostgreSQL by its URL.
 *
 * @throws StartError if it cannot be used
 */
export async function openStore(database: string, options: OpenStoreOptions = {}): Promise<Store> {
  const scheme = /^([a-z][a-z\d+.-]+):\/\//i.exec(database)?.[1]?.toLowerCase();
  if (scheme === 'postgres' || scheme === 'postgresql') {
    // Only the packages of this database are loaded.
    const { describePostgres, openPostgresDriver } = await loadPart(
      () => import('../../database/postgres-driver.js'),
    );
    return await open(describePostgres(database), options, () => openPostgresDriver(database, options));
  }
  if (scheme === undefined && likeUrl.test(database)) {
    throw new StartError('CANNOT_OPEN_DATABASE', 'the database is neither a file nor a valid URL', {
      hint: 'Write a URL as postgres://user@host/database, the password in PGPASSWORD.',
    });
  }
  if (scheme === undefined && database !== '') {
    const { openSqliteDriver } = await loadPart(() => import('../../database/sqlite-driver.js'));
    return await open(database, options, () => openSqliteDriver(database, options));
  }
  throw new StartError(
    'CANNOT_OPEN_DATABASE',
    scheme === undefined ? 'no database is named' : `databases of kind ${quoteName(scheme)} are not known`,
    { hint: 'Give the path of a SQLite file, :memory:, or a URL such as postgres://user@host/database.' },
  );
}

/** `name` is that of the database in messages. */
async function open(
  name: string,
  options: OpenStoreOptions,
  openDriver: () => Promise<SqlDriver>,
): Promise<Store> {
  try {
    return await createStore(await openDriver(), options);
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
    throw new StartError('CANNOT_OPEN_DATABASE', `cannot open the database ${name}: ${error.message}`, {
      hint: error.hint ?? 'Stop what else uses the database, or use another one.',
      cause: error,
    });
  }
}

const intervalMs = 60_000;

/** Pause between two batches for other requests, in milliseconds. */
const pauseMs = 2;

/** Longer than the interval: the same process keeps purging until it ends. */
const leaseSeconds = 90;

const tables = [
  { firstExpired: statements.expiredNonce, purge: statements.purgeNonces },
  { firstExpired: statements.expiredCode, purge: statements.purgeCodes },
];

/**
 * Deletes expired nonces and codes of all tenants, at once and then every minute until it is stopped: in batches,
 * and in one process at a time, whose `holder` is unique. A failure goes to `onFault`, and ends that minute's
 * purge.
 */
class Purge {
  readonly #driver: SqlDriver;
  readonly #holder: string;
  readonly #stopped = new AbortController();
  readonly #running: Promise<void>;

  constructor(driver: SqlDriver, holder: string, onFault: (error: unknown) => void) {
    this.#driver = driver;
    this.#holder = holder;
    this.#running = this.#run(onFault);
  }

  /** Resolves when the current batch has ended, and another process may purge. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
    // If this fails, the lease expires.
    await this.#driver.write((sql) => sql.run(statements.releasePurge, [this.#holder])).catch(() => {});
  }

  async #run(onFault: (error: unknown) => void): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      try {
        await this.#purgeAll();
      } catch (error) {
        onFault(error);
      }
      await this.#pause(intervalMs);
    }
  }

  async #purgeAll(): Promise<void> {
    for (const { firstExpired, purge } of tables) {
      const [row] = await this.#driver.read((sql) => sql.all(firstExpired));
      if (row?.expires_at != null && !(await this.#purge(purge, Number(row.expires_at)))) return;
    }
    await this.#driver.checkpoint();
  }

  /** Returns `false` if another process purges, or this one stops. */
  async #purge(statement: string, firstExpired: number): Promise<boolean> {
    const { purgeRows } = this.#driver;
    for (let from = firstExpired; ; ) {
      const deleted = await this.#driver.write(async (sql) =>
        (await this.#lease(sql)) ? await sql.all(statement, [from, purgeRows]) : null,
      );
      if (deleted === null) return false;
      if (deleted.length < purgeRows) return true;
      from = Math.max(...deleted.map(({ expires_at }) => Number(expires_at)));
      await this.#pause(pauseMs);
      if (this.#stopped.signal.aborted) return false;
    }
  }

  async #lease(sql: Sql): Promise<boolean> {
    return (await sql.run(statements.leasePurge, [this.#holder, leaseSeconds])) === 1;
  }

  /** Does not keep the process alive, and ends early when the purge is stopped. */
  async #pause(ms: number): Promise<void> {
    await wait(ms, undefined, { ref: false, signal: this.#stopped.signal }).catch(() => {});
  }
}
