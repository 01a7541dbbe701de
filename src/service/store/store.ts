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
import type { Sql, SqlDriver } from '../database/sql-driver.js';
import { type App, appsOf } from './apps.js';
import { auditOf, digestKeyOf, digestUser } from './audit.js';
import { authorizationCodes } from './codes.js';
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
import { type SecretCipher, secretCipher } from './secret-cipher.js';
import { ageStatements, emptyStatements, statements, storeSchema } from './statements.js';
import { usersOf } from './users.js';

/**
 * Maximum number of apps that are looked up at once. Anybody can name one that is not known, or
 * sign wrongly for one that is: further look-ups are refused, so that those that do not need one
 * have the connections.
 */
const maxLookUps = 100;

/**
 * Creates the store of the service and of its admin over a driver, and brings its schema up to
 * date. If that fails, it closes the driver. A unit of work awaits only the records that it
 * receives, and may be run again from its start. Methods throw a StoreUnavailableError if the
 * database does not answer.
 *
 * @throws StartError as `migrate` does
 */
export async function createStore(driver: SqlDriver, options: StoreOptions = {}) {
  try {
    const cipher = secretCipher(options.masterKeys ?? []);
    const migration = await migrate(driver, storeSchema, options);
    const store = storeOver(driver, cipher, migration, await digestKeyOf(driver));
    // A key that is missing is noticed now, not at the first request.
    await store.read(({ apps }) => apps.requireMasterKeys());
    return store;
  } catch (error) {
    await driver.close();
    throw error;
  }
}

export type Store = ReturnType<typeof storeOver>;

function storeOver(
  driver: SqlDriver,
  cipher: SecretCipher,
  migration: Migration,
  digestKey: string,
) {
  const process = randomUUID();
  const knownApps = new Map<string, App>();
  let lookUps = 0;
  const purgeBacklog = new Map<string, number>();
  let stopPurge = async () => {};
  let clockDifference = 0;
  /**
   * The fault of the last write: data that a full disk refuses may be larger than what `check`
   * writes.
   */
  let fault: StoreUnavailableError | null = null;

  const recordsOf = (sql: Sql): Records => ({
    apps: appsOf(sql, cipher),
    users: usersOf(sql),
    codes: authorizationCodes(sql),
    audit: auditOf(sql, process),
  });

  /** Reads committed data. */
  function read<T>(work: (records: Records) => Promise<T>, deadline?: number): Promise<T> {
    return driver.read((sql) => work(recordsOf(sql)), deadline);
  }

  /** Runs work in a transaction: if it throws, nothing is stored. Resolves when it is durable. */
  function write<T>(work: (records: Records) => Promise<T>, deadline?: number): Promise<T> {
    return noting(driver.write((sql) => work(recordsOf(sql)), deadline));
  }

  /** Keeps the failure of a write for `check`. */
  async function noting<T>(written: Promise<T>): Promise<T> {
    try {
      const result = await written;
      fault = null;
      return result;
    } catch (error) {
      if (error instanceof StoreUnavailableError && !(error instanceof DatabaseBusyError))
        fault = error;
      throw error;
    }
  }

  return {
    /** The result of the migration when it was opened. */
    migration,
    read,
    write,
    /** The deadline of a request that comes now, by `performance.now()`. */
    newDeadline: () => driver.newDeadline(),
    /** An app as last read; `undefined` if it was not. It may have changed. */
    knownApp: (appKey: string) => knownApps.get(appKey),
    /** Reads an app from the database. */
    async findApp(appKey: string, deadline?: number): Promise<App | null> {
      if (lookUps >= maxLookUps) {
        throw new DatabaseBusyError(
          'too many requests name apps that are not known, or are signed wrongly',
        );
      }
      lookUps += 1;
      try {
        const app = await read(({ apps }) => apps.find(appKey), deadline);
        if (app === null) knownApps.delete(appKey);
        else knownApps.set(appKey, app);
        return app;
      } finally {
        lookUps -= 1;
      }
    },
    /**
     * Carries out a read (§4.1). Its random, and its code, are used up durably when this resolves.
     */
    readUser: (request: ReadRequest): Promise<ReadResult> =>
      driver.engine === 'postgres'
        ? noting(readOnce(driver, request, read))
        : write((records) => readInTransaction(records, request), request.deadline),
    /** Carries out a passback (§4.2). Resolves when it is durable. */
    async passBack(request: PassbackRequest): Promise<PassbackResult> {
      const { app, user, change, newUnionId, deadline } = request;
      const stored =
        driver.engine === 'postgres' ? await noting(passBackOnce(driver, request)) : null;
      const outcome =
        stored ?? (await write((records) => passBackInTransaction(records, request), deadline));
      if (outcome !== 'no user' || newUnionId === undefined) return outcome;
      return write(
        ({ users }) => users.changeOrAdd(app.tenant_code, user, change, newUnionId),
        deadline,
      );
    },
    /**
     * The keyed digest that names a user of a tenant in the log and in the audit; all its users for
     * `null`.
     */
    digestOf: (tenantCode: string, user: PassbackUser | null) =>
      digestUser(digestKey, tenantCode, user),
    /**
     * Lead of the clock of this process over the database's at the last check, in seconds; 0 for
     * SQLite.
     */
    clockDifference: () => clockDifference,
    /**
     * Resolves if the store is writable, and the last write since the last check did not fail
     * because of the store. `unixSeconds` is the clock to compare with the database's.
     */
    async check(unixSeconds = () => Date.now() / 1000): Promise<void> {
      // Without a transaction: a process that is stopped in the middle holds no lock.
      await driver.read(async (sql) => {
        if ((await sql.run(statements.probe)) === 0)
          throw new StoreUnavailableError(nothingWritten);
        // SQLite has the clock of the machine.
        if (driver.engine === 'sqlite') return;
        const before = unixSeconds();
        const [row] = await sql.all(statements.now);
        clockDifference = differenceTo(Number(row?.now), before, unixSeconds());
      }, driver.newDeadline());
      const last = fault;
      fault = null;
      if (last !== null) throw last;
    },
    /**
     * Deletes expired rows, and lines of the audit of an age in seconds, periodically until the
     * store is closed. Failures go to `onFault`.
     */
    startPurge(auditSeconds: number, onFault: (error: unknown) => void): void {
      stopPurge = startPurge(driver, auditSeconds, purgeBacklog, onFault);
    },
    /** For how many seconds expired rows had waited at the last purge, by table. */
    purgeBacklog: purgeBacklog as ReadonlyMap<string, number>,
    /** Use of the connections to the database; `null` for a database without connections. */
    connections: () => driver.connections?.() ?? null,
    /** Empties the store. */
    reset: () =>
      driver.write(async (sql) => {
        for (const statement of emptyStatements) await sql.run(statement);
      }),
    /** Makes its codes, and the old secrets of its apps, older: for a clock that a test moves. */
    async age(seconds: number): Promise<void> {
      if (seconds === 0) return;
      await driver.write(async (sql) => {
        for (const statement of ageStatements) await sql.run(statement, [seconds]);
      });
    },
    async close(): Promise<void> {
      await Promise.all([stopPurge(), driver.close()]);
    },
  };
}

/**
 * Distance of a time that was taken between two others to the nearer one; 0 if it may be between
 * them.
 */
function differenceTo(time: number, before: number, after: number): number {
  // It has whole seconds.
  if (time + 1 < before) return Math.round(before - time);
  return time - 1 > after ? Math.round(after - time) : 0;
}

/** Options of the store. */
export interface StoreOptions {
  /**
   * A SQLite file, which is created if missing, `:memory:` (the default), or the URL of a
   * PostgreSQL database.
   */
  readonly database?: string;
  /**
   * Keys that encrypt the secrets of apps in the database (AES-256-GCM), 32 bytes each in base64 or
   * hex: the first encrypts, all of them decrypt. Default: none; the secrets are stored as they
   * are.
   */
  readonly masterKeys?: readonly Secret[];
  /** PostgreSQL: maximum number of connections. Default: 10. */
  readonly poolSize?: number;
  /** Whether a missing database or missing tables are created. Default: true. */
  readonly create?: boolean;
  /**
   * Whether the tables of an older version are brought up to date, rather than refused. Default:
   * true.
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
  const isPostgres = scheme === 'postgres' || scheme === 'postgresql';
  if (!isPostgres) refuseOtherDatabases(database, scheme);
  let name = database;
  try {
    // Only what this database needs is loaded.
    if (isPostgres) {
      const postgres = await import('../database/postgres-driver.js');
      name = postgres.describePostgres(database);
      const { probe } = statements;
      return await createStore(
        await postgres.openPostgresDriver(database, { ...options, probe }),
        options,
      );
    }
    const sqlite = await import('../database/sqlite-driver.js');
    return await createStore(await sqlite.openSqliteDriver(database, options), options);
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
    throw new StartError(`cannot open the database ${name}: ${error.message}`, {
      hint: error.hint ?? 'Stop what else uses the database, or use another one.',
      cause: error,
    });
  }
}

/** @throws StartError for what is not the path of a file */
function refuseOtherDatabases(database: string, scheme: string | undefined): void {
  if (scheme === undefined && likeUrl.test(database)) {
    throw new StartError('the database is neither a file nor a valid URL', {
      hint: 'Write a URL as postgres://user@host/database, the password in PGPASSWORD.',
    });
  }
  if (scheme === undefined && database !== '') return;
  throw new StartError(
    scheme === undefined
      ? 'no database is named'
      : `databases of kind ${quoteName(scheme)} are not known`,
    {
      hint: 'Give the path of a SQLite file, :memory:, or a URL such as postgres://user@host/database.',
    },
  );
}
