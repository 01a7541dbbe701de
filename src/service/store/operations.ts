import type { UserInfoError } from '../../protocol/errors.js';
import { maxClockWindowSeconds } from '../../protocol/limits.js';
import type { PassbackUser } from '../../protocol/passback.js';
import type { UserRecord } from '../../protocol/user-record.js';
import type { App } from './apps.js';
import type { Records } from './store.js';

/**
 * How long the `random` of a request is kept, whatever the clock window of the process: the first request may come when
 * its timestamp is a whole window ahead, and its copy, at another process, until it is a whole window behind.
 */
export const nonceSeconds = 2 * maxClockWindowSeconds;

/** What each authenticated request uses up (§5.4), whatever its result. */
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
}

/** Why a request is not carried out. With 'app changed', nothing was stored: it can be authenticated again. */
export type Obstacle = 'app changed' | 'random used';

/** What a code authorizes to read; `infoNames` is `null` for all names. */
interface Authorized {
  readonly record: UserRecord;
  readonly infoNames: readonly string[] | null;
}

export type ReadOutcome = Obstacle | 'no code' | Authorized;

/** The changed record; or the error with which `change` refused, and the user stays as it was. */
export type PassbackOutcome = Obstacle | 'no user' | 'several users' | UserRecord | UserInfoError;

/** The two operations over the statements that all databases share: one request in a transaction. */
export async function readInTransaction(records: Records, request: ReadRequest): Promise<ReadOutcome> {
  const obstacle = await records.apps.useRandom(request.app, request.random);
  if (obstacle !== null) return obstacle;
  const { tenant_code } = request.app;
  const code = request.code === null ? null : await records.codes.use(tenant_code, request.code);
  const record = code && (await records.users.find(tenant_code, code.union_id));
  return code && record ? { record, infoNames: code.info_names } : 'no code';
}

export async function passBackInTransaction(
  records: Records,
  request: PassbackRequest,
): Promise<PassbackOutcome> {
  const obstacle = await records.apps.useRandom(request.app, request.random);
  if (obstacle !== null) return obstacle;
  return await records.users.change(request.app.tenant_code, request.user, request.change);
}
