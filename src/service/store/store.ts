import { randomUUID } from 'node:crypto';
import { quoteName } from '../../core/contract/errors.js';
import type { PassbackUser } from '../../core/contract/passback.js';
import type { Secret } from '../../core/signing/secret.js';
import {
  DatabaseBusyError,
  nothingWritten,
  StartError,
  StoreUnavailableError,
} from '../database/errors.js';
import { type Migration, migrate } from '../database/migrations.js';
import type { PoolUsage, Sql, SqlDriver } from '../database/sql-driver.js';
import { type App, Apps } from './apps.js';
import { Audit, digestKeyOf, digestUser } from './audit.js';
import { Codes } from './codes.js';
import {
  type PassbackRequest,
  type PassbackResult,
  passBackInTransaction,
  passBackOnce,
  type ReadRequest,
  type ReadResult,
  type Records,
  readInTransaction,
  readOnce,
} from './operations.js';
import { startPurge } from './purge.js';
import { SecretCipher } from './secret-cipher.js';
import { ageStatements, emptyStatements, statements, storeSchema } from './statements.js';
import { Users } from './users.js';

/**
 * Maximum number of apps that are looked up at once. Anybody can name one that is not known, or
 * sign wrongly for one that is: further look-ups are refused, so that those that do not need one
 * have the connections.
 */
const maxLookUps = 100;

/**
 * Creates the store of the service and of its admin over a driver, and brings its schema up to
 * date. If that fails, it closes the driver.
 *
 * @throws StartError as `migrate` does
 */
export async function createStore(driver: SqlDriver, options: StoreOptions = {}): Promise<Store> {
  try {
    const cipher = new SecretCipher(options.masterKeys ?? []);
    const migration = await migrate(driver, storeSchema, options);
    const store = new Store(driver, cipher, migration, await digestKeyOf(driver));
    // A key that is missing is noticed now, not at the first request.
    await store.read(({ apps }) => apps.requireMasterKeys());
    return store;
  } catch (error) {
    await driver.close();
    throw error;
  }
}

/**
 * The apps, users, codes and actions of operators in a database. A unit of work awaits only the
 * records that it receives, and may be run again from its start. Methods throw a
 * StoreUnavailableError if the database does not answer.
 */
export class Store {
  /** The result of the migration when it was opened. */
  readonly migration: Migration;
  readonly #driver: SqlDriver;
  readonly #cipher: SecretCipher;
  readonly #digestKey: string;
  /** Names this process in the audit. */
  readonly #processId = randomUUID();
  readonly #knownApps = new Map<string, App>();
  /** Number of look-ups of apps under way. */
  #lookUps = 0;
  readonly #purgeBacklog = new Map<string, number>();
  #stopPurge = async () => {};
  #clockDifference = 0;
  /**
   * The fault of the last write: data that a full disk refuses may be larger than what `check`
   * writes.
   */
  #writeFault: StoreUnavailableError | null = null;

  constructor(driver: SqlDriver, cipher: SecretCipher, migration: Migration, digestKey: string) {
    this.#driver = driver;
    this.#cipher = cipher;
    this.migration = migration;
    this.#digestKey = digestKey;
  }

  /** Reads committed data. */
  read<T>(work: (records: Records) => Promise<T>, deadline?: number): Promise<T> {
    return this.#driver.read((sql) => work(this.#recordsOf(sql)), deadline);
  }

  /** Runs work in a transaction: if it throws, nothing is stored. Resolves when it is durable. */
  write<T>(work: (records: Records) => Promise<T>, deadline?: number): Promise<T> {
    return this.#noting(this.#driver.write((sql) => work(this.#recordsOf(sql)), deadline));
  }

  /** The deadline of a request that comes now, by `performance.now()`. */
  newDeadline(): number {
    return this.#driver.newDeadline();
  }

  /** An app as last read; `undefined` if it was not. It may have changed. */
  knownApp(appKey: string): App | undefined {
    return this.#knownApps.get(appKey);
  }

  /** Reads an app from the database. */
  async findApp(appKey: string, deadline?: number): Promise<App | null> {
    if (this.#lookUps >= maxLookUps) {
      throw new DatabaseBusyError(
        'too many requests name apps that are not known, or are signed wrongly',
      );
    }
    this.#lookUps += 1;
    try {
      const app = await this.read(({ apps }) => apps.find(appKey), deadline);
      if (app === null) this.#knownApps.delete(appKey);
      else this.#knownApps.set(appKey, app);
      return app;
    } finally {
      this.#lookUps -= 1;
    }
  }

  /**
   * Carries out a read (§4.1). Its random, and its code, are used up durably when this resolves.
   */
  readUser(request: ReadRequest): Promise<ReadResult> {
    if (this.#driver.engine === 'sqlite') {
      return this.write((records) => readInTransaction(records, request), request.deadline);
    }
    return this.#noting(
      readOnce(this.#driver, request, (work, deadline) => this.read(work, deadline)),
    );
  }

  /** Carries out a passback (§4.2). Resolves when it is durable. */
  async passBack(request: PassbackRequest): Promise<PassbackResult> {
    if (this.#driver.engine === 'postgres') {
      const stored = await this.#noting(passBackOnce(this.#driver, request));
      if (stored !== null) return stored;
    }
    const { app, user, change, newUnionId, deadline } = request;
    const result = await this.write((records) => passBackInTransaction(records, request), deadline);
    if (result !== 'no user' || newUnionId === undefined) return result;
    return this.write(async ({ users }) => {
      if (this.#driver.engine === 'postgres') await users.lockAdding(app.tenant_code, user);
      return users.changeOrAdd(app.tenant_code, user, change, newUnionId);
    }, deadline);
  }

  /**
   * The keyed digest that names a user of a tenant in the log and in the audit; all its users for
   * `null`.
   */
  digestOf(tenantCode: string, user: PassbackUser | null): string {
    return digestUser(this.#digestKey, tenantCode, user);
  }

  /**
   * Lead of the clock of this process over the database's at the last check, in seconds; 0 for
   * SQLite.
   */
  clockDifference(): number {
    return this.#clockDifference;
  }

  /**
   * Resolves if the store is writable, and the last write since the last check did not fail because
   * of the store. `unixSeconds` is the clock to compare with the database's.
   */
  async check(unixSeconds = () => Date.now() / 1000): Promise<void> {
    // Without a transaction: a process that is stopped in the middle holds no lock.
    await this.#driver.read(async (sql) => {
      const changedRows = await sql.run(statements.probe);
      if (changedRows === 0) throw new StoreUnavailableError(nothingWritten);
      // SQLite has the clock of the machine.
      if (this.#driver.engine === 'sqlite') return;
      const before = unixSeconds();
      const [row] = await sql.all(statements.now);
      this.#clockDifference = differenceTo(Number(row?.now), before, unixSeconds());
    }, this.newDeadline());
    const fault = this.#writeFault;
    this.#writeFault = null;
    if (fault !== null) throw fault;
  }

  /**
   * Deletes expired rows, and lines of the audit of an age in seconds, periodically until the store
   * is closed. Failures go to `onFault`.
   */
  startPurge(auditSeconds: number, onFault: (error: unknown) => void): void {
    this.#stopPurge = startPurge(this.#driver, auditSeconds, this.#purgeBacklog, onFault);
  }

  /** For how many seconds expired rows had waited at the last purge, by table. */
  get purgeBacklog(): ReadonlyMap<string, number> {
    return this.#purgeBacklog;
  }

  /** Use of the connections to the database; `null` for a database without connections. */
  connections(): PoolUsage | null {
    return this.#driver.connections?.() ?? null;
  }

  /** Empties the store. */
  async reset(): Promise<void> {
    await this.#driver.write(async (sql) => {
      for (const statement of emptyStatements) await sql.run(statement);
    });
  }

  /** Makes its codes, and the old secrets of its apps, older: for a clock that a test moves. */
  async age(seconds: number): Promise<void> {
    if (seconds === 0) return;
    await this.#driver.write(async (sql) => {
      for (const statement of ageStatements) await sql.run(statement, [seconds]);
    });
  }

  async close(): Promise<void> {
    await Promise.all([this.#stopPurge(), this.#driver.close()]);
  }

  #recordsOf(sql: Sql): Records {
    return {
      apps: new Apps(sql, this.#cipher),
      users: new Users(sql),
      codes: new Codes(sql),
      audit: new Audit(sql, this.#processId),
    };
  }

  /** Keeps the failure of a write for `check`. */
  async #noting<T>(written: Promise<T>): Promise<T> {
    try {
      const result = await written;
      this.#writeFault = null;
      return result;
    } catch (error) {
      const isOfStore =
        error instanceof StoreUnavailableError && !(error instanceof DatabaseBusyError);
      if (isOfStore) this.#writeFault = error;
      throw error;
    }
  }
}

/**
 * Distance of a time that was taken between two others to the nearer one; 0 if it may be between
 * them.
 */
function differenceTo(time: number, before: number, after: number): number {
  // It has whole seconds.
  if (time + 1 < before) return Math.round(before - time);
  if (time - 1 > after) return Math.round(after - time);
  return 0;
}

/** Options of the store. */
export interface StoreOptions {
  /**
   * A SQLite file, which is created if missing, `:memory:`, or the URL of a PostgreSQL database.
   *
   * @default ':memory:'
   */
  readonly database?: string;
  /**
   * Keys that encrypt the secrets of apps in the database (AES-256-GCM), 32 bytes each in base64 or
   * hex: the first encrypts, all of them decrypt.
   *
   * @default none: the secrets are stored as they are
   */
  readonly masterKeys?: readonly Secret[];
  /**
   * PostgreSQL: maximum number of connections.
   *
   * @default 10
   */
  readonly poolSize?: number;
  /**
   * Whether a missing database or missing tables are created.
   *
   * @default true
   */
  readonly create?: boolean;
  /**
   * Whether the tables of an older version are brought up to date, rather than refused.
   *
   * @default true
   */
  readonly upgrade?: boolean;
}

/** A mistyped URL, which may hold a password: no message may show it as the name of a file. */
const likeUrl =
  /^\W*(?:postgres(?:ql)?|jdbc|file|sqlite\d?)(?::|\/\/)|:\/\/|:[^/\\]*@|(?:^|\s)(?:host|dbname|service)\s*=/i;

/**
 * Opens a database: a SQLite file, which is created if missing, `:memory:`, or PostgreSQL by its
 * URL.
 *
 * @throws StartError if it cannot be used
 */
export async function openStore(database: string, options: StoreOptions = {}): Promise<Store> {
  const scheme = /^([a-z][a-z\d+.-]+):\/\//i.exec(database)?.[1]?.toLowerCase();
  if (scheme === 'postgres' || scheme === 'postgresql') return openPostgres(database, options);
  if (scheme !== undefined) throw unknownScheme(scheme);
  refuseOtherDatabases(database);
  // Only what this database needs is loaded.
  const { openSqliteDriver } = await import('../database/sqlite-driver.js');
  try {
    return await createStore(await openSqliteDriver(database, options), options);
  } catch (error) {
    throw openFault(error, database);
  }
}

async function openPostgres(url: string, options: StoreOptions): Promise<Store> {
  const { describePostgres, openPostgresDriver } = await import('../database/postgres-driver.js');
  const name = describePostgres(url);
  const { probe } = statements;
  try {
    return await createStore(await openPostgresDriver(url, { ...options, probe }), options);
  } catch (error) {
    throw openFault(error, name);
  }
}

/** An error of opening a database, for the operator. */
function openFault(error: unknown, database: string): unknown {
  if (!(error instanceof StoreUnavailableError)) return error;
  return new StartError(`cannot open the database ${database}: ${error.message}`, {
    hint: error.hint ?? 'Stop what else uses the database, or use another one.',
    cause: error,
  });
}

const examples =
  'Give the path of a SQLite file, :memory:, or a URL such as postgres://user@host/database.';

function unknownScheme(scheme: string): StartError {
  return new StartError(`databases of kind ${quoteName(scheme)} are not known`, {
    hint: examples,
  });
}

/** @throws StartError for what is not the path of a file */
function refuseOtherDatabases(database: string): void {
  if (database === '') throw new StartError('no database is named', { hint: examples });
  if (!likeUrl.test(database)) return;
  throw new StartError('the database is neither a file nor a valid URL', {
    hint: 'Write a URL as postgres://user@host/database, the password in PGPASSWORD.',
  });
}
