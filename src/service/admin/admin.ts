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

/** The operations of an operator. All of them throw a StoreUnavailableError if the database does not answer. */
export interface AdminOperations {
  /**
   * Creates an app (§5) for one tenant and channel.
   *
   * @throws InvalidInputError for a key that is taken
   * @throws RecipeError for an invalid recipe
   */
  createApp(app: NewApp): Promise<AppCredentials>;
  /** All apps, ordered by key, without the secrets. */
  listApps(): AsyncIterable<ListedApp>;
  /**
   * Replaces the secret of an app.
   *
   * @throws NotFoundError (40101)
   */
  rotateSecret(app: { readonly appKey: string }): Promise<AppCredentials>;
  /** @throws NotFoundError (40101) */
  removeApp(app: { readonly appKey: string }): Promise<void>;

  /**
   * Stores a record in place of the user's current one.
   *
   * @throws InvalidInputError that names a field
   */
  putUser(record: UserRecord): Promise<void>;
  /**
   * Stores records in batches of some hundred, and returns their number. Records before an invalid one are stored.
   */
  putUsers(records: Iterable<UserRecord> | AsyncIterable<UserRecord>): Promise<number>;
  /** @throws NotFoundError (40401) */
  getUser(user: UserKey): Promise<UserRecord>;
  /** The users of a tenant, ordered by ID, read page by page. */
  listUsers(tenant: { readonly tenantCode: string }): AsyncIterable<UserRecord>;
  /**
   * Deletes a user and its codes.
   *
   * @throws NotFoundError (40401)
   */
  deleteUser(user: UserKey): Promise<void>;

  /**
   * Issues an authorization code to a user (§5.7).
   *
   * @throws NotFoundError (40401)
   * @throws InvalidInputError for an invalid option
   */
  issueCode(code: NewCode): Promise<Code>;
  /** The codes of a tenant; used and expired ones until they are purged. */
  listCodes(tenant: { readonly tenantCode: string }): AsyncIterable<Code>;
  /**
   * Makes a code invalid.
   *
   * @throws NotFoundError (40106)
   */
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
