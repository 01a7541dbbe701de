import { UserInfoError } from '../../core/contract/errors.js';
import type { PassbackUser } from '../../core/contract/passback.js';
import type { UserRecord } from '../../core/contract/user-record.js';
import type { SqlDriver } from '../database/sql-driver.js';
import type { App, Apps, Obstacle } from './apps.js';
import type { Audit } from './audit.js';
import { type Codes, namesOf } from './codes.js';
import { onceStatements } from './statements.js';
import {
  changedValues,
  type NoSingleUser,
  toRecord,
  tryChange,
  type Users,
  valueDigest,
} from './users.js';

/** The tables of the store, inside one read or one transaction. */
export interface Records {
  readonly apps: Apps;
  readonly users: Users;
  readonly codes: Codes;
  readonly audit: Audit;
}

/** The `random` that each authenticated request uses up (§5.4), whatever its result. */
export interface AppRequest {
  /** As it was when the request was authenticated. */
  readonly app: App;
  readonly random: string;
  /**
   * When it has to be answered, as of `SqlDriver.newDeadline`.
   *
   * @default none
   */
  readonly deadline?: number | undefined;
}

/** A read (§4.1): it uses up its code, too. */
export interface ReadRequest extends AppRequest {
  readonly code: string;
}

/** A passback (§4.2). */
export interface PassbackRequest extends AppRequest {
  readonly user: PassbackUser;
  /** Returns the record as it is to be stored. It may be called again, with another record. */
  readonly change: (record: UserRecord) => UserRecord;
  /**
   * The ID of the user that is created if there is none, unless the passback names one. Default:
   * none is created.
   */
  readonly newUnionId?: string;
}

/** What a code authorizes to read. */
interface Authorized {
  /** `null` if the code is not valid, or there is none. */
  readonly record: UserRecord | null;
  /** `null` for all names. */
  readonly infoNames: readonly string[] | null;
  /** The user that the code was issued for, as long as the table has it. */
  readonly unionId: string | null;
}

export type ReadResult = Obstacle | Authorized;

/** The changed record; or the error with which `change` refused, and the user stays as it was. */
export type PassbackResult = Obstacle | NoSingleUser | UserRecord | UserInfoError;

/** A read in a transaction, for SQLite, whose statements cannot change two tables. */
export async function readInTransaction(
  records: Records,
  request: ReadRequest,
): Promise<ReadResult> {
  const obstacle = await records.apps.useRandom(request.app, request.random);
  if (obstacle !== null) return obstacle;
  const { tenant_code } = request.app;
  const code = await records.codes.use(tenant_code, request.code);
  if (code !== null) {
    const record = await records.users.find(tenant_code, code.union_id);
    if (record !== null) return { record, infoNames: code.info_names, unionId: code.union_id };
  }
  const unionId = await records.codes.userOf(tenant_code, request.code);
  return { record: null, infoNames: null, unionId };
}

/** The same as one statement, for PostgreSQL; `read` reads why it refuses a request. */
export async function readOnce(
  driver: SqlDriver,
  { app, random, code, deadline }: ReadRequest,
  read: <T>(work: (records: Records) => Promise<T>, deadline?: number) => Promise<T>,
): Promise<ReadResult> {
  const values = [app.app_key, app.tenant_code, app.channel, app.revision, random, code];
  type Row = Record<'record' | 'info_names' | 'union_id', string | null>;
  const [row] = await driver.writeOnce<Row>(onceStatements.readUser, values, deadline);
  if (row === undefined) return read(({ apps }) => apps.obstacleOf(app), deadline);
  if (row.record !== null) {
    return { record: toRecord(row.record), infoNames: namesOf(row), unionId: row.union_id };
  }
  const unionId = await read(({ codes }) => codes.userOf(app.tenant_code, code), deadline);
  return { record: null, infoNames: null, unionId };
}

/** A passback: its user is locked until it is stored. */
export async function passBackInTransaction(
  { apps, users }: Records,
  { app, random, user, change }: PassbackRequest,
): Promise<PassbackResult> {
  return (await apps.useRandom(app, random)) ?? users.change(app.tenant_code, user, change);
}

/**
 * The same for PostgreSQL, as one statement that stores it if nobody has changed the user since it
 * was read, which is nearly always so. Otherwise `null`: nothing is stored then.
 */
export async function passBackOnce(
  driver: SqlDriver,
  { app, random, user, change, deadline }: PassbackRequest,
): Promise<UserRecord | null> {
  const { app_key, tenant_code, channel, revision } = app;
  type Row = Record<'record' | 'version', string>;
  const named =
    user.by === 'union_id'
      ? [tenant_code, '', user.unionId]
      : [tenant_code, valueDigest(user), null];
  const [row, another] = await driver.read(
    (sql) => sql.all<Row>(onceStatements.findVersion, named),
    deadline,
  );
  if (row === undefined || another !== undefined) return null;
  const old = toRecord(row.record);
  const changed = tryChange(change, old);
  if (changed instanceof UserInfoError) return null;
  const { removed, added } = changedValues(old, changed);
  const stored = [changed.union_id, row.version, JSON.stringify(changed), removed, added];
  const values = [app_key, tenant_code, channel, revision, random, ...stored];
  const rows = await driver.writeOnce(onceStatements.passBackUser, values, deadline);
  return rows.length === 1 ? changed : null;
}
