import type { UserRecord } from '../../protocol/user-record.js';
import type { Code } from '../store/codes.js';
import type { AdminContext } from './admin-context.js';
import {
  type AppCredentials,
  createApp,
  type ListedApp,
  listApps,
  type NewApp,
  removeApp,
  rotateSecret,
} from './apps.js';
import { type CodeKey, issueCode, listCodes, type NewCode, revokeCode } from './codes.js';
import { deleteUser, getUser, listUsers, putUser, putUsers, type UserKey } from './users.js';

/**
 * What an operator does with the store, beside the two operations of the spec. All of them throw a
 * StoreUnavailableError where the database does not answer.
 */
export interface AdminOperations {
  /**
   * Makes an app (§5) that may act for one tenant and channel. Throws an InvalidInputError for a key that is
   * taken, a RecipeError for a recipe that says nothing sensible.
   */
  createApp(app: NewApp): Promise<AppCredentials>;
  /** Every app, in the order of the keys, without the secrets. */
  listApps(): AsyncIterable<ListedApp>;
  /** Gives an app a new secret; the old one holds no longer. Throws a NotFoundError (40101). */
  rotateSecret(app: { readonly appKey: string }): Promise<AppCredentials>;
  /** Throws a NotFoundError (40101). */
  removeApp(app: { readonly appKey: string }): Promise<void>;

  /** Stores a whole record, in place of the user's present one. Throws an InvalidInputError that names a field. */
  putUser(record: UserRecord): Promise<void>;
  /**
   * Stores many records as they come, a few hundred at a time, and tells how many. What came before a record that
   * is refused is stored.
   */
  putUsers(records: Iterable<UserRecord> | AsyncIterable<UserRecord>): Promise<number>;
  /** Throws a NotFoundError (40401). */
  getUser(user: UserKey): Promise<UserRecord>;
  /** A tenant's users, in the order of their IDs, read as they are taken. */
  listUsers(tenant: { readonly tenantCode: string }): AsyncIterable<UserRecord>;
  /** Deletes a user and the codes issued to it. Throws a NotFoundError (40401). */
  deleteUser(user: UserKey): Promise<void>;

  /** Issues an authorization code to a user (§5.7). Throws a NotFoundError (40401), or an InvalidInputError. */
  issueCode(code: NewCode): Promise<Code>;
  /** A tenant's codes; used and expired ones stay for a while. */
  listCodes(tenant: { readonly tenantCode: string }): AsyncIterable<Code>;
  /** Throws a NotFoundError (40106). */
  revokeCode(code: CodeKey): Promise<void>;
}

export function createAdmin(context: AdminContext): AdminOperations {
  return {
    createApp: (app) => createApp(context, app),
    listApps: () => listApps(context),
    rotateSecret: ({ appKey }) => rotateSecret(context, appKey),
    removeApp: ({ appKey }) => removeApp(context, appKey),
    putUser: (record) => putUser(context, record),
    putUsers: (records) => putUsers(context, records),
    getUser: (user) => getUser(context, user),
    listUsers: ({ tenantCode }) => listUsers(context, tenantCode),
    deleteUser: (user) => deleteUser(context, user),
    issueCode: (code) => issueCode(context, code),
    listCodes: ({ tenantCode }) => listCodes(context, tenantCode),
    revokeCode: (code) => revokeCode(context, code),
  };
}
