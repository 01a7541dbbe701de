import { quoteName } from '../../core/contract/errors.js';
import { maskName, maskText } from '../../core/contract/masking.js';
import { resultCode } from '../../core/contract/result-codes.js';
import { parseUserRecord, type UserRecord } from '../../core/contract/user-record.js';
import type { AuditLine } from '../store/audit.js';
import type { Store } from '../store/store.js';
import type { DeletedRows } from '../store/users.js';
import { type AdminContext, audited, checkKey, listAll, NotFoundError } from './admin-context.js';

/** The key of a user in the store. */
export interface UserKey {
  /** Tenant code (§5.3). */
  readonly tenantCode: string;
  /** ID of the user (§2.1). */
  readonly unionId: string;
}

/** Maximum number of records in one transaction: it writes each page of the index once. */
const batchSize = 5000;

/** Maximum size of their text, in characters. */
const batchLength = 8_388_608;

/** The operations on the users of a service. */
export interface UserOperations {
  /**
   * Stores a record in place of the user's current one.
   *
   * @throws InvalidInputError that names a field
   */
  putUser(record: UserRecord): Promise<void>;
  /**
   * Stores records, each given as itself or as JSON text, in transactions of up to 5000, and
   * returns their number. Records before an invalid one are stored. The audit has a line for each
   * transaction: the user, or their number.
   *
   * @throws InvalidInputError that names a field, as soon as a record is invalid: no further one is
   * taken
   */
  putUsers(
    records: Iterable<UserRecord | string> | AsyncIterable<UserRecord | string>,
  ): Promise<number>;
  /** @throws NotFoundError (40401) */
  getUser(user: UserKey): Promise<UserRecord>;
  /**
   * The users of a tenant that have a value under a key, as a passback with `primary_key` finds
   * them (§4.2), ordered by ID; all of them where several have it.
   */
  findUsers(value: {
    readonly tenantCode: string;
    readonly key: string;
    readonly value: string;
  }): AsyncIterable<UserRecord>;
  /** The users of a tenant, ordered by ID, read page by page. */
  listUsers(tenant: { readonly tenantCode: string }): AsyncIterable<UserRecord>;
  /**
   * Deletes a user: the record, its index and its codes. After that, no table holds a value or the
   * ID of the user.
   *
   * @returns the number of deleted rows, by kind
   * @throws NotFoundError (40401)
   */
  deleteUser(user: UserKey): Promise<DeletedRows>;
}

export function userOperations(context: AdminContext): UserOperations {
  const { store, actor } = context;
  const lineFor = (action: string, user: UserKey) => ({
    action: `user ${action}`,
    ...subjectOf(store, user),
  });
  return {
    async putUser(record) {
      const checked = checkRecord(JSON.stringify(record));
      await audited(context, lineFor('put', keyOf(checked)), ({ users }) =>
        users.putAll([checked]),
      );
    },
    async putUsers(records) {
      let stored = 0;
      let batch: UserRecord[] = [];
      let length = 0;
      const put = async (together: readonly UserRecord[]) => {
        const line = { action: 'user put', ...subjectOfAll(store, together) };
        await audited(context, line, ({ users }) => users.putAll(together));
        stored += together.length;
      };
      // One batch is stored while the next one is read. After a failure none is.
      let storing = Promise.resolve();
      const flush = async () => {
        await storing;
        storing = put(batch);
        storing.catch(() => {});
        batch = [];
        length = 0;
      };
      try {
        for await (const record of records) {
          const text = typeof record === 'string' ? record : JSON.stringify(record);
          batch.push(checkRecord(text));
          length += text.length;
          if (batch.length === batchSize || length > batchLength) await flush();
        }
      } finally {
        if (batch.length > 0) await flush();
        await storing;
      }
      return stored;
    },
    async getUser(key) {
      const record = await audited(context, lineFor('show', key), ({ users }) =>
        users.find(key.tenantCode, key.unionId),
      );
      if (record === null) throw noSuchUser(key);
      return record;
    },
    async *findUsers({ tenantCode, key, value }) {
      const named = { name: key, value };
      const line = {
        action: 'user find',
        tenant_code: tenantCode,
        subject: `by ${maskName(key)}`,
        user_digest: store.digestOf(tenantCode, { by: 'primary_key', ...named }),
      };
      await audited(context, line, async () => undefined);
      yield* listAll(
        (after, limit) =>
          store.write(async ({ users, audit }) => {
            const page = await users.listByValue(tenantCode, named, after, limit);
            const lines = page.map((record) => ({
              actor,
              action: 'user find',
              ...subjectOf(store, keyOf(record)),
            }));
            await Promise.all(lines.map((line) => audit.add(line)));
            return page;
          }),
        (record) => record.union_id,
      );
    },
    async *listUsers({ tenantCode }) {
      const line = {
        action: 'user list',
        tenant_code: tenantCode,
        subject: 'all users',
        user_digest: store.digestOf(tenantCode, null),
      };
      await audited(context, line, async () => undefined);
      yield* listAll(
        (after, limit) => store.read(({ users }) => users.list(tenantCode, after, limit)),
        (record) => record.union_id,
      );
    },
    async deleteUser(key) {
      const deleted = await audited(context, lineFor('delete', key), ({ users }) =>
        users.delete(key.tenantCode, key.unionId),
      );
      if (deleted === null) throw noSuchUser(key);
      return deleted;
    },
  };
}

/** The user of a line for the audit. */
export function subjectOf(
  store: Store,
  { tenantCode, unionId }: UserKey,
): Pick<AuditLine, 'tenant_code' | 'subject' | 'user_digest'> {
  return {
    tenant_code: tenantCode,
    subject: maskText(unionId),
    user_digest: store.digestOf(tenantCode, { by: 'union_id', unionId }),
  };
}

/** The user of a line for the audit, or the number of several. */
function subjectOfAll(
  store: Store,
  records: readonly UserRecord[],
): Pick<AuditLine, 'tenant_code' | 'subject'> {
  const [first] = records;
  if (records.length === 1 && first !== undefined) return subjectOf(store, keyOf(first));
  return { tenant_code: null, subject: `${records.length} users` };
}

export function noSuchUser({ tenantCode, unionId }: UserKey): NotFoundError {
  return new NotFoundError(
    resultCode.noSuchUser,
    `tenant ${quoteName(tenantCode)} has no user ${quoteName(unionId)}`,
    { hint: 'Users are added by "userinfo admin user put".' },
  );
}

function keyOf({ tenant_code, union_id }: UserRecord): UserKey {
  return { tenantCode: tenant_code, unionId: union_id };
}

/** Types only check records of TypeScript code. */
function checkRecord(text: string): UserRecord {
  const checked = parseUserRecord(text);
  checkKey('tenant_code', checked.tenant_code);
  checkKey('union_id', checked.union_id);
  return checked;
}
