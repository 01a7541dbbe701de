import type { UserInfoError } from '../../protocol/errors.js';
import type { PassbackUser } from '../../protocol/passback.js';
import type { UserRecord } from '../../protocol/user-record.js';
import type { App, Apps, Obstacle } from './apps.js';
import type { Audit } from './audit.js';
import type { Codes } from './codes.js';
import type { Tenants } from './tenants.js';
import type { NoSingleUser, Users } from './users.js';

/** The tables of the store, inside one read or one transaction. */
export interface Records {
  readonly apps: Apps;
  readonly tenants: Tenants;
  readonly users: Users;
  readonly codes: Codes;
  readonly audit: Audit;
}

/** The `random` that each authenticated request uses up (§5.4), whatever its result. */
export interface AppRequest {
  /** As it was when the request was authenticated. */
  readonly app: App;
  readonly random: string;
}

/** A read (§4.1): it uses up its code, too. */
export interface ReadRequest extends AppRequest {
  /** `null` for a request that is refused anyway. */
  readonly code: string | null;
}

/** A passback (§4.2). */
export interface PassbackRequest extends AppRequest {
  readonly user: PassbackUser;
  /** Returns the record as it is to be stored. It may be called again, with another record. */
  readonly change: (record: UserRecord) => UserRecord;
  /** The ID of the user that is created if there is none, unless the passback names one. Default: none is created. */
  readonly newUnionId?: string;
}

/** The record and names that a code authorizes to read; `infoNames` is `null` for all names. */
interface Authorized {
  readonly record: UserRecord;
  readonly infoNames: readonly string[] | null;
}

/**
 * The code is not valid, or there is none; `unionId` is the user that it was issued for, as long as the table has it.
 */
interface NotAuthorized {
  readonly record: null;
  readonly unionId: string | null;
}

export type ReadResult = Obstacle | NotAuthorized | Authorized;

/** The changed record; or the error with which `change` refused, and the user stays as it was. */
export type PassbackResult = Obstacle | NoSingleUser | UserRecord | UserInfoError;

/** The two operations over the statements that all databases share: one request in a transaction. */
export async function readInTransaction(records: Records, request: ReadRequest): Promise<ReadResult> {
  const obstacle = await records.apps.useRandom(request.app, request.random);
  if (obstacle !== null) return obstacle;
  const { tenant_code } = request.app;
  if (request.code === null) return { record: null, unionId: null };
  const code = await records.codes.use(tenant_code, request.code);
  const record = code && (await records.users.find(tenant_code, code.union_id));
  if (code && record) return { record, infoNames: code.info_names };
  return { record: null, unionId: await records.codes.userOf(tenant_code, request.code) };
}

export async function passBackInTransaction(
  records: Records,
  request: PassbackRequest,
): Promise<PassbackResult> {
  const obstacle = await records.apps.useRandom(request.app, request.random);
  if (obstacle !== null) return obstacle;
  return await records.users.change(request.app.tenant_code, request.user, request.change);
}
